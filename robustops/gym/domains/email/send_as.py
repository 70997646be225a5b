"""Addresses that a user sends from, and the certificates that belong to them. One address is the default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.email.addresses import check_email, is_own_domain
from robustops.gym.domains.email.caller import mine, reading, touched, writing
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row
from robustops.gym.operations.rows import decoded

_TEXTS = {"displayName": "display_name", "replyToAddress": "reply_to_address", "signature": "signature"}
_OTHERS = {"treatAsAlias": "treat_as_alias", "smtpMsa": "smtp_msa"}
_SMIME = ("issuer_cn", "is_default", "expiration", "pem")


def _object(row: Row) -> dict[str, Any]:
    return {
        "sendAsEmail": row["send_as_email"],
        **{name: row[column] for name, column in _TEXTS.items()},
        **{name: bool(row[column]) for name, column in (("isPrimary", "is_primary"), ("isDefault", "is_default"))},
        "treatAsAlias": bool(row["treat_as_alias"]),
        "smtpMsa": decoded(row["smtp_msa"]),
        "verificationStatus": row["verification_status"],
    }


def _alias_of(db: Records, email: str) -> Row:
    row = db.first("send_as_aliases", {**mine(db), "send_as_email": email})
    if row is None:
        raise ToolFailure(f"Send-as alias not found: {email}")
    return row


def _values(arguments: Mapping[str, Any]) -> Row:
    """The password of the server is never kept where replies show it."""
    values = {column: arguments[name] for name, column in {**_TEXTS, **_OTHERS}.items() if name in arguments}
    if "smtp_msa" in values:
        values["smtp_msa"] = {name: value for name, value in values["smtp_msa"].items() if name != "password"}
    return values


def _make_default(db: Records, alias_id: str) -> None:
    others = db.find("send_as_aliases", {**mine(db), "is_default": 1})
    for row in others:
        if row["id"] != alias_id:
            db.change("send_as_aliases", {"id": row["id"]}, {"is_default": 0, **touched(db)})
    db.change("send_as_aliases", {"id": alias_id}, {"is_default": 1, **touched(db)})


def _create(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Pending until it is verified, unless it is of the caller's own domain."""
    email = arguments["sendAsEmail"]
    check_email(email)
    if db.count("send_as_aliases", {**mine(db), "send_as_email": email}):
        raise ToolFailure(f"Send-as alias already exists: {email}")
    status = "accepted" if is_own_domain(db, email) else "pending"
    row = {**mine(db), "send_as_email": email, "verification_status": status, **_values(arguments)}
    alias = db.add("send_as_aliases", row)
    if arguments.get("isDefault"):
        _make_default(db, alias["id"])
    return _object(_alias_of(db, email))


def _change(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Whether it is verified cannot be set, and a default is only given up to another address."""
    alias = _alias_of(db, arguments["sendAsEmail"])
    values = _values(arguments)
    if alias["is_primary"]:
        values = {column: value for column, value in values.items() if column in _TEXTS.values()}
    db.change("send_as_aliases", {"id": alias["id"]}, {**values, **touched(db)})
    if arguments.get("isDefault") and not alias["is_default"]:
        _make_default(db, alias["id"])
    return _object(_alias_of(db, arguments["sendAsEmail"]))


def _delete(db: Records, arguments: Mapping[str, Any]) -> None:
    """With its certificates. The primary address then is the default again."""
    alias = _alias_of(db, arguments["sendAsEmail"])
    if alias["is_primary"]:
        raise ToolFailure("The primary send-as address cannot be deleted")
    db.remove("send_as_aliases", {"id": alias["id"]})
    db.remove("smime_configs", {**mine(db), "send_as_email": alias["send_as_email"]})
    primary = db.first("send_as_aliases", {**mine(db), "is_primary": 1})
    if alias["is_default"] and primary is not None:
        _make_default(db, primary["id"])


def _verify(db: Records, arguments: Mapping[str, Any]) -> None:
    alias = _alias_of(db, arguments["sendAsEmail"])
    if alias["verification_status"] != "pending":
        raise ToolFailure(f"Verification status must be pending: {alias['send_as_email']}")
    db.change("send_as_aliases", {"id": alias["id"]}, {"verification_status": "accepted", **touched(db)})


def _certificate(row: Row) -> dict[str, Any]:
    names = ("issuerCn", "isDefault", "expiration", "pem")
    values: list[Any] = [row[column] for column in _SMIME]
    return {"id": row["id"], **dict(zip(names, values, strict=True)), "isDefault": bool(row["is_default"])}


def _certificates(db: Records, email: str) -> list[Row]:
    _alias_of(db, email)
    return db.find("smime_configs", {**mine(db), "send_as_email": email})


def _certificate_of(db: Records, arguments: Mapping[str, Any]) -> Row:
    for row in _certificates(db, arguments["sendAsEmail"]):
        if row["id"] == arguments["id"]:
            return row
    raise ToolFailure(f"S/MIME config not found: {arguments['id']}")


def _insert_smime(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The first one of an address is its default."""
    email = arguments["sendAsEmail"]
    known = _certificates(db, email)
    if not arguments.get("pem") and not arguments.get("pkcs12"):
        raise ToolFailure("Either pem or pkcs12 is required")
    row = {**mine(db), "send_as_email": email, "issuer_cn": arguments["issuerCn"], "pem": arguments.get("pem")}
    row |= {"expiration": arguments["expiration"], "pkcs12": arguments.get("pkcs12")}
    stored = db.add("smime_configs", {**row, "encrypted_key_password": arguments.get("encryptedKeyPassword")})
    if arguments.get("isDefault") or not known:
        _make_default_smime(db, stored)
    return _certificate(db.find("smime_configs", {"id": stored["id"]})[0])


def _make_default_smime(db: Records, chosen: Row) -> None:
    for row in db.find("smime_configs", {**mine(db), "send_as_email": chosen["send_as_email"], "is_default": 1}):
        if row["id"] != chosen["id"]:
            db.change("smime_configs", {"id": row["id"]}, {"is_default": 0, **touched(db)})
    db.change("smime_configs", {"id": chosen["id"]}, {"is_default": 1, **touched(db)})


def _list_smime(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"smimeInfo": [_certificate(row) for row in _certificates(db, arguments["sendAsEmail"])]}


def _get_smime(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _certificate(_certificate_of(db, arguments))


def _default_smime(db: Records, arguments: Mapping[str, Any]) -> None:
    _make_default_smime(db, _certificate_of(db, arguments))


def _delete_smime(db: Records, arguments: Mapping[str, Any]) -> None:
    db.remove("smime_configs", {"id": _certificate_of(db, arguments)["id"]})


KINDS = {
    "create_alias": writing(_create),
    "patch_alias": writing(_change),
    "update_alias": writing(_change),
    "delete_alias": writing(_delete),
    "verify_alias": writing(_verify),
    "insert_smime": writing(_insert_smime),
    "list_smime": reading(_list_smime),
    "get_smime": reading(_get_smime),
    "default_smime": writing(_default_smime),
    "delete_smime": writing(_delete_smime),
}
