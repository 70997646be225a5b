"""The csm database of a synthetic world: accounts, contracts, products, units, people, cases. Knows no template."""

from __future__ import annotations

from random import Random
from typing import Any

from robustops.core.task import Part
from robustops.data.synth.names import Names
from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "location": "location_id",
    "user_group": "group_id",
    "user": "user_id",
    "account": "account_id",
    "product": "product_id",
    "installed_product": "installed_product_id",
    "contact": "contact_id",
    "contract": "contract_id",
    "entitlement": "entitlement_id",
    "customer_case": "case_id",
    "notification": "notification_id",
    "user_group_member": "member_id",
}
STAMPS = {"sys_created_on": SEED_TIME, "sys_updated_on": SEED_TIME}
CITIES = (("new_york", "usa"), ("london", "uk"), ("mumbai", "india"), ("tokyo", "japan"), ("sydney", "australia"))
CHANNELS = ("web", "email", "phone", "chat")
PRIORITIES = ("critical", "high", "moderate", "low")
SUPPORT_LEVELS = ("standard", "premium", "enterprise")
UNIT_STATES = ("in_use", "in_stock", "repair", "retired")
CONTRACT_TYPES = ("support", "warranty", "subscription")
IDLE_CONTRACT_STATES = ("draft", "suspended", "expired")
_THINGS = (
    "screen",
    "login",
    "backup",
    "battery",
    "cable",
    "email",
    "report",
    "password",
    "invoice",
    "signal",
    "keyboard",
)
_TROUBLES = ("broken", "slow", "missing", "locked", "lost", "wrong", "late", "noisy")


def complaint(rng: Random) -> str:
    return f"{rng.choice(_THINGS)} {rng.choice(_TROUBLES)}"


def build(part: Part, rng: Random, num_rows: int) -> World:
    """A world with about `num_rows` rows in each large table."""
    world = World(part=part, rng=rng, names=Names(part, rng), key_columns=KEYS)
    few = max(4, num_rows // 3)
    for _ in range(few):
        _add_location(world)
        _add_group(world)
    for _ in range(num_rows // 2):
        _add_user(world, role=rng.choice(("agent", "manager")), email_domain="desk.example")
    # The first account and the first line have several contracts and models: every template finds a row to act on.
    for index in range(num_rows // 2):
        _add_account(world, num_contracts=rng.choice((1, 2, 2, 3, 3)) if index else 3)
    for index in range(few):
        _add_product_line(world, num_models=rng.choice((1, 2, 3, 3)) if index else 3)
    for account in world.rows("account"):
        _add_unit(world, account)
        for _ in range(rng.choice((1, 1, 2))):
            _add_customer(world, account)
    _add_members(world)
    caller = world.rows("user", {"role": "agent"}) or world.rows("user", {"role": "manager"})
    world.context = {"x-user-email": caller[0]["email"]}
    return world


def _add_location(world: World) -> None:
    city, country = world.rng.choice(CITIES)
    row: dict[str, Any] = {"name": world.names.place(), "plot_no": None, "street": None, "city": city}
    world.add("location", row | {"country": country, "active": 1, **STAMPS})


def _add_group(world: World) -> None:
    kind = world.rng.choice(("support", "backoffice", "field", "vendor"))
    world.add("user_group", {"name": world.names.team(), "type": kind, "active": 1, **STAMPS})


def _add_user(world: World, *, role: str, email_domain: str) -> Row:
    first, last = world.names.person()
    row: dict[str, Any] = {"first_name": first, "last_name": last, "email": f"{first}.{last}@{email_domain}".lower()}
    row |= {"phone": None, "role": role, "location_id": None, "active": 1, **STAMPS}
    return world.add("user", row)


def _add_account(world: World, *, num_contracts: int) -> None:
    rng = world.rng
    row = {"name": world.names.company(), "account_type": "customer", "email_domain": world.names.web_domain()}
    account = world.add("account", row | {"active": 1, **STAMPS})
    years = rng.sample(range(2025, 2035), num_contracts)
    prices = rng.sample(range(11, 98), num_contracts)
    states = ["active", *rng.choices(IDLE_CONTRACT_STATES, k=num_contracts - 1)]
    rng.shuffle(states)
    for year, price, state in zip(years, prices, states, strict=True):
        contract = {"account_id": account["account_id"], "contract_type": rng.choice(CONTRACT_TYPES), "status": state}
        contract |= {"contract_price": price * 100, "start_date": f"{year - 1}-{rng.randint(1, 12):02d}-01"}
        contract |= {"end_date": f"{year}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}", **STAMPS}
        row = world.add("contract", contract)
        if state == "active" or rng.random() < 0.3:
            _add_entitlement(world, row)


def _add_entitlement(world: World, contract: Row) -> None:
    row = {"account_id": contract["account_id"], "product_id": None, "contract_id": contract["contract_id"]}
    row |= {"support_level": world.rng.choice(SUPPORT_LEVELS), "coverage_hours": "h8x5", "max_cases_per_month": 0}
    world.add("entitlement", row | {"active": 1, **STAMPS})


def _add_product_line(world: World, *, num_models: int) -> None:
    rng = world.rng
    line = world.names.product_line()
    prices = rng.sample(range(11, 98), num_models)
    for model, price in zip(sorted(rng.sample(range(1, 10), num_models)), prices, strict=True):
        row = {"name": f"{line} {model}", "category": "hardware", "product_price": price * 10}
        world.add("product", row | {"lifecycle_state": "active", **STAMPS})


def _add_unit(world: World, account: Row) -> None:
    rng = world.rng
    row = {"account_id": account["account_id"], "product_id": rng.choice(world.rows("product"))["product_id"]}
    row |= {"location_id": rng.choice(world.rows("location"))["location_id"], "serial_number": world.names.serial()}
    world.add("installed_product", row | {"status": rng.choice(UNIT_STATES), "warranty_end": None, **STAMPS})


def _add_customer(world: World, account: Row) -> None:
    """A portal user with one contact and up to two cases, one of them new."""
    rng = world.rng
    user = _add_user(world, role="customer", email_domain=account["email_domain"])
    row = {"account_id": account["account_id"], "portal_user_id": user["user_id"], "active": 1, "is_primary": 0}
    contact = world.add("contact", row | STAMPS)
    for state in rng.choice((("new",), ("new",), ("new", "resolved"), ("pending", "new"))):
        case = {"number": f"CS-{rng.randint(1_000_000, 9_999_999)}", "account_id": account["account_id"]}
        case |= {"contact_id": contact["contact_id"], "product_id": None, "installed_product_id": None}
        case |= {"channel": rng.choice(CHANNELS), "priority": rng.choice(PRIORITIES), "state": state}
        case |= {"short_description": complaint(rng), "assignment_group_id": None, "assigned_to": None}
        case |= {"escalation": 0, "escalation_reason": None, "reopen_count": 0, **STAMPS, "closed_on": None}
        stored = world.add("customer_case", case)
        if rng.random() < 0.4:
            notification = {"case_id": stored["case_id"], "knowledge_id": None, "email": user["email"]}
            world.add(
                "notification", notification | {"type": "report", "status": "success", "sys_created_on": SEED_TIME}
            )


def _add_members(world: World) -> None:
    for group in world.rows("user_group"):
        for user in world.rng.sample([row for row in world.rows("user") if row["role"] != "customer"], k=2):
            row = {"group_id": group["group_id"], "user_id": user["user_id"], "sys_created_on": SEED_TIME}
            world.add("user_group_member", row)
