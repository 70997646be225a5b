"""Long-running operations, apps, and who the caller is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.drive.access import known_file
from robustops.gym.domains.drive.wire import FOLDER, WORKSPACE, decoded, new_id, parts, shown_time, user_item
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

QUOTA_BYTES = 15 * 2**30
_DEFAULT_ABOUT = ("kind", "user", "storageQuota")
_FIELD = re.compile(r"\s*([\w*]+)(?:\.([\w.]+)|\(([^()]*)\))?\s*(?:,|$)")
_APP_LISTS = {
    "primaryMimeTypes": "primary_mime_types",
    "secondaryMimeTypes": "secondary_mime_types",
    "primaryFileExtensions": "primary_file_extensions",
    "secondaryFileExtensions": "secondary_file_extensions",
    "icons": "icons",
}
_APP_FLAGS = {
    "supportsCreate": "supports_create",
    "supportsImport": "supports_import",
    "supportsMultiOpen": "supports_multi_open",
    "supportsOfflineCreate": "supports_offline_create",
    "hasDriveWideScope": "has_drive_wide_scope",
    "installed": "installed",
    "authorized": "authorized",
    "useByDefault": "use_by_default",
}
_APP_TEXTS = {
    "id": "id",
    "name": "name",
    "objectType": "object_type",
    "productId": "product_id",
    "productUrl": "product_url",
    "createUrl": "create_url",
    "createInFolderTemplate": "create_in_folder_template",
    "openUrlTemplate": "open_url_template",
    "shortDescription": "short_description",
    "longDescription": "long_description",
}


def _app_item(app: Row) -> dict[str, Any]:
    return {
        "kind": "drive#app",
        **{name: app[column] for name, column in _APP_TEXTS.items()},
        **{name: bool(app[column]) for name, column in _APP_FLAGS.items()},
        **{name: decoded(app[column]) or [] for name, column in _APP_LISTS.items()},
    }


def _get_app(records: Records, arguments: Mapping[str, Any]) -> Any:
    app = records.first("apps", {"id": arguments["appId"]})
    if app is None:
        raise ToolFailure(f"App not found: {arguments['appId']}")
    return _app_item(app)


def _list_apps(records: Records, arguments: Mapping[str, Any]) -> Any:
    """Those that open any of the extensions or kinds asked for, as their main or their second purpose."""
    items = [_app_item(app) for app in records.find("apps", order="name, rowid")]
    extensions = {one.lstrip(".").lower() for one in parts(arguments.get("appFilterExtensions"))}
    kinds = set(parts(arguments.get("appFilterMimeTypes")))
    if extensions or kinds:
        items = [
            item for item in items if _opened(item, "FileExtensions") & extensions or _opened(item, "MimeTypes") & kinds
        ]
    return {"kind": "drive#appList", "items": items}


def _opened(item: Mapping[str, Any], what: str) -> set[str]:
    return {str(one).lstrip(".").lower() for rank in ("primary", "secondary") for one in item[f"{rank}{what}"]}


def _operation_item(operation: Row) -> dict[str, Any]:
    item = {
        "name": operation["name"],
        "done": operation["status"] in ("done", "error"),
        "metadata": decoded(operation["operation_metadata"]),
    }
    if operation["error_data"]:
        return {**item, "error": decoded(operation["error_data"])}
    return {**item, "response": decoded(operation["response_data"])} if item["done"] else item


def _get_operation(records: Records, arguments: Mapping[str, Any]) -> Any:
    operation_id = arguments["name"].removeprefix("operations/")
    found = records.first("operations", {"id": operation_id})
    for name in (arguments["name"], operation_id):
        found = found or records.first("operations", {"name": name})
    if found is None:
        raise ToolFailure(f"Operation not found: {arguments['name']}")
    return _operation_item(found)


def _start(records: Records, file: Row, kind: str, metadata: Mapping[str, Any]) -> Any:
    operation_id = new_id(records)
    operation = records.add(
        "operations",
        {
            "id": operation_id,
            "name": f"operations/{operation_id}",
            "operation_type": kind,
            "status": "done",
            "operation_metadata": {"fileId": file["id"], **metadata},
            "response_data": {"downloadUri": f"https://drive.google.com/{kind}/{operation_id}"},
            "completed_at": records.now,
        },
    )
    return _operation_item(operation)


def _export(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = known_file(records, arguments["fileId"])
    if not file["mime_type"].startswith(WORKSPACE) or file["mime_type"] == FOLDER:
        raise ToolFailure(f"Export only supports Workspace documents: {file['id']}")
    return _start(records, file, "export", {"mimeType": arguments["mimeType"]})


def _download(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = known_file(records, arguments["fileId"])
    if file["mime_type"] == FOLDER:
        raise ToolFailure(f"Folders cannot be downloaded: {file['id']}")
    metadata = {"mimeType": arguments.get("mimeType", file["mime_type"])}
    if revision_id := arguments.get("revisionId"):
        if records.first("revisions", {"id": revision_id, "file_id": file["id"], "deleted": 0}) is None:
            raise ToolFailure(f"Revision not found: {revision_id}")
        metadata["revisionId"] = revision_id
    return _start(records, file, "download", metadata)


def _about(records: Records, arguments: Mapping[str, Any]) -> Any:
    own = records.find("files", {"created_by": records.caller["id"], "drive_id": None})
    used = sum(file["quota_bytes_used"] or 0 for file in own)
    in_trash = sum(file["quota_bytes_used"] or 0 for file in own if file["trashed"])
    everything: dict[str, Any] = {
        "kind": "drive#about",
        "user": user_item(records, records.caller["id"]),
        "storageQuota": {
            "limit": str(QUOTA_BYTES),
            "usage": str(used),
            "usageInDrive": str(used),
            "usageInDriveTrash": str(in_trash),
        },
        "maxUploadSize": str(5 * 2**40),
        "appInstalled": False,
        "canCreateDrives": True,
        "canCreateTeamDrives": True,
        "serverTime": shown_time(records.now),
    }
    text = arguments.get("fields")
    if text is None:
        return {name: everything[name] for name in _DEFAULT_ABOUT}
    return _chosen(everything, text)


def _chosen(everything: Mapping[str, Any], text: str) -> dict[str, Any]:
    """`*`, names, `a.b` and `a(b,c)`, separated by commas. Raises ToolFailure for what is none of these."""
    found: dict[str, Any] = {}
    position = 0
    while position < len(text):
        match = _FIELD.match(text, position)
        if match is None or not (match[1] == "*" or match[1] in everything):
            raise ToolFailure(f"Invalid field selection: {text[position:]}")
        position = match.end()
        if match[1] == "*":
            return dict(everything)
        inner = parts(match[3]) or parts(match[2])
        value = everything[match[1]]
        if not inner:
            found[match[1]] = value
        elif not isinstance(value, dict) or not set(inner) <= value.keys():
            raise ToolFailure(f"Invalid field selection: {match[0].strip(', ')}")
        else:
            found.setdefault(match[1], {}).update({name: value[name] for name in inner})
    return found


KINDS = {
    "get_operations": reading(_get_operation),
    "export_files": writing(_export),
    "download_files": writing(_download),
    "get_about": reading(_about),
    "get_app": reading(_get_app),
    "list_apps": reading(_list_apps),
}
