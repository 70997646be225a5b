"""A csm database small enough to know by heart, and tasks over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robustops.core.task import Check, GymServer, Task

SERVER = "sn-csm-server"
CALLER = "ada@desk.example"
FIRST_WRITE = "2026-06-01 09:00:01"

SEED = """
-- Written for tests: every table, every kind of NULL.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
INSERT INTO location (location_id, name, plot_no, street, city, country, active, sys_created_on, sys_updated_on) VALUES
(1, 'Plant North', 'Plot 7', 'Main Road', 'london', 'uk', TRUE, '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 'Plant South', NULL, NULL, 'tokyo', 'japan', FALSE, '2025-01-02 00:00:00', '2025-01-02 00:00:00');
INSERT INTO user_group (group_id, name, type, active, sys_created_on, sys_updated_on) VALUES
(1, 'First Line', 'support', 1, '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 'First Line_2', 'support', 1, '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 'Depot', 'field', 0, '2025-01-03 00:00:00', '2025-01-03 00:00:00');
INSERT INTO user VALUES
(1, 'Ada', 'Stone', 'ada@desk.example', '+441', 'agent', 1, 1, '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 'Ben', 'Mccoy', 'ben@nord.example', NULL, 'customer', 2, 1, '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 'Cy', 'Reed', 'cy@desk.example', NULL, 'manager', NULL, 0, '2025-01-03 00:00:00', '2025-01-03 00:00:00');
INSERT INTO account (account_id, name, account_type, email_domain, active, sys_created_on, sys_updated_on) VALUES
(1, 'Nord', 'customer', 'nord.example', 1, '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 'Nord Trade', 'partner', NULL, 1, '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 'Home', 'internal', NULL, 0, '2025-01-03 00:00:00', '2025-01-03 00:00:00');
INSERT INTO product (product_id, name, category, product_price, lifecycle_state, sys_created_on, sys_updated_on) VALUES
(1, 'Router X', 'hardware', 100, 'active', '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 'Router X_Pro', 'hardware', 250, 'retired', '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 'Care Plan', 'service', NULL, 'active', '2025-01-03 00:00:00', '2025-01-03 00:00:00');
INSERT INTO installed_product VALUES
(1, 1, 1, 1, 'SN-1', 'in_use', '2025-01-31', '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 1, 2, NULL, 'SN-2', 'in_use', '2026-12-31', '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 2, 1, 2, 'SN-3', 'repair', NULL, '2025-01-03 00:00:00', '2025-01-03 00:00:00');
INSERT INTO contact (contact_id, account_id, portal_user_id, active, is_primary, sys_created_on, sys_updated_on) VALUES
(1, 1, 2, 1, 1, '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 2, 3, 0, 0, '2025-01-02 00:00:00', '2025-01-02 00:00:00');
INSERT INTO contract VALUES
(1, 1, 'support', 'active', 1000, '2025-01-01', '2025-12-31', '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 1, 'warranty', 'expired', 500, '2024-01-01', '2024-12-31', '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 2, 'support', 'active', NULL, '2025-01-01', '2025-12-31', '2025-01-03 00:00:00', '2025-01-03 00:00:00'),
(4, 1, 'subscription', 'active', 2000, '2025-06-01', '2026-05-31', '2025-01-04 00:00:00', '2025-01-04 00:00:00');
INSERT INTO entitlement VALUES
(1, 1, 1, 1, 'standard', 'h8x5', 10, 1, '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 1, NULL, NULL, 'premium', 'h24x7', 20, 1, '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 2, NULL, 3, 'standard', 'h12x6', 5, 0, '2025-01-03 00:00:00', '2025-01-03 00:00:00');
INSERT INTO sla_definition VALUES
(1, 'Fast answer', 'response', 30, 0, 'critical', 1, '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 'Fix', 'resolution', 480, 1, 'critical', 1, '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 'Fix any', 'resolution', 960, 1, 'low', 0, '2025-01-03 00:00:00', '2025-01-03 00:00:00');
INSERT INTO customer_case (case_id, number, account_id, contact_id, product_id, installed_product_id, channel, priority,
  state, short_description, assignment_group_id, assigned_to, escalation, escalation_reason, reopen_count,
  sys_created_on, sys_updated_on, closed_on) VALUES
(1, 'CS-0000001', 1, 1, 1, 1, 'web', 'critical', 'new', 'Router is down; all lines', 1, 1, 1, 'vip', 2,
  '2025-02-01 00:00:00', '2025-02-01 00:00:00', NULL),
(2, 'CS-0000002', 1, 1, NULL, NULL, 'email', 'low', 'closed', 'Ben''s invoice', 1, NULL, 0, NULL, 0,
  '2025-02-02 00:00:00', '2025-02-02 00:00:00', '2025-03-01 10:00:00'),
(3, 'CS-0000003', 2, 2, 1, NULL, 'web', 'critical', 'pending', 'Router slow', 2, 3, 0, NULL, 1,
  '2025-02-03 00:00:00', '2025-02-03 00:00:00', NULL);
INSERT INTO case_sla VALUES
(1, 1, 1, 'in_progress', '2025-02-01 08:00:00', NULL, 1, NULL),
(2, 1, 2, 'paused', '2025-02-01 08:00:00', NULL, 0, NULL),
(3, 2, 2, 'completed', '2025-02-02 08:00:00', '2025-02-02 16:00:00', 1, '2025-03-01 10:00:00');
INSERT INTO interaction VALUES
(1, 'phone', 1, 1, 1, 1, 'open', '2025-02-01 07:00:00', NULL, '2025-02-01 07:00:00'),
(2, 'chat', 1, 1, 1, 1, 'closed', '2025-02-03 09:00:00', '2025-02-03 09:30:00', '2025-02-03 09:00:00'),
(3, 'phone', 2, 2, NULL, 3, 'open', '2025-02-05 09:00:00', NULL, '2025-02-05 09:00:00');
INSERT INTO knowledge (knowledge_id, kb_number, title, body, state, visibility, product_id, owner_id, sys_created_on,
  sys_updated_on) VALUES
(1, 'KB-0000001', 'Router reset guide', 'Hold the button of the router.', 'published', 'external', 1, 1,
  '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
(2, 'KB-0000002', 'Invoice guide', NULL, 'draft', 'internal', NULL, 3, '2025-01-02 00:00:00', '2025-01-02 00:00:00'),
(3, 'KB-0000003', 'Models', 'A list.', 'published', 'internal', 2, 1, '2025-01-03 00:00:00', '2025-01-03 00:00:00');
INSERT INTO case_knowledge (case_kb_id, case_id, knowledge_id, used_as) VALUES
(1, 1, 1, 'applied'), (2, 3, 1, 'suggested');
INSERT INTO notification (notification_id, case_id, knowledge_id, email, type, status, sys_created_on) VALUES
(1, 1, NULL, 'ben@nord.example', 'update', 'success', '2025-02-01 00:00:00'),
(2, 1, 1, 'ben@nord.example', 'solution_proposal', 'failed', '2025-02-02 00:00:00'),
(3, 3, NULL, 'cy@desk.example', 'update', 'success', '2025-02-03 00:00:00');
INSERT INTO user_group_member (member_id, group_id, user_id, sys_created_on) VALUES
(1, 1, 1, '2025-01-01 00:00:00'), /* a comment; between rows */ (2, 2, 3, '2025-01-02 00:00:00');
"""


def write_seed(folder: Path, sql: str = SEED, name: str = "seed.sql") -> Path:
    (folder / name).write_text(sql)
    return folder


def csm_task(
    folder: Path, *, tools: tuple[str, ...] = (), context: dict[str, str] | None = None, seed_file: str = "seed.sql"
) -> Task:
    return Task(
        task_id="small",
        domain="csm",
        policy="",
        request="",
        tools=tools,
        servers=(
            GymServer(
                name=SERVER, seed_file=seed_file, context={"x-user-email": CALLER} if context is None else context
            ),
        ),
        checks=(Check(index=0, kind="database_state", name="any", gym=SERVER, query="SELECT 1", expected=1),),
        seed_root=str(folder),
    )


async def table_rows(session: Any, table: str, key: str, gym: str = SERVER) -> dict[Any, dict[str, Any]]:
    """Every row of a table by key."""
    reply = await session.query(f'SELECT * FROM "{table}" LIMIT 100000', gym)
    return {row[key]: row for row in reply["data"]}


def differences(before: dict[Any, dict[str, Any]], after: dict[Any, dict[str, Any]]) -> dict[Any, Any]:
    """By key: the whole row where it is new, None where it is gone, the new values where it changed."""
    found: dict[Any, Any] = {key: None for key in before if key not in after}
    for key, row in after.items():
        if key not in before:
            found[key] = row
        elif row != before[key]:
            found[key] = {name: value for name, value in row.items() if value != before[key][name]}
    return found
