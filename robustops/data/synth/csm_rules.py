"""How csm writes are read back, and the policy of synthetic csm tasks. Data."""

from __future__ import annotations

from robustops.data.synth.draft import ReadBackRule

POLICY = (
    "You serve a customer desk. Call one tool at a time. Copy ids from replies. Change only what is asked. "
    "The current contract has status active. New cases have state new. New members, contracts and entitlements are "
    "active. If a call was not executed, call again. If a reply is incomplete, read again. If the outcome of a write "
    "is unknown, read back first and repeat it only if it is missing. When all is done, answer Done."
)

READ_BACKS = {
    "update_product": ReadBackRule(tool="find_products", keys=("product_id",)),
    "update_contract": ReadBackRule(tool="find_contracts", keys=("contract_id",)),
    "update_entitlement": ReadBackRule(tool="find_entitlements", keys=("entitlement_id",)),
    "update_account_details": ReadBackRule(tool="get_accounts", keys=("account_id",)),
    "update_installed_product_details": ReadBackRule(
        tool="retrieve_installed_products", keys=("installed_product_id",)
    ),
    "update_case": ReadBackRule(tool="search_cases", keys=("case_id",)),
    "create_new_case": ReadBackRule(tool="search_cases", keys=("contact_id",)),
    "send_notification": ReadBackRule(tool="find_notifications", keys=("case_id",)),
    "add_new_group_member": ReadBackRule(tool="list_group_members", keys=("group_id", "user_id")),
    "add_new_entitlement": ReadBackRule(tool="find_entitlements", keys=("account_id",)),
    "enlist_new_contract": ReadBackRule(tool="find_contracts", keys=("account_id",)),
}
