"""An hr database small enough to know by heart. Ada of organisation 1 calls; Cy and his things are in another one."""

from __future__ import annotations

WRITTEN = "2026-06-01 09:00:01"  # the first write's time
TODAY = "2026-06-01 00:00:00"
TOUCHED = {"updated_at": WRITTEN}
NEW = {"org_id": 1, "created_at": WRITTEN, "updated_at": WRITTEN}

SEED = """
INSERT INTO organization (org_id, name, active) VALUES (1, 'North', TRUE), (2, 'South', TRUE);
INSERT INTO role (role_id, name) VALUES (1, 'admin'), (2, 'manager'), (3, 'agent'), (4, 'employee');
INSERT INTO user (user_id, first_name, last_name, email, role, active, static_token, org_id, created_at) VALUES
(1, 'Ada', 'Stone', 'ada@north.example', 'manager', TRUE, 'token-ada', 1, '2025-01-01 08:00:00'), -- a comment, inside
(2, 'Ben', 'Reed', 'ben@north.example', 'agent', TRUE, 'token-ben', 1, '2025-01-02 08:00:00'),
(3, 'Cy', 'Orr', 'cy@south.example', 'agent', TRUE, 'token-cy', 2, '2025-01-03 08:00:00'),
(4, 'Eve', 'Reedy', 'eve@north.example', 'employee', FALSE, 'token-eve', 1, '2025-01-04 08:00:00'); -- and one behind
INSERT INTO user_role (user_id, role_id, org_id) VALUES (1, 2, 1);
INSERT INTO user_group (group_id, name, type, active, org_id, created_at) VALUES
(1, 'Payroll Desk', 'Service Desk', TRUE, 1, CURRENT_TIMESTAMP), (2, 'Far Desk', 'Service Desk', TRUE, 2, NULL),
(3, 'Second Desk', 'IT Support', FALSE, 1, NULL);
INSERT INTO user_group_member (group_id, user_id, org_id) VALUES (1, 1, 1), (3, 2, 1);
INSERT INTO hr_profile (hr_profile_id, number, gender, user_id, personal_email, type, dob, nationality,
  employment_start_date, employment_end_date, manager, national_tax_id, position, org_id) VALUES
(1, 'HRP00001', 'Female', 1, 'ada@home.example', 'full-time', '1980-02-03 00:00:00', 'GB', '2020-01-01 09:00:00', NULL,
  NULL, 'TAX-1-001', 'HR', 1),
(2, 'HRP00002', 'Male', 2, 'ben@home.example', 'contractor', '1990-02-03 00:00:00', 'GB', '2021-01-01 09:00:00', NULL,
  1, 'TAX-1-002', 'QA', 1),
(3, 'HRP00003', 'Male', 3, 'cy@home.example', 'contractor', NULL, 'US', NULL, NULL, NULL, 'TAX-2-003', 'QA', 2);
INSERT INTO skill (skill_id, name, active, org_id) VALUES (1, 'Tax law', TRUE, 1), (2, 'Tax in the south', TRUE, 2),
(3, 'Payroll', TRUE, 1);
INSERT INTO user_skill (skill, user, org_id) VALUES (1, 2, 1);
INSERT INTO hr_criteria (hr_criteria_id, name, type, active, user_group, users, org_id) VALUES
(1, 'Chiefs', 'approval', TRUE, 1, '[1, 12]', 1), (2, 'All see', 'case_visibility', TRUE, NULL, NULL, 1);
INSERT INTO topic_category (topic_category_id, name, active, coe_type, org_id) VALUES
(1, 'Money', TRUE, 'Payroll', 1), (2, 'Tools', FALSE, 'HRIT', 1);
INSERT INTO topic_detail (topic_detail_id, active, name, topic_category, org_id) VALUES
(1, TRUE, 'Salary', 1, 1), (2, TRUE, 'Bonus', 1, 1), (3, TRUE, 'Laptop', NULL, 1);
INSERT INTO service_template (service_template_id, name, change_request_values, active, coe_type, org_id) VALUES
(1, 'Pay slip', '{"short_description": "A slip", "category": "payroll"}', TRUE, 'Payroll', 1);
INSERT INTO hr_service (hr_service_id, service_name, fulfillment_type, topic_detail, service_template, active, org_id)
VALUES (1, 'Pay', 'manual', 1, 1, TRUE, 1), (2, 'Old pay', 'manual', NULL, NULL, FALSE, 1);
INSERT INTO hr_case (hr_case_id, number, status, hr_service, opened_for, opened_by, priority, assigned_to,
  assignment_group, short_description, skills, approval_criteria, coe_type, approver, request_status, org_id) VALUES
(1, 'HRC0000711', 'draft', 1, 2, 1, 'low', 2, 1, 'Wrong pay', '[1]', 1, 'Payroll', 1, 'requested', 1),
(2, 'HRC0000712', 'draft', NULL, 3, 3, 'low', NULL, 2, 'Desk', NULL, NULL, 'HRIT', NULL, NULL, 2),
(3, 'HRC0000713', 'ready', NULL, 4, 1, 'high', NULL, NULL, 'Wrong name', NULL, NULL, 'HRIT', 1, 'approved', 1);
INSERT INTO hr_case_task (hr_case_task_id, number, status, assigned_to, assignment_group, short_description, task_type,
  active, parent_case, org_id) VALUES
(1, 'HRT0001000', 'draft', 2, 1, 'Look it up', 'checklist', TRUE, 1, 1),
(2, 'HRT0001001', 'ready', NULL, 1, 'Send it', 'url', TRUE, 1, 1);
INSERT INTO checklist (checklist_item_description, checked, case_task_id, org_id) VALUES
('Find the slip', FALSE, 1, 1), ('Read it', TRUE, 1, 1);
INSERT INTO survey (survey_id, question_1, question_2, org_id) VALUES (1, 'Was it quick?', 'Was it right?', 1),
(2, 'Was it kind?', NULL, 1);
INSERT INTO survey_instance (survey_id, case_task_id, assigned_to, answer_1, org_id) VALUES (1, 1, 2, 'Yes, quick', 1),
(2, NULL, 4, NULL, 1);
INSERT INTO assignment_rules (assignment_rule_id, name, based_on_skills, based_on_country, based_on_priority, active,
  user_group, users, org_id) VALUES
(1, 'Tax cases', '[1, 3]', 'GB', 'high', TRUE, 1, '[2]', 1),
(2, 'Rest', '["Tax law"]', NULL, 'planning', FALSE, 3, NULL, 1);
INSERT INTO escalation_rule (escalation_rule_id, escalate_from, escalate_to, org_id) VALUES (1, 1, 3, 1);
INSERT INTO knowledge (knowledge_id, kb_number, title, body, state, visibility, owner_id, org_id) VALUES
(1, 'KB0040001', 'How pay works', 'It''s monthly; always.', 'published', 'internal', 1, 1),
(2, 'KB0040002', 'How pay is mended', NULL, 'draft', 'internal', 1, 1);
INSERT INTO hr_case_knowledge (hr_case_kb_id, hr_case_id, knowledge_id, used_as, org_id) VALUES (1, 1, 1, 'applied', 1),
(2, 3, 1, 'applied', 1);
INSERT INTO notification (notification_id, hr_case_id, email, type, status, org_id, created_at) VALUES
(1, 1, 'ben@north.example', 'update', 'draft', 1, '2025-03-01 08:00:00'),
(2, 2, 'cy@south.example', 'update', 'draft', 2, '2025-03-02 08:00:00'),
(3, 1, 'ada@north.example', 'alert', 'ready', 1, '2025-03-03 08:00:00'),
(4, 1, 'ben@north.example', 'update', 'ready', 1, '2025-03-04 08:00:00');
"""
