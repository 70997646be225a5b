"""csm templates that look one row up and change it, or link two rows. World in, drafts out."""

from __future__ import annotations

from random import Random

from robustops.data.synth.csm_rules import READ_BACKS
from robustops.data.synth.csm_world import SUPPORT_LEVELS, UNIT_STATES
from robustops.data.synth.draft import Draft, Template, holds, only_written, read, row_count, write
from robustops.data.synth.world import World


def product_price(world: World, rng: Random) -> Draft:
    product = rng.choice(world.rows("product"))
    price = rng.choice([n * 10 for n in range(11, 98) if n * 10 != product["product_price"]])
    key = {"product_id": product["product_id"]}
    return Draft(
        slots={"product": product["name"], "price": price},
        steps=(
            read("product", "find_product", {"name": product["name"]}),
            write("done", "update_product", {"product_id": "@product.product_id", "product_price": price}, READ_BACKS),
        ),
        checks=(
            holds("price is set", "product", key | {"product_price": price}),
            holds("product is still offered", "product", key | {"name": product["name"], "lifecycle_state": "active"}),
            only_written("no other product changed", "product", key),
        ),
    )


def unit_status(world: World, rng: Random) -> Draft:
    unit = rng.choice(world.rows("installed_product"))
    status = rng.choice([state for state in UNIT_STATES if state != unit["status"]])
    key = {"installed_product_id": unit["installed_product_id"]}
    arguments = {"installed_product_id": "@unit.installed_product_id", "status": status}
    return Draft(
        slots={"serial": unit["serial_number"], "status": status},
        steps=(
            read("unit", "find_installed_product_by_serial", {"serial_number": unit["serial_number"]}),
            write("done", "update_installed_product_details", arguments, READ_BACKS),
        ),
        checks=(
            holds("status is set", "installed_product", key | {"status": status}),
            holds("unit stays where it is", "installed_product", key | {"location_id": unit["location_id"]}),
            only_written("no other unit changed", "installed_product", key),
        ),
    )


def account_domain(world: World, rng: Random) -> Draft:
    account = rng.choice(world.rows("account"))
    domain = world.names.web_domain()
    key = {"account_id": account["account_id"]}
    return Draft(
        slots={"account": account["name"], "domain": domain},
        steps=(
            read("account", "find_account", {"name": account["name"]}),
            write(
                "done",
                "update_account_details",
                {"account_id": "@account.account_id", "email_domain": domain},
                READ_BACKS,
            ),
        ),
        checks=(
            holds("domain is set", "account", key | {"email_domain": domain}),
            holds("name is kept", "account", key | {"name": account["name"]}),
            only_written("no other account changed", "account", key),
        ),
    )


def group_member(world: World, rng: Random) -> Draft | None:
    user = rng.choice([row for row in world.rows("user") if row["role"] != "customer"])
    group = rng.choice(world.rows("user_group"))
    pair = {"group_id": group["group_id"], "user_id": user["user_id"]}
    if world.rows("user_group_member", pair):
        return None
    name = f"{user['first_name']} {user['last_name']}"
    return Draft(
        slots={"user": name, "group": group["name"]},
        steps=(
            read("user", "find_user", {"name": name}),
            read("group", "find_user_group", {"name": group["name"]}),
            write(
                "done", "add_new_group_member", {"group_id": "@group.group_id", "user_id": "@user.user_id"}, READ_BACKS
            ),
        ),
        checks=(
            holds("user is a member", "user_group_member", pair),
            only_written("no other member added", "user_group_member", pair, column="sys_created_on"),
            row_count("one member more", "user_group_member", len(world.rows("user_group_member")) + 1),
        ),
    )


def product_entitlement(world: World, rng: Random) -> Draft:
    account, product = rng.choice(world.rows("account")), rng.choice(world.rows("product"))
    level = rng.choice(SUPPORT_LEVELS)
    values = {"account_id": account["account_id"], "product_id": product["product_id"]}
    arguments = {"account_id": "@account.account_id", "product_id": "@product.product_id", "support_level": level}
    return Draft(
        slots={"account": account["name"], "product": product["name"], "level": level},
        steps=(
            read("account", "find_account", {"name": account["name"]}),
            read("product", "find_product", {"name": product["name"]}),
            write("done", "add_new_entitlement", arguments | {"active": True}, READ_BACKS),
        ),
        checks=(
            holds("entitlement exists once", "entitlement", values | {"support_level": level, "active": 1}),
            only_written("no other entitlement written", "entitlement", values),
            only_written("account is untouched", "account", {"account_id": -1}),
            row_count("one entitlement more", "entitlement", len(world.rows("entitlement")) + 1),
        ),
    )


def unit_move(world: World, rng: Random) -> Draft | None:
    unit, place = rng.choice(world.rows("installed_product")), rng.choice(world.rows("location"))
    if unit["location_id"] == place["location_id"]:
        return None
    key = {"installed_product_id": unit["installed_product_id"]}
    arguments = {"installed_product_id": "@unit.installed_product_id", "location_id": "@place.location_id"}
    return Draft(
        slots={"serial": unit["serial_number"], "place": place["name"]},
        steps=(
            read("unit", "find_installed_product_by_serial", {"serial_number": unit["serial_number"]}),
            read("place", "find_location", {"name": place["name"]}),
            write("done", "update_installed_product_details", arguments, READ_BACKS),
        ),
        checks=(
            holds("unit is moved", "installed_product", key | {"location_id": place["location_id"]}),
            holds("status is kept", "installed_product", key | {"status": unit["status"]}),
            only_written("no other unit changed", "installed_product", key),
        ),
    )


TEMPLATES = (
    Template(
        name="csm_product_price",
        patterns=(
            "Set the price of {product} to {price}.",
            "The new price of {product} is {price}. Update it.",
            "Change the product price of {product} to {price}.",
            "{product} should cost {price} from now on.",
        ),
        extra_tools=("find_account", "update_account_details"),
        draw=product_price,
    ),
    Template(
        name="csm_unit_status",
        patterns=(
            "Set the status of unit {serial} to {status}.",
            "Unit {serial} now has status {status}. Update it.",
            "Change unit {serial} to status {status}.",
            "Mark the unit {serial} as {status}.",
        ),
        extra_tools=("find_product", "update_product"),
        draw=unit_status,
    ),
    Template(
        name="csm_account_domain",
        patterns=(
            "Set the email domain of {account} to {domain}.",
            "The new email domain of {account} is {domain}. Update it.",
            "Change the email domain of account {account} to {domain}.",
            "{account} moved its email to {domain}; update the account.",
        ),
        extra_tools=("find_product", "find_contracts"),
        draw=account_domain,
    ),
    Template(
        name="csm_group_member",
        patterns=(
            "Add {user} to the group {group}.",
            "Make {user} a member of {group}.",
            "The group {group} gets a new member: {user}.",
            "{user} joins {group}. Add the member.",
        ),
        extra_tools=("find_account", "find_contact_by_portal_user"),
        draw=group_member,
    ),
    Template(
        name="csm_product_entitlement",
        patterns=(
            "Give {account} {level} entitlement for {product}.",
            "Add the {level} entitlement for {product} to account {account}.",
            "Account {account} gets an entitlement for {product} with level {level}.",
            "{account} bought {level} support for {product}. Add the entitlement.",
        ),
        extra_tools=("update_product",),
        draw=product_entitlement,
    ),
    Template(
        name="csm_unit_move",
        patterns=(
            "Move unit {serial} to {place}.",
            "Unit {serial} now stands at {place}. Update it.",
            "Change the location of unit {serial} to {place}.",
            "The unit {serial} was moved to {place}.",
        ),
        extra_tools=("find_product", "find_account"),
        draw=unit_move,
        held_out=True,
    ),
)
