"""csm templates that choose one of several listed rows by a rule, or use the id of a row they made. World to drafts."""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick
from robustops.data.synth.csm_rules import READ_BACKS
from robustops.data.synth.csm_world import CHANNELS, IDLE_CONTRACT_STATES, PRIORITIES, SUPPORT_LEVELS, complaint
from robustops.data.synth.draft import (
    CheckDraft,
    Draft,
    Template,
    expressions,
    holds,
    only_written,
    read,
    row_count,
    write,
)
from robustops.data.synth.world import Row, World


def _account_with_contracts(world: World, rng: Random) -> tuple[Row, list[Row]] | None:
    account = rng.choice(world.rows("account"))
    contracts = world.rows("contract", {"account_id": account["account_id"]})
    return (account, contracts) if len(contracts) >= 2 else None


def contract_price(world: World, rng: Random) -> Draft | None:
    found = _account_with_contracts(world, rng)
    if found is None:
        return None
    account, contracts = found
    (contract,) = [row for row in contracts if row["status"] == "active"]
    price = rng.choice([n * 100 for n in range(11, 98) if n * 100 not in {row["contract_price"] for row in contracts}])
    key = {"contract_id": contract["contract_id"]}
    active = Pick(where=expressions({"status": "active"}))
    return Draft(
        slots={"account": account["name"], "price": price},
        steps=(
            read("account", "find_account", {"name": account["name"]}),
            read("contract", "find_contracts", {"account_id": "@account.account_id"}, active),
            write(
                "done", "update_contract", {"contract_id": "@contract.contract_id", "contract_price": price}, READ_BACKS
            ),
        ),
        checks=(
            holds("price is set", "contract", key | {"contract_price": price}),
            holds("contract stays active", "contract", key | {"status": "active"}),
            only_written("no other contract changed", "contract", key),
        ),
    )


def contract_latest(world: World, rng: Random) -> Draft | None:
    found = _account_with_contracts(world, rng)
    if found is None:
        return None
    account, contracts = found
    contract = max(contracts, key=lambda row: str(row["end_date"]))
    status = rng.choice([state for state in IDLE_CONTRACT_STATES if state != contract["status"]])
    key = {"contract_id": contract["contract_id"]}
    return Draft(
        slots={"account": account["name"], "status": status},
        steps=(
            read("account", "find_account", {"name": account["name"]}),
            read("contract", "find_contracts", {"account_id": "@account.account_id"}, Pick(order_by="end_date")),
            write("done", "update_contract", {"contract_id": "@contract.contract_id", "status": status}, READ_BACKS),
        ),
        checks=(
            holds("status is set", "contract", key | {"status": status}),
            holds("price is kept", "contract", key | {"contract_price": contract["contract_price"]}),
            only_written("no other contract changed", "contract", key),
        ),
    )


def line_retire(world: World, rng: Random) -> Draft | None:
    line = str(rng.choice(world.rows("product"))["name"]).rsplit(" ", 1)[0]
    models = [row for row in world.rows("product") if str(row["name"]).startswith(line + " ")]
    if len(models) < 2:
        return None
    product = max(models, key=lambda row: int(row["product_price"]))
    key = {"product_id": product["product_id"]}
    arguments = {"product_id": "@product.product_id", "lifecycle_state": "retired"}
    return Draft(
        slots={"line": line},
        steps=(
            read("product", "find_products", {"name": line}, Pick(order_by="product_price")),
            write("done", "update_product", arguments, READ_BACKS),
        ),
        checks=(
            holds("the dearest model is retired", "product", key | {"lifecycle_state": "retired"}),
            holds("price is kept", "product", key | {"product_price": product["product_price"]}),
            only_written("no other product changed", "product", key),
        ),
    )


def entitlement_level(world: World, rng: Random) -> Draft:
    account = rng.choice(world.rows("account"))
    contract = world.one("contract", {"account_id": account["account_id"], "status": "active"})
    entitlement = world.one("entitlement", {"contract_id": contract["contract_id"]})
    level = rng.choice([name for name in SUPPORT_LEVELS if name != entitlement["support_level"]])
    key = {"entitlement_id": entitlement["entitlement_id"]}
    arguments = {"entitlement_id": "@entitlement.entitlement_id", "support_level": level}
    current = {"account_id": "@account.account_id", "status": "active"}
    return Draft(
        slots={"account": account["name"], "level": level},
        steps=(
            read("account", "find_account", {"name": account["name"]}),
            read("contract", "find_contracts", current, Pick()),
            read("entitlement", "find_entitlements", {"contract_id": "@contract.contract_id"}, Pick()),
            write("done", "update_entitlement", arguments, READ_BACKS),
        ),
        checks=(
            holds("level is set", "entitlement", key | {"support_level": level}),
            only_written("no other entitlement changed", "entitlement", key),
            only_written("no contract changed", "contract", {"contract_id": -1}),
        ),
    )


def case_escalate(world: World, rng: Random) -> Draft:
    contact = rng.choice(world.rows("contact"))
    user = world.one("user", {"user_id": contact["portal_user_id"]})
    case = world.one("customer_case", {"contact_id": contact["contact_id"], "state": "new"})
    priority = rng.choice([name for name in PRIORITIES if name != case["priority"]])
    name = f"{user['first_name']} {user['last_name']}"
    key = {"case_id": case["case_id"]}
    new = Pick(where=expressions({"state": "new"}))
    return Draft(
        slots={"user": name, "priority": priority},
        steps=(
            read("user", "find_user", {"name": name}),
            read("contact", "find_contact_by_portal_user", {"portal_user_id": "@user.user_id"}),
            read("case", "search_cases", {"contact_id": "@contact.contact_id"}, new),
            write("done", "update_case", {"case_id": "@case.case_id", "priority": priority}, READ_BACKS),
        ),
        checks=(
            holds("priority is set", "customer_case", key | {"priority": priority}),
            holds("case stays new", "customer_case", key | {"state": "new"}),
            only_written("no other case changed", "customer_case", key),
        ),
    )


def case_notify(world: World, rng: Random) -> Draft | None:
    contact = rng.choice(world.rows("contact"))
    user = world.one("user", {"user_id": contact["portal_user_id"]})
    values = {"contact_id": contact["contact_id"], "short_description": complaint(rng)}
    if world.rows("customer_case", values):
        return None
    channel, priority = rng.choice(CHANNELS), rng.choice(PRIORITIES)
    name = f"{user['first_name']} {user['last_name']}"
    text = values["short_description"]
    case = {"account_id": "@contact.account_id", "contact_id": "@contact.contact_id", "channel": channel}
    case |= {"priority": priority, "state": "new", "short_description": text}
    note = {"case_id": "@case.case_id", "email": "@user.email", "type": "update"}
    stored = values | {"account_id": contact["account_id"], "channel": channel, "priority": priority, "state": "new"}
    this_case = f"case_id IN (SELECT case_id FROM customer_case WHERE contact_id = {contact['contact_id']}"
    this_case += f" AND short_description = '{text}')"
    sent = holds("customer is notified", "notification", {"email": user["email"], "type": "update"})
    return Draft(
        slots={"user": name, "channel": channel, "priority": priority, "text": text},
        steps=(
            read("user", "find_user", {"name": name}),
            read("contact", "find_contact_by_portal_user", {"portal_user_id": "@user.user_id"}),
            write("case", "create_new_case", case, READ_BACKS),
            write("note", "send_notification", note, READ_BACKS),
        ),
        checks=(
            holds("case exists once", "customer_case", stored),
            CheckDraft(name=sent.name, query=f"{sent.query} AND {this_case}", expected=1),
            only_written("no other case written", "customer_case", values),
            row_count("one notification more", "notification", len(world.rows("notification")) + 1),
        ),
        edges=((0, 1),),
    )


def contract_entitle(world: World, rng: Random) -> Draft:
    account = rng.choice(world.rows("account"))
    year, price, level = rng.randint(2035, 2039), rng.randrange(1100, 9800, 100), rng.choice(SUPPORT_LEVELS)
    start, end = f"{year}-01-01", f"{year}-12-31"
    values = {"contract_type": "support", "status": "active", "contract_price": price, "start_date": start}
    values |= {"end_date": end}
    asked = {"account_id": "@account.account_id", **values}
    entitlement = {"account_id": "@account.account_id", "contract_id": "@contract.contract_id"}
    stored = {"account_id": account["account_id"], **values}
    where = holds("", "contract", stored).query.split(" WHERE ")[1]
    under = (
        f"support_level = '{level}' AND active = 1 AND contract_id IN (SELECT contract_id FROM contract WHERE {where})"
    )
    return Draft(
        slots={"account": account["name"], "price": price, "start": start, "end": end, "level": level},
        steps=(
            read("account", "find_account", {"name": account["name"]}),
            write("contract", "enlist_new_contract", asked, READ_BACKS),
            write("done", "add_new_entitlement", entitlement | {"support_level": level, "active": True}, READ_BACKS),
        ),
        checks=(
            holds("contract exists once", "contract", stored),
            CheckDraft(
                name="entitlement under it", query=f"SELECT COUNT(*) FROM entitlement WHERE {under}", expected=1
            ),
            only_written("no other contract written", "contract", stored),
            row_count("one entitlement more", "entitlement", len(world.rows("entitlement")) + 1),
        ),
        edges=((0, 1),),
    )


TEMPLATES = (
    Template(
        name="csm_contract_price",
        patterns=(
            "Set the price of the current contract of {account} to {price}.",
            "The current contract of {account} now costs {price}. Update it.",
            "Change the contract price for {account} to {price}, current contract only.",
            "{account} pays {price} for its current contract from now on.",
        ),
        extra_tools=("update_account_details",),
        draw=contract_price,
    ),
    Template(
        name="csm_contract_latest",
        patterns=(
            "Set the contract of {account} with the latest end date to {status}.",
            "Of all contracts of {account}, the one that ends last is now {status}. Update it.",
            "Change the status of the contract of {account} that ends last to {status}.",
            "The contract of {account} with the latest end becomes {status}.",
        ),
        extra_tools=("update_account_details",),
        draw=contract_latest,
    ),
    Template(
        name="csm_line_retire",
        patterns=(
            "Set the most expensive {line} to retired.",
            "The {line} with the highest price is now retired. Update it.",
            "Change the state of the most expensive {line} to retired.",
            "Of all {line} models, the one with the highest price is retired now.",
        ),
        extra_tools=("find_product", "find_account"),
        draw=line_retire,
    ),
    Template(
        name="csm_entitlement_level",
        patterns=(
            "Set the entitlement under the current contract of {account} to {level}.",
            "The current contract of {account} now comes with {level} support. Update its entitlement.",
            "Change the support level of {account} to {level}, current contract only.",
            "{account} gets {level} support under its current contract.",
        ),
        extra_tools=("update_contract",),
        draw=entitlement_level,
    ),
    Template(
        name="csm_case_priority",
        patterns=(
            "Set the new case of {user} to priority {priority}.",
            "The new case of {user} has priority {priority}. Update it.",
            "Change the priority of the new case of {user} to {priority}.",
            "{user} has a new case; its priority should be {priority}.",
        ),
        extra_tools=("find_account",),
        draw=case_escalate,
    ),
    Template(
        name="csm_case_notify",
        patterns=(
            "Open a {priority} case for {user} by {channel}: {text}. Then send {user} an update.",
            "{user} reports by {channel}: {text}. Open a case, priority {priority}, and send an update.",
            "New {priority} case for {user}, channel {channel}: {text}. Send an update to {user}.",
            "Report from {user}, channel {channel}, priority {priority}: {text}. Open the case, send an update.",
        ),
        extra_tools=(),
        draw=case_notify,
    ),
    Template(
        name="csm_contract_entitle",
        patterns=(
            "Enlist a support contract for {account} at {price}, {start} to {end}, with {level} entitlement.",
            "{account} signed a support contract: {price}, {start} to {end}. Enlist it, add its {level} entitlement.",
            "New support contract for {account}, price {price}, {start} to {end}. Add its {level} entitlement.",
            "Add a support contract, {start} to {end}, price {price}, for {account}, and its {level} entitlement.",
        ),
        extra_tools=("update_contract",),
        draw=contract_entitle,
    ),
)
