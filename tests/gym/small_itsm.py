"""An itsm database small enough to know by heart. The caller without a token is Ada, USER_001."""

from __future__ import annotations

WRITTEN = "2026-06-01 09:00:01.000000"  # the first write's time as it is stored
SHOWN = WRITTEN.replace(" ", "T")

ON = {"created_on": WRITTEN, "updated_on": WRITTEN}
AT = {"created_at": WRITTEN, "updated_at": WRITTEN}

SEED = """
INSERT INTO organization (org_id, name, active) VALUES ('ORG_001', 'North', 1), ('ORG_002', 'South', 1);
INSERT INTO role (role_id, name) VALUES ('ROLE_001', 'admin'), ('ROLE_002', 'manager'), ('ROLE_003', 'agent');
INSERT INTO users (user_id, user_name, first_name, last_name, email, phone, role, active, static_token, org_id,
  created_on) VALUES
('USER_001', 'ada', 'Ada', 'Stone', 'ada@north.example', '+1-415-555-0101', 'admin', 1, 'token-ada', 'ORG_001',
  '2025-01-01 08:00:00'),
('USER_002', 'ben', 'Ben', 'Reed', 'ben@south.example', '+1-415-555-0102', 'agent', 1, 'token-ben', 'ORG_002',
  '2025-01-02 08:00:00'),
('USER_003', 'mia', 'Mia', 'Reeves', 'mia@north.example', '+1-415-555-0103', 'manager', 0, 'token-mia', 'ORG_001',
  '2025-01-03 08:00:00');
INSERT INTO user_role (user_id, role_id, org_id) VALUES ('USER_001', 'ROLE_001', 'ORG_001');
INSERT INTO user_group (group_id, name, type, active, org_id, created_on) VALUES
('GROUP_001', 'Desk', 'Service Desk', 1, 'ORG_001', '2025-01-01 08:00:00'),
('GROUP_002', 'Desk South', 'Service Desk', 0, 'ORG_002', '2025-01-02 08:00:00');
INSERT INTO user_group_member (member_id, group_id, user_id, org_id, created_on) VALUES
('MEM_001', 'GROUP_001', 'USER_001', 'ORG_001', '2025-01-01 08:00:00');
INSERT INTO location (location_id, name, plot_no, city, country, active, org_id, created_on) VALUES
('LOC_001', 'North Plant', '7', 'London', 'UK', 1, 'ORG_001', '2025-01-01 08:00:00'),
('LOC_002', 'South Yard', NULL, 'Leeds', 'UK', 0, 'ORG_001', '2025-01-02 08:00:00');
INSERT INTO service (service_id, name, owned_by, org_id, used_for, status, service_classification,
  business_criticality, created_on) VALUES
('SVC_001', 'Mail', 'USER_001', 'ORG_001', 'production', 'operational', 'business', 'critical', '2025-01-01 08:00:00'),
('SVC_002', 'Payroll', 'USER_003', 'ORG_001', 'test', 'ready', 'application', 'less-critical', '2025-01-02 08:00:00');
INSERT INTO service_offering (service_offering_id, name, owned_by, business_service, used_for, status,
  service_classification, business_criticality, short_description, org_id, created_on) VALUES
('SVCOFF_001', 'Mail basic', 'USER_001', 'SVC_001', 'production', 'operational', 'business', 'critical',
  'A mailbox', 'ORG_001', '2025-01-01 08:00:00'),
('SVCOFF_002', 'Pay slips', 'USER_003', 'SVC_002', 'test', 'ready', 'application', 'less-critical',
  'Slips; by post', 'ORG_001', '2025-01-02 08:00:00');
INSERT INTO configuration_item (configuration_item_id, name, serial_number, owner_id, location_id, status, cost, org_id,
  created_on) VALUES
('CI_001', 'Printer', 'P-1', 'USER_001', 'LOC_001', 'in_use', 100.0, 'ORG_001', '2025-01-01 08:00:00'),
('CI_002', 'Laptop', 'L-1', 'USER_002', NULL, 'in_use', 900.5, 'ORG_001', '2025-01-02 08:00:00');
INSERT INTO incident_template (incident_template_id, name, caller_id, short_description, channel, impact, urgency,
  priority, active, org_id, created_at) VALUES
('TMPL_001', 'Paper', 'USER_001', 'No paper', 'phone', 'low', 'low', 'planning', 1, 'ORG_001', '2025-01-01 08:00:00');
INSERT INTO incident (incident_id, number, short_description, caller_id, assigned_to, assignment_group, org_id, channel,
  status, category, worknotes, impact, urgency, priority, created_at) VALUES
('INC_001', 'INC0000001', 'Paper jam', 'USER_002', 'USER_001', 'GROUP_001', 'ORG_002', 'phone', 'new', 'hardware',
  'seen', 'low', 'low', 'low', datetime('2025-02-01 08:00:00')),
('INC_002', 'INC0000002', 'No light', 'USER_001', NULL, NULL, 'ORG_001', 'web', 'new', 'hardware', NULL, 'low', 'low',
  'low', datetime('2025-02-02 08:00:00')),
('INC_009', 'INC0000009', 'Dust', 'USER_001', NULL, NULL, 'ORG_001', NULL, 'closed', 'hardware', NULL, 'low', 'low',
  'critical', datetime('2025-02-03 08:00:00'));
INSERT INTO child_incident (child_incident_mapping_id, parent_incident, child_incident) VALUES
('CINC_001', 'INC_001', 'INC_009');
INSERT INTO problem (problem_id, number, problem_statement, opened_by, status, category, short_description, impact,
  urgency, priority, assigned_to, worknotes, org_id, created_on) VALUES
('PRB_001', 'PRB0000004', 'Jams again and again', 'USER_001', 'new', 'hardware', 'Jams', 'low', 'low', 'low',
  'USER_002', 'Rollers?', 'ORG_001', '2025-01-01 08:00:00'),
('PRB_002', 'PRB0000007', 'Lamps fail', 'USER_002', 'closed', NULL, NULL, 'high', 'low', 'moderate', NULL, NULL,
  'ORG_001', '2025-01-02 08:00:00');
INSERT INTO change (change_id, number, requested_by, status, category, short_description, description, cab_required,
  impact, priority, risk, assigned_to, org_id, created_on) VALUES
('CHG_001', 'CHG0000001', 'USER_001', 'new', 'hardware', 'Swap', 'Swap the rollers', 0, 'low', 'low', 'low', 'USER_002',
  'ORG_001', '2025-01-01 08:00:00'),
('CHG_002', 'CHG0000005', 'USER_002', 'closed', 'network', 'Rewire', NULL, 1, 'high', 'medium', 'high', NULL,
  'ORG_001', '2025-01-02 08:00:00');
INSERT INTO change_request_mapping (change_request_mapping_id, change_id, incident_id, problem_id, org_id, created_at)
VALUES
('CRM_001', 'CHG_001', 'INC_001', NULL, 'ORG_001', '2025-03-01 08:00:00'),
('CRM_002', 'CHG_001', NULL, 'PRB_001', 'ORG_001', '2025-03-02 08:00:00');
INSERT INTO sla_definition (sla_def_id, name, metric, target_mins, pause_on_pending, applies_to_priority, active,
  org_id, created_on) VALUES
('SLA_001', 'Fast', 'response', 30, 0, 'critical', 1, 'ORG_001', '2025-01-01 08:00:00'),
('SLA_002', 'Slow', 'resolution', 480, 1, 'low', 1, 'ORG_001', '2025-01-02 08:00:00');
INSERT INTO incident_sla (incident_sla_id, incident_id, sla_def_id, stage, has_breached, org_id, created_on) VALUES
('TSLA_001', 'INC_001', 'SLA_001', 'completed', 1, 'ORG_001', '2025-03-01 08:00:00'),
('TSLA_002', 'INC_002', 'SLA_001', 'paused', 0, 'ORG_001', '2025-03-02 08:00:00');
INSERT INTO incident_affected_cis (incident_affected_cis_id, configuration_item, incident_id, org_id, created_on) VALUES
('TASKCI_001', 'CI_001', 'INC_001', 'ORG_001', '2025-03-01 08:00:00'),
('TASKCI_002', 'CI_001', 'INC_002', 'ORG_001', '2025-03-02 08:00:00');
INSERT INTO knowledge (knowledge_id, kb_number, title, body, state, visibility, owner_id, org_id, created_on) VALUES
('KB_001', 'KB0000003', 'Clear a jam', 'Open the lid; pull.', 'published', 'internal', 'USER_001', 'ORG_001',
  '2025-01-01 08:00:00'),
('KB_002', 'KB0000008', 'Lamps', NULL, 'draft', 'external', 'USER_002', 'ORG_001', '2025-01-02 08:00:00');
INSERT INTO incident_knowledge (incident_kb_id, incident_id, knowledge_id, org_id, used_as) VALUES
('IKB_001', 'INC_001', 'KB_001', 'ORG_002', 'suggested'), ('IKB_002', 'INC_002', 'KB_001', 'ORG_001', 'applied');
INSERT INTO notification (notification_id, incident_id, org_id, email, type, status, created_on) VALUES
('NOTIF_001', 'INC_001', 'ORG_001', 'ben@south.example', 'update', 'sent', '2025-03-01 08:00:00'),
('NOTIF_002', 'INC_001', 'ORG_001', 'mia@north.example', 'alert', 'queued', '2025-03-02 08:00:00'),
('NOTIF_003', 'INC_009', 'ORG_001', 'ben@south.example', 'update', 'queued', '2025-03-03 08:00:00');
"""
