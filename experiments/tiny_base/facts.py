"""Shapes of the csm tools, as data: tables with their columns, and the signatures of the tools on them.

Names, parameters and value sets are facts of the public tool server; rows, names and wording come from elsewhere.
A column is `name=kind`; kinds are those of `values.py`, or `a|b|c` for an enumeration.
"""

from __future__ import annotations

from values import words

PRIORITY = "critical|high|moderate|low"
CHANNEL = "web|email|phone|chat|social|alert|community"
STATE = "new|in_progress|pending|resolved|closed|canceled"

# table: (key, columns, finder:column or "", lister, updater, creator)
CSM_TABLES: dict[str, tuple[str, str, tuple[tuple[str, str], ...], str, str, str]] = {
    "user": (
        "user_id",
        "first_name=word last_name=word email=email role=admin|agent|manager|customer location_id=id active=flag",
        (("find_user", "name"), ("find_user_by_email", "email")),
        "list_users",
        "update_user_details",
        "add_new_user",
    ),
    "account": (
        "account_id",
        "name=title account_type=customer|partner|internal email_domain=domain active=flag",
        (("find_account", "name"),),
        "get_accounts",
        "update_account_details",
        "create_new_account",
    ),
    "contact": (
        "contact_id",
        "account_id=id portal_user_id=id active=flag is_primary=flag",
        (("find_contact_by_portal_user", "portal_user_id"),),
        "find_contacts",
        "update_contact",
        "create_contact",
    ),
    "product": (
        "product_id",
        "name=title category=software|hardware|service lifecycle_state=active|retired product_price=price",
        (("find_product", "name"), ("find_product_by_id", "product_id")),
        "find_products",
        "update_product",
        "add_new_product",
    ),
    "installed_product": (
        "installed_product_id",
        "account_id=id product_id=id location_id=id serial_number=serial status=in_use|in_stock|repair|retired "
        "warranty_end=date",
        (("find_installed_product_by_serial", "serial_number"),),
        "retrieve_installed_products",
        "update_installed_product_details",
        "register_new_installed_product",
    ),
    "location": (
        "location_id",
        "name=title plot_no=code street=title city=new_york|london|mumbai|tokyo|sydney "
        "country=usa|uk|india|japan|australia active=flag",
        (("find_location", "name"),),
        "find_locations",
        "update_location",
        "add_location",
    ),
    "user_group": (
        "group_id",
        "name=title type=support|backoffice|field|vendor active=flag",
        (("find_user_group", "name"),),
        "list_user_groups",
        "update_user_group",
        "add_new_user_group",
    ),
    "user_group_member": ("member_id", "group_id=id user_id=id", (), "list_group_members", "", "add_new_group_member"),
    "contract": (
        "contract_id",
        "account_id=id contract_type=support|warranty|subscription status=draft|active|suspended|expired "
        "contract_price=price start_date=date end_date=date",
        (),
        "find_contracts",
        "update_contract",
        "enlist_new_contract",
    ),
    "entitlement": (
        "entitlement_id",
        "account_id=id product_id=id contract_id=id support_level=standard|premium|enterprise "
        "coverage_hours=h8x5|h12x6|h24x7 max_cases_per_month=small active=flag",
        (),
        "find_entitlements",
        "update_entitlement",
        "add_new_entitlement",
    ),
    "sla_definition": (
        "sla_def_id",
        f"name=title metric=response|resolution target_mins=price pause_on_pending=flag applies_to_priority={PRIORITY} "
        "active=flag",
        (),
        "find_sla_definitions",
        "update_sla_definition",
        "add_new_sla_definition",
    ),
    "case": (
        "case_id",
        f"number=number account_id=id contact_id=id product_id=id installed_product_id=id channel={CHANNEL} "
        f"priority={PRIORITY} state={STATE} short_description=phrase assignment_group_id=id assigned_to=id "
        "escalation=flag escalation_reason=urgency|vip|impact|breach_risk|customer_request reopen_count=small "
        "closed_on=date",
        (),
        "search_cases",
        "update_case",
        "create_new_case",
    ),
    "case_sla": (
        "case_sla_id",
        "case_id=id sla_def_id=id stage=in_progress|paused|completed|canceled has_breached=flag",
        (),
        "find_case_slas",
        "update_case_sla_details",
        "link_new_case_sla",
    ),
    "interaction": (
        "interaction_id",
        f"channel={CHANNEL} account_id=id contact_id=id case_id=id interacted_user=id status=open|handled|closed",
        (),
        "find_interactions",
        "update_interaction",
        "register_new_interaction",
    ),
    "knowledge": (
        "knowledge_id",
        "kb_number=number title=phrase body=phrase state=draft|published|retired visibility=internal|external "
        "product_id=id owner_id=id",
        (),
        "retrieve_knowledge",
        "update_knowledge",
        "create_knowledge",
    ),
    "notification": (
        "notification_id",
        "case_id=id knowledge_id=id email=email "
        "type=report|update|alert|reminder|solution_proposal|next_steps|other status=success|failed",
        (),
        "find_notifications",
        "update_notification",
        "send_notification",
    ),
}

# Columns that a finder's short reply leaves out, and columns usually null in replies.
NOT_FOUND_BY_FINDER = frozenset({"product_price", "phone", "is_primary"})
OFTEN_NULL = frozenset(
    words(
        """
    location_id product_id installed_product_id assignment_group_id assigned_to escalation_reason closed_on
    plot_no street warranty_end contract_id knowledge_id body interacted_user applies_to_priority
    """
    )
)

# What the task generator's templates write. Requests in free wording leave it out, so that Base is taught no task.
WRITTEN_BY_TASKS: dict[str, frozenset[str]] = {
    "product": frozenset({"product_price", "lifecycle_state"}),
    "installed_product": frozenset({"status", "location_id"}),
    "account": frozenset({"email_domain"}),
    "contract": frozenset({"contract_price", "status"}),
    "entitlement": frozenset({"support_level"}),
    "case": frozenset({"priority"}),
}
CREATED_BY_TASKS = frozenset({"case", "notification", "entitlement", "contract", "user_group_member"})

CSM_SIGNATURES = """
find_user(name)
find_user_by_email(email)
find_account(name)
find_contact_by_portal_user(portal_user_id)
find_product(name)
find_product_by_id(product_id)
find_installed_product_by_serial(serial_number)
find_location(name)
find_user_group(name)
check_user_membership(user_id, group_id)
assign_case_to_user(case_id, assigned_to_user_id)
set_case_assignment_group(case_id, assignment_group_id)
list_users(email?, user_id?, first_name?, last_name?, phone?, role?, location_id?, active?, created_after?, created_before?)
list_user_groups(group_id?, name?, active?, type?, created_after?, created_before?)
list_group_members(member_id?, group_id?, user_id?, created_after?, created_before?)
get_accounts(account_id?, name?, email_domain?, account_types?, active?, created_after?, created_before?)
find_contacts(contact_id?, account_id?, portal_user_id?, active?, is_primary?, created_after?, created_before?)
find_locations(location_id?, name?, active?, plot_no?, street?, city?, country?, created_before?, created_after?)
find_products(product_id?, name?, category?, lifecycle_state?, product_price?, created_before?, created_after?)
retrieve_installed_products(installed_product_id?, location_id?, account_id?, product_id?, serial_number?, status?, warranty_end?, created_before?, created_after?)
count_contract_by_status(account_id?, contract_type?)
find_contracts(contract_id?, status?, account_id?, contract_type?, start_date?, end_date?, contract_price?, contract_price_range_start?, contract_price_range_end?, created_before?, created_after?)
find_entitlements(entitlement_id?, account_id?, product_id?, contract_id?, support_level?, coverage_hours?, max_cases_per_month?, active?, created_before?, created_after?)
find_sla_definitions(sla_def_id?, name?, metric?, target_mins?, pause_on_pending?, applies_to_priority?, active?, created_before?, created_after?)
get_cases_assigned_to(assignment_group_id?, assigned_to?)
count_case_by_state(account_id?, product_id?, assignment_group_id?, assigned_to?, priority?, channel?)
search_cases(case_id?, number?, account_id?, contact_id?, product_id?, installed_product_id?, channel?, priority?, state?, short_description?, escalation?, escalation_reason?, reopen_count?, closed_on?, created_before?, created_after?)
find_case_slas(case_sla_id?, case_id?, sla_def_id?, stage?, start_time?, breach_time?, has_breached?, completed_time?)
find_interactions(interaction_id?, channel?, account_id?, contact_id?, case_id?, interacted_user?, status?, started_at?, ended_at?, created_before?, created_after?)
retrieve_knowledge(search_text?, knowledge_id?, kb_number?, title?, state?, visibility?, product_id?, owner_id?, created_before?, created_after?, limit?)
find_case_knowledge_linkages(case_kb_id?, case_id?, knowledge_id?, used_as?)
find_notifications(notification_id?, case_id?, knowledge_id?, email?, type?, status?, sys_created_on?)
count_notifications_by_case(case_id?)
add_new_user(first_name, last_name, email, phone?, role, location_id?, active)
update_user_details(user_id, email?, first_name?, last_name?, active?, phone?, role?, location_id?)
add_new_user_group(name, type, active)
update_user_group(group_id, name?, type?, active?)
add_new_group_member(group_id, user_id)
remove_group_membership(member_id?, group_id?, user_id?)
create_new_account(name, email_domain?, account_type, active)
update_account_details(account_id, name?, email_domain?, active?, account_type?)
create_contact(account_id, portal_user_id, active, is_primary)
update_contact(contact_id, account_id?, portal_user_id?, active?, is_primary?)
add_location(name, active, plot_no?, street?, city, country)
update_location(location_id, name?, active?, plot_no?, street?, city?, country?)
add_new_product(name, category, lifecycle_state, product_price?)
update_product(product_id, name?, category?, product_price?, lifecycle_state?)
register_new_installed_product(location_id?, account_id, product_id, serial_number, status, warranty_end?)
update_installed_product_details(installed_product_id, location_id?, account_id?, product_id?, serial_number?, status?, warranty_end?)
enlist_new_contract(account_id, contract_type, contract_price?, status, start_date, end_date)
update_contract(contract_id, account_id?, contract_price?, contract_type?, status?, start_date?, end_date?)
add_new_entitlement(account_id, product_id?, contract_id?, support_level, coverage_hours?, max_cases_per_month?, active)
update_entitlement(entitlement_id, account_id?, product_id?, contract_id?, support_level?, coverage_hours?, max_cases_per_month?, active?)
add_new_sla_definition(metric, target_mins, name, pause_on_pending, applies_to_priority?, active)
update_sla_definition(sla_def_id, name?, metric?, target_mins?, pause_on_pending?, applies_to_priority?, active?)
create_new_case(account_id, contact_id, product_id?, installed_product_id?, channel, priority, state, short_description, escalation?, escalation_reason?, reopen_count?, closed_on?, assignment_group_id?, assigned_to?)
update_case(case_id, account_id?, contact_id?, product_id?, installed_product_id?, channel?, priority?, state?, short_description?, escalation?, escalation_reason?, reopen_count?, closed_on?, assignment_group_id?, assigned_to?)
link_new_case_sla(case_id, sla_def_id, stage, start_time?, breach_time?, has_breached?, completed_time?)
update_case_sla_details(case_sla_id, case_id?, sla_def_id?, stage?, start_time?, breach_time?, has_breached?, completed_time?)
register_new_interaction(channel, account_id?, contact_id?, case_id?, interacted_user?, status, started_at?, ended_at?)
update_interaction(interaction_id, channel?, account_id?, contact_id?, case_id?, interacted_user?, status?, started_at?, ended_at?)
create_knowledge(title, state, body, visibility, product_id?, owner_id)
update_knowledge(knowledge_id, kb_number?, title?, state?, visibility?, product_id?, owner_id?)
link_case_knowledge(case_id, knowledge_id, used_as)
send_notification(case_id, knowledge_id?, email, type)
update_notification(notification_id, case_id?, knowledge_id?, email?, type?, status?)
""".strip().splitlines()  # noqa: E501  # one signature a line, as the model reads them
