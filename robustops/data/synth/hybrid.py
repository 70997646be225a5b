"""Synthetic tasks that span two domains: what one server says is written on the other. Worlds in, drafts out.

Those of the three desks are made here, those with calendars, mail, files and chats in `hybrid_office`.
"""

from __future__ import annotations

from random import Random

from robustops.agent.plan import Pick, ReadBack, Step
from robustops.data.synth import hybrid_office
from robustops.data.synth.csm_rules import READ_BACKS as CSM_READ_BACKS
from robustops.data.synth.draft import Draft, Hybrid, Template, expressions, holds, only_written, read, row_count, write
from robustops.data.synth.office_rules import READ_BACKS, RULES
from robustops.data.synth.world import Row, World

POLICY = f"You serve all desks of a company. {hybrid_office.WORDS} {RULES}"


def _unit_and_product(csm: World, rng: Random) -> tuple[Row, Row]:
    unit = rng.choice(csm.rows("installed_product"))
    return unit, csm.one("product", {"product_id": unit["product_id"]})


def _product_steps(unit: Row) -> tuple[Step, Step]:
    return (
        read("unit", "find_installed_product_by_serial", {"serial_number": unit["serial_number"]}),
        read("product", "find_products", {"product_id": "@unit.product_id"}),
    )


def _item_step(item: Row) -> Step:
    return read("item", "find_configuration_items", {"serial_number": item["serial_number"]}, Pick())


def _item_draft(csm: World, itsm: World, rng: Random, column: str, told: str) -> Draft | None:
    """A field of an item of the service desk becomes what a customer's product has under `told`."""
    unit, product = _unit_and_product(csm, rng)
    item = rng.choice(itsm.rows("configuration_item"))
    if item[column] == product[told]:
        return None
    key = {"configuration_item_id": item["configuration_item_id"]}
    arguments = {"configuration_item_id": "@item.configuration_item_id", column: f"@product.{told}"}
    return Draft(
        slots={"unit": unit["serial_number"], "item": item["serial_number"]},
        steps=(
            *_product_steps(unit),
            _item_step(item),
            write("done", "update_configuration_item", arguments, READ_BACKS),
        ),
        checks=(
            holds(f"{column} is set", "configuration_item", key | {column: product[told]}).on(1),
            only_written("no other item changed", "configuration_item", key, column="updated_on").on(1),
            only_written("no product changed", "product", {"product_id": -1}),
        ),
    )


def item_cost(csm: World, itsm: World, rng: Random) -> Draft | None:
    return _item_draft(csm, itsm, rng, "cost", "product_price")


def item_name(csm: World, itsm: World, rng: Random) -> Draft | None:
    return _item_draft(csm, itsm, rng, "name", "name")


def _hr_case_draft(itsm: World, hr: World, rng: Random, column: str) -> Draft | None:
    """A field of an incident is taken over into a personnel case."""
    incident, case = rng.choice(itsm.rows("incident")), rng.choice(hr.rows("hr_case"))
    if incident[column] == case[column]:
        return None
    key = {"hr_case_id": case["hr_case_id"]}
    found = read("case", "find_hr_case_by_number", {"number": case["number"]})
    asked = expressions({"hr_case_id": "@case.hr_case_id", column: f"@incident.{column}"})
    back = ReadBack(tool=found.tool, arguments=found.arguments, where={column: asked[column]})
    return Draft(
        slots={"incident": incident["number"], "case": case["number"]},
        steps=(
            read("incident", "find_incident_by_number", {"number": incident["number"]}),
            found,
            Step(bind="done", tool="update_hr_case", arguments=asked, read_back=back),
        ),
        checks=(
            holds(f"{column} is set", "hr_case", key | {column: incident[column]}).on(1),
            only_written("no other case changed", "hr_case", key, column="updated_at").on(1),
            only_written("no incident changed", "incident", {"incident_id": ""}, column="updated_at"),
        ),
    )


def case_subject(itsm: World, hr: World, rng: Random) -> Draft | None:
    return _hr_case_draft(itsm, hr, rng, "short_description")


def case_priority(itsm: World, hr: World, rng: Random) -> Draft | None:
    return _hr_case_draft(itsm, hr, rng, "priority")


def tell_colleague(csm: World, hr: World, rng: Random) -> Draft | None:
    """Both servers offer `send_notification`; the first of the task, csm, is the one that gets the call."""
    case = rng.choice(csm.rows("customer_case"))
    person = rng.choice(hr.rows("user", {"role": "employee"}))
    name = {"first_name": person["first_name"], "last_name": person["last_name"]}
    values = {"case_id": case["case_id"], "email": person["email"], "type": "report"}
    arguments = {"case_id": "@case.case_id", "email": "@person.email", "type": "report"}
    return Draft(
        slots={"case": case["number"], "first": person["first_name"], "last": person["last_name"]},
        steps=(
            read("person", "get_user_using_name", name),
            read("case", "search_cases", {"number": case["number"]}),
            write("done", "send_notification", arguments, CSM_READ_BACKS),
        ),
        checks=(
            holds("report is sent", "notification", values),
            row_count("one notification more", "notification", len(csm.tables.get("notification", [])) + 1),
            row_count("none sent by the personnel office", "notification", len(hr.rows("notification"))).on(1),
        ),
    )


HYBRID = Hybrid(
    name="hybrid",
    policy=POLICY,
    templates=(
        Template(
            name="hybrid_item_cost",
            hosts=("csm", "itsm"),
            patterns=(
                "Set the cost of item {item} to the price of the product that unit {unit} is.",
                "Item {item} costs as much as the product of unit {unit}. Update its cost.",
                "Look up the product price of unit {unit} and set it as the cost of item {item}.",
                "The price of unit {unit}'s product should also be the cost of item {item}.",
            ),
            extra_tools=("find_incident_by_number",),
            draw=item_cost,
        ),
        Template(
            name="hybrid_case_subject",
            hosts=("itsm", "hr"),
            patterns=(
                "Set the short description of personnel case {case} to that of incident {incident}.",
                "Personnel case {case} has the same subject as incident {incident}. Update its short description.",
                "Copy the short description of incident {incident} to personnel case {case}.",
                "The short description of incident {incident} should also stand in personnel case {case}.",
            ),
            extra_tools=("find_configuration_items",),
            draw=case_subject,
        ),
        Template(
            name="hybrid_case_priority",
            hosts=("itsm", "hr"),
            patterns=(
                "Set the priority of personnel case {case} to that of incident {incident}.",
                "Personnel case {case} is as urgent as incident {incident}. Give it the same priority.",
                "Copy the priority of incident {incident} to personnel case {case}.",
                "The priority of incident {incident} should also be that of personnel case {case}.",
            ),
            extra_tools=("find_configuration_items",),
            draw=case_priority,
        ),
        Template(
            name="hybrid_tell_colleague",
            hosts=("csm", "hr"),
            patterns=(
                "Send a report about customer case {case} to colleague {first} {last}.",
                "Colleague {first} {last} needs a report about customer case {case}. Send it.",
                "Notify colleague {first} {last} with a report about customer case {case}.",
                "A report about customer case {case} should go to colleague {first} {last}.",
            ),
            extra_tools=("find_hr_case_by_number",),
            draw=tell_colleague,
        ),
        *hybrid_office.TEMPLATES,
        Template(
            name="hybrid_item_name",
            hosts=("csm", "itsm"),
            patterns=(
                "Name item {item} like the product that unit {unit} is.",
                "Item {item} gets the name of unit {unit}'s product. Update it.",
                "Look up the product name of unit {unit} and give it to item {item}.",
                "The product name of unit {unit} should also be the name of item {item}.",
            ),
            extra_tools=("find_incident_by_number",),
            draw=item_name,
            held_out=True,
        ),
    ),
)
