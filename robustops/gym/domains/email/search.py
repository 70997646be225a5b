"""Which of the caller's messages match: labels, the search text, and whether spam and trash are looked into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from robustops.gym.domains.email.mailbox import SPAM, SYSTEM_LABELS, TRASH, label_id, label_ids
from robustops.gym.domains.email.query import DATE_MS, Condition, Query, joined
from robustops.gym.operations.records import Records, Row

_LABELLED = "SELECT 1 FROM message_labels AS l WHERE l.message_id = m.id AND l.label_id"


def matching(db: Records, arguments: Mapping[str, Any], extra: str = "") -> list[Row]:
    """Newest first. `extra`: a further condition on messages, without values. Raises ToolFailure for unknown labels."""
    wanted = label_ids(db, arguments.get("labelIds") or ())
    parts = [Condition(text="m.user_id = ? AND m.deleted IS NOT 1", values=(db.caller["id"],))]
    parts += [Condition(text=f"EXISTS ({_LABELLED} = ?)", values=(label,)) for label in wanted]
    asked = _query(db, arguments.get("q") or "")
    parts.append(asked)
    hidden = [name for name in (SPAM, TRASH) if label_id(db, name) not in wanted and name not in asked.labels]
    if hidden and not arguments.get("includeSpamTrash"):
        ids = tuple(label_id(db, name) for name in hidden)
        parts.append(Condition(text=f"NOT EXISTS ({_LABELLED} IN ({', '.join('?' for _ in ids)}))", values=ids))
    if extra:
        parts.append(Condition(text=extra))
    where = joined(parts, "AND")
    return db.select(f"SELECT m.* FROM messages AS m WHERE {where.text} ORDER BY {DATE_MS} DESC, m.rowid", where.values)


def _query(db: Records, text: str) -> Condition:
    def ids_of(name: str) -> Sequence[str]:
        """By id, by name with blanks and slashes as hyphens, or of the system."""
        rows = db.find("labels", {"user_id": db.caller["id"]})
        found = [row["id"] for row in rows if row["id"] == name or _plain(row["name"] or "") == _plain(name)]
        return [*found, *(label for label in SYSTEM_LABELS if label == name.upper() and label not in found)]

    return Query(text, label_ids=ids_of, now=datetime.fromisoformat(db.now).replace(tzinfo=UTC)).condition()


def _plain(name: str) -> str:
    return name.lower().replace(" ", "-").replace("/", "-")
