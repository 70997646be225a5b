"""One small server that replies in the form of any domain: arrays bare or wrapped, objects, indented JSON, text."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robustops.core.episode import ToolResult
from robustops.core.task import ToolSchema

PEOPLE = (("u1", "Ada Berg", "admin"), ("u2", "Ben Cole", "user"), ("u3", "Cleo Dahl", "user"))


@dataclass(frozen=True)
class Form:
    """`key`: under which a list stands; None for a bare array. `camel`: key names; `around`: what else the list has."""

    name: str
    key: str | None = None
    around: tuple[tuple[str, Any], ...] = ()
    camel: bool = False
    indent: int | None = None
    nested: bool = False
    write_text: str | None = None
    flags_errors: bool = True


FORMS = (
    Form("bare array"),
    Form("plural and count", key="people", around=(("total_count", 3),)),
    Form("odata", key="value", around=(("@odata.context", "$metadata"), ("@odata.count", 3)), camel=True, indent=2,
         write_text="Operation completed successfully"),
    Form("items beside another array", key="items", around=(("kind", "x#people"), ("defaultReminders", [])), camel=True,
         nested=True, flags_errors=False),
)  # fmt: skip

_TEXT = {"type": "string"}
TOOLS = tuple(
    ToolSchema(
        name=name,
        description=name,
        input_schema={"type": "object", "properties": dict.fromkeys(names, _TEXT), "required": list(required)},
        gym="shaped",
    )
    for name, names, required in (
        ("list_people", ("role", "limit"), ()),
        ("get_person", ("person_id",), ("person_id",)),
        ("rename_person", ("person_id", "full_name"), ("person_id", "full_name")),
    )
)


class ShapedSession:
    def __init__(self, form: Form) -> None:
        self.tools = TOOLS
        self._form = form
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("CREATE TABLE people (person_id TEXT PRIMARY KEY, full_name TEXT, role TEXT)")
        self._db.executemany("INSERT INTO people VALUES (?, ?, ?)", PEOPLE)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        found = {"list_people": self._list, "get_person": self._get, "rename_person": self._rename}[name](**arguments)
        if isinstance(found, str):
            return self._reply(found, is_error=self._form.flags_errors and found.startswith("Error"))
        return self._reply(json.dumps(found, indent=self._form.indent))

    def _list(self, role: str | None = None, limit: str | None = None) -> Any:
        rows = self._rows("SELECT * FROM people WHERE ? IS NULL OR role = ? LIMIT ?", role, role, int(limit or 100))
        return rows if self._form.key is None else {**dict(self._form.around), self._form.key: rows}

    def _get(self, person_id: str) -> Any:
        found = self._rows("SELECT * FROM people WHERE person_id = ?", person_id)
        return found[0] if found else "Error: no such person"

    def _rename(self, person_id: str, full_name: str) -> Any:
        self._db.execute("UPDATE people SET full_name = ? WHERE person_id = ?", (full_name, person_id))
        return self._form.write_text or self._get(person_id)

    def _rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return [self._shape(dict(row)) for row in self._db.execute(sql, values)]

    def _shape(self, row: dict[str, Any]) -> dict[str, Any]:
        if self._form.camel:
            row = {"id": row["person_id"], "fullName": row["full_name"], "role": row["role"]}
        return {**row, "parents": [{"id": "p"}, {"id": "q"}], "zone": {"name": "UTC"}} if self._form.nested else row

    def _reply(self, text: str, *, is_error: bool = False) -> ToolResult:
        observation = json.dumps({"content": [{"type": "text", "text": text}], "isError": is_error})
        return ToolResult(text=text, observation=observation, is_error=is_error)

    async def query(self, sql: str, gym: str | None = None) -> Any:
        return {"data": [dict(row) for row in self._db.execute(sql)]}

    async def snapshot(self) -> bytes:
        return self._db.serialize()

    async def restore(self, snapshot: bytes) -> None:
        self._db.deserialize(snapshot)

    async def state_hash(self) -> str:
        return repr([tuple(row) for row in self._db.execute("SELECT * FROM people ORDER BY 1")])

    async def close(self) -> None:
        self._db.close()
