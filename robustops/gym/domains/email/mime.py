"""Messages in their two forms, raw text and payload, and what is found inside. Knows no row.

A payload is `{partId, mimeType, filename, headers, body, parts}`; data in it is base64url or plain text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from email.utils import parsedate_to_datetime
from typing import Any

from robustops.gym.operations.kind import ToolFailure

SNIPPET = 100
Payload = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    filename: str
    mime_type: str
    data: str  # base64url
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """`payload`: with the data of texts, and for each file an index into `files` instead of its data."""

    payload: Payload
    files: tuple[File, ...]
    body: str
    size: int

    def header(self, name: str) -> str:
        return header(self.payload, name)

    @property
    def snippet(self) -> str:
        return " ".join(self.body.split())[:SNIPPET]


def header(payload: Mapping[str, Any], name: str) -> str:
    """The first header of that name, or nothing."""
    wanted = name.lower()
    found = (item.get("value") for item in payload.get("headers") or () if (item.get("name") or "").lower() == wanted)
    return next(found, None) or ""


def content_of(message: Mapping[str, Any]) -> Content:
    """Raises ToolFailure unless there is exactly one of raw and payload, and it can be read."""
    raw, payload = message.get("raw"), message.get("payload")
    if bool(raw) == bool(payload):
        raise ToolFailure("Exactly one of 'raw' or 'payload' must be provided")
    if raw:
        given, size = _payload_of_raw(raw)
    else:
        given, size = dict(payload or {}), 0
        if not given.get("headers"):
            raise ToolFailure("payload.headers must not be empty")
    files: list[File] = []
    shaped = _shaped(given, "", files)
    body = next(_texts(shaped, "text/plain"), None) or next(_texts(shaped, "text/html"), "")
    size = size or len(body.encode()) + sum(file.size for file in files)
    return Content(payload=shaped, files=tuple(files), body=body, size=size)


def _payload_of_raw(raw: str) -> tuple[Payload, int]:
    data = decoded(raw)
    if data is None:
        raise ToolFailure("Invalid raw message: expected base64url text")
    message = message_from_bytes(data, policy=policy.default)
    if not message.keys():
        raise ToolFailure("Invalid raw message: no headers found")
    return _part(message), len(data)


def _part(message: Message) -> Payload:
    headers = [{"name": name, "value": str(value)} for name, value in message.items()]
    part: Payload = {"mimeType": message.get_content_type(), "filename": message.get_filename() or ""}
    part["headers"] = headers
    if message.is_multipart():
        return {**part, "body": {"size": 0}, "parts": [_part(child) for child in message.get_payload()]}  # type: ignore[arg-type]
    content = message.get_payload(decode=True)
    data = content if isinstance(content, bytes) else b""
    return {**part, "body": {"size": len(data), "data": encoded(data)}}


def _shaped(part: Mapping[str, Any], part_id: str, files: list[File]) -> Payload:
    """The part with every field, its files set aside."""
    body: Mapping[str, Any] = part.get("body") or {}
    data, filename = body.get("data"), part.get("filename") or ""
    shown: Payload = {"size": body.get("size", 0)}
    if filename and data is not None:
        content = decoded(data)
        size = len(content) if content is not None else len(data.encode())
        files.append(
            File(
                filename=filename,
                mime_type=part.get("mimeType") or "application/octet-stream",
                data=data if content is not None else encoded(data.encode()),
                size=size,
            )
        )
        shown = {"file": len(files) - 1, "size": size}
    elif data is not None:
        shown["data"] = data
    prefix = f"{part_id}." if part_id else ""
    children: Sequence[Mapping[str, Any]] = part.get("parts") or ()
    return {
        "partId": part.get("partId") or part_id,
        "mimeType": part.get("mimeType") or ("multipart/mixed" if children else "text/plain"),
        "filename": filename,
        "headers": list(part.get("headers") or ()),
        "body": shown,
        "parts": [_shaped(child, f"{prefix}{index}", files) for index, child in enumerate(children)],
    }


def _texts(part: Mapping[str, Any], mime_type: str) -> Iterator[str]:
    if part["mimeType"] == mime_type and "data" in part["body"]:
        yield text_of(part["body"]["data"])
    for child in part["parts"]:
        yield from _texts(child, mime_type)


def text_of(data: str) -> str:
    """Base64url where it reads as text, else what it is: callers send both."""
    content = decoded(data)
    try:
        return data if content is None else content.decode()
    except UnicodeDecodeError:
        return data


def decoded(data: str) -> bytes | None:
    """None for text that is no base64url. Padding may be absent."""
    compact = "".join(data.split())
    try:
        content = base64.b64decode(compact + "=" * (-len(compact) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if compact else b""


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def raw_of(payload: Mapping[str, Any], data_of: Mapping[str, str]) -> str:
    """The message as base64url text. `data_of`: the data of files, by attachment id."""
    return encoded(_message(payload, data_of).as_bytes(policy=policy.SMTP))


_SET_BY_CONTENT = ("content-type", "content-transfer-encoding", "mime-version", "content-disposition")


def _message(part: Mapping[str, Any], data_of: Mapping[str, str]) -> EmailMessage:
    message = EmailMessage(policy=policy.SMTP)
    for item in part.get("headers") or ():
        name, value = item.get("name") or "", " ".join((item.get("value") or "").split())
        if name and name.lower() not in _SET_BY_CONTENT and name not in message:
            message[name] = value
    if part.get("parts"):
        message["MIME-Version"] = "1.0"
        kind = part.get("mimeType") or ""
        message["Content-Type"] = kind if kind.startswith("multipart/") else "multipart/mixed"
        message.set_payload([_message(child, data_of) for child in part["parts"]])
        return message
    body = part.get("body") or {}
    data = data_of.get(body.get("attachmentId", ""), body.get("data", ""))
    main, _, sub = (part.get("mimeType") or "text/plain").partition("/")
    if main == "text" and not part.get("filename"):
        message.set_content(text_of(data), subtype=sub or "plain")
    else:
        message.set_content(
            decoded(data) or b"", maintype=main, subtype=sub or "octet-stream", filename=part.get("filename")
        )
    return message


def date_ms(text: str) -> int | None:
    """A Date header as milliseconds."""
    try:
        return round(parsedate_to_datetime(text).timestamp() * 1000)
    except (ValueError, TypeError, IndexError):
        return None
