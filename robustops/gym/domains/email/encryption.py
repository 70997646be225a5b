"""Client-side encryption: key pairs, and the identities that use them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from robustops.gym.domains.email.caller import mine, page, reading, touched, writing
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row
from robustops.gym.operations.rows import decoded

PAGE = 20
OFF_FOR = timedelta(days=30)


def _pair(row: Row) -> dict[str, Any]:
    subjects = row["subject_email_addresses"] or ""
    metadata = row["private_key_metadata"]
    return {
        "keyPairId": row["key_pair_id"],
        "pkcs7": row["pkcs7"],
        "pem": row["pem"],
        "subjectEmailAddresses": [part.strip() for part in subjects.split(",") if part.strip()],
        "enablementState": row["enablement_state"],
        "disableTime": row["disable_time"],
        "privateKeyMetadata": decoded(metadata) or [],
    }


def _pair_of(db: Records, key_pair_id: str) -> Row:
    row = db.first("cse_keypairs", {**mine(db), "key_pair_id": key_pair_id})
    if row is None:
        raise ToolFailure(f"Key pair not found: {key_pair_id}")
    return row


def _create_pair(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    pkcs7 = arguments["pkcs7"]
    if "-----BEGIN" not in pkcs7 or "-----END" not in pkcs7:
        raise ToolFailure("Invalid pkcs7: expected BEGIN and END lines")
    row = {**mine(db), "key_pair_id": f"kp_{db.ids.hex(32)}", "pkcs7": pkcs7}
    row |= {"subject_email_addresses": db.caller["primary_email"]}
    return _pair(db.add("cse_keypairs", {**row, "private_key_metadata": arguments.get("privateKeyMetadata")}))


def _get_pair(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _pair(_pair_of(db, arguments["keyPairId"]))


def _list_pairs(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    shown, more = page(db.find("cse_keypairs", mine(db)), arguments, size=PAGE)
    return {"cseKeyPairs": [_pair(row) for row in shown], **more}


def _set_state(db: Records, arguments: Mapping[str, Any], *, state: str, disabled_at: str | None) -> dict[str, Any]:
    row = _pair_of(db, arguments["keyPairId"])
    if row["enablement_state"] == state:
        raise ToolFailure(f"Key pair is already {state}: {row['key_pair_id']}")
    values = {"enablement_state": state, "disable_time": disabled_at, **touched(db)}
    db.change("cse_keypairs", {"id": row["id"]}, values)
    return _pair(_pair_of(db, row["key_pair_id"]))


def _disable(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _set_state(db, arguments, state="disabled", disabled_at=db.now)


def _enable(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _set_state(db, arguments, state="enabled", disabled_at=None)


def _obliterate(db: Records, arguments: Mapping[str, Any]) -> None:
    """Only a pair that has been off for more than 30 days."""
    row = _pair_of(db, arguments["keyPairId"])
    if row["enablement_state"] != "disabled" or not row["disable_time"]:
        raise ToolFailure(f"Key pair must be disabled first: {row['key_pair_id']}")
    since = datetime.fromisoformat(row["disable_time"]).replace(tzinfo=None)
    if datetime.fromisoformat(db.now) - since <= OFF_FOR:
        raise ToolFailure(f"Key pair must have been disabled for more than 30 days: {row['key_pair_id']}")
    db.remove("cse_keypairs", {"id": row["id"]})


def _identity(row: Row) -> dict[str, Any]:
    if row["primary_key_pair_id"]:
        return {"emailAddress": row["email_address"], "primaryKeyPairId": row["primary_key_pair_id"]}
    pairs = {"signingKeyPairId": row["signing_key_pair_id"], "encryptionKeyPairId": row["encryption_key_pair_id"]}
    return {"emailAddress": row["email_address"], "signAndEncryptKeyPairs": pairs}


def _identity_of(db: Records, email: str) -> Row:
    row = db.first("cse_identities", {**mine(db), "email_address": email})
    if row is None:
        raise ToolFailure(f"CSE identity not found: {email}")
    return row


def _key_columns(db: Records, arguments: Mapping[str, Any]) -> Row:
    """One pair for both, or one for each. Raises ToolFailure unless they are the caller's and enabled."""
    primary, both = arguments.get("primaryKeyPairId"), arguments.get("signAndEncryptKeyPairs")
    if bool(primary) == bool(both):
        raise ToolFailure("Exactly one of primaryKeyPairId or signAndEncryptKeyPairs is required")
    both = both or {}
    columns = {"primary_key_pair_id": primary, "signing_key_pair_id": both.get("signingKeyPairId")}
    columns |= {"encryption_key_pair_id": both.get("encryptionKeyPairId")}
    for key_pair_id in columns.values():
        if key_pair_id and _pair_of(db, key_pair_id)["enablement_state"] != "enabled":
            raise ToolFailure(f"Key pair is not enabled: {key_pair_id}")
    return columns


def _create_identity(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    email = arguments["emailAddress"]
    if email.lower() != (db.caller["primary_email"] or "").lower():
        raise ToolFailure(f"emailAddress must be your primary address: {email}")
    if db.count("cse_identities", {**mine(db), "email_address": email}):
        raise ToolFailure(f"CSE identity already exists: {email}")
    return _identity(db.add("cse_identities", {**mine(db), "email_address": email, **_key_columns(db, arguments)}))


def _get_identity(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return _identity(_identity_of(db, arguments["cseEmailAddress"]))


def _list_identities(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    shown, more = page(db.find("cse_identities", mine(db)), arguments, size=PAGE)
    return {"cseIdentities": [_identity(row) for row in shown], **more}


def _patch_identity(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    row = _identity_of(db, arguments["emailAddress"])
    db.change("cse_identities", {"id": row["id"]}, {**_key_columns(db, arguments), **touched(db)})
    return _identity(_identity_of(db, row["email_address"]))


def _delete_identity(db: Records, arguments: Mapping[str, Any]) -> None:
    db.remove("cse_identities", {"id": _identity_of(db, arguments["cseEmailAddress"])["id"]})


KINDS = {
    "create_key_pair": writing(_create_pair),
    "get_key_pair": reading(_get_pair),
    "list_key_pairs": reading(_list_pairs),
    "disable_key_pair": writing(_disable),
    "enable_key_pair": writing(_enable),
    "obliterate_key_pair": writing(_obliterate),
    "create_identity": writing(_create_identity),
    "get_identity": reading(_get_identity),
    "list_identities": reading(_list_identities),
    "patch_identity": writing(_patch_identity),
    "delete_identity": writing(_delete_identity),
}
