"""What drive does beside single calls: who sees what, how searches read, where moved and deleted things go."""

import json

import pytest
from cases_drive import CASES
from small_drive import ulid

from robustops.gym.domains import load_toolbox
from robustops.gym.embedded import EmbeddedGym

FOLDER = "application/vnd.google-apps.folder"


@pytest.fixture
def opened(tmp_path):
    """Opens a session on the small database for whoever these headers name."""
    gym = EmbeddedGym(toolboxes=(load_toolbox("drive"),))
    return lambda context=None: gym.open(CASES.task(tmp_path, CASES.context if context is None else context))


async def reply(session, tool, **arguments):
    result = await session.call(tool, arguments)
    assert not result.is_error, result.text
    return json.loads(result.text) if result.text.startswith(("{", "[")) else result.text


async def refusal(session, tool, **arguments):
    result = await session.call(tool, arguments)
    assert result.is_error, result.text
    return result.text


async def ids(session, **arguments):
    return {file["id"] for file in (await reply(session, "list_files", **arguments))["files"]}


async def rows(session, sql):
    return (await session.query(sql))["data"]


# Everything that Ada may see: her own, what is shared with her, what her shared drive holds.
MINE = {"f-docs", "f-plan", "f-note", "f-bin", "f-inbin", "f-ben"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("name = 'Notes'", {"f-note"}),
        ("name contains 'PLAN'", {"f-plan", "f-ben"}),
        ("name != 'Notes' and 'root' in parents", {"f-docs", "f-bin", "f-ben"}),
        ("mimeType = 'application/pdf' and 'ada@nord.example' in owners", {"f-plan"}),
        ("'ben@nord.example' in readers", {"f-note", "f-ben"}),
        ("'ben@nord.example' in writers", {"f-ben"}),
        ("fullText contains 'big'", {"f-plan"}),
        ("'f-docs' in parents", {"f-plan"}),
        ("trashed = true", {"f-bin", "f-inbin"}),
        ("not trashed = true and starred = true", {"f-note"}),
        ("modifiedTime > '2026-05-03T08:00:00Z'", {"f-note", "f-ben"}),
        ("modifiedTime >= '2026-05-03T08:00:00' and modifiedTime < '2026-05-05'", {"f-plan", "f-note"}),
        ("sharedWithMe = true", {"f-ben"}),
        ("properties has { key='team' and value='north' }", {"f-plan"}),
        ("(name contains 'plan' or starred = true) and not 'f-docs' in parents", {"f-ben", "f-note"}),
        ("name = 'it\\'s'", set()),
    ],
)
async def test_a_search_finds_what_the_query_says(opened, query, expected):
    async with opened() as session:
        assert await ids(session, q=query) == expected


@pytest.mark.parametrize("query", ["name = ", "name like 'x'", "name contains 'x' and", "('x' in parents", "size > 5"])
async def test_a_query_outside_the_language_is_refused(opened, query):
    async with opened() as session:
        assert await refusal(session, "list_files", q=query) == f"Invalid query: {query}"


async def test_listings_show_what_the_caller_may_see(opened):
    async with opened() as session:
        assert await ids(session) == MINE
        assert await ids(session, corpora="allDrives") == MINE | {"f-team", "f-sheet"}
        assert await ids(session, corpora="drive", driveId="d-1") == {"f-team", "f-sheet"}
        assert await ids(session, trashed=False) == MINE - {"f-bin", "f-inbin"}
    async with opened({"x-whatever": "token-cy"}) as session:  # a commenter on the folder, and so on what is in it
        assert await ids(session) == {"f-docs", "f-plan"}
        assert (await reply(session, "create_comments", fileId="f-plan", content="Hm"))["author"][
            "displayName"
        ] == "Cy Doyle"
        assert "sufficient permissions" in await refusal(session, "update_files", fileId="f-plan", name="X")


async def test_without_a_token_the_user_marked_as_me_calls(opened):
    async with opened({}) as session:
        assert (await reply(session, "get_about"))["user"]["displayName"] == "Ada Berg"


async def test_pages_follow_each_other_to_the_end(opened):
    async with opened() as session:
        first = await reply(session, "list_files", pageSize=4, orderBy="folder,name desc")
        second = await reply(
            session, "list_files", pageSize=4, orderBy="folder,name desc", pageToken=first["nextPageToken"]
        )
    assert [file["id"] for file in first["files"] + second["files"]] == [
        *("f-bin", "f-docs"),
        *("f-ben", "f-plan", "f-inbin", "f-note"),
    ]
    assert "nextPageToken" not in second


async def test_a_moved_folder_takes_what_it_holds_along(opened):
    async with opened() as session:
        await reply(session, "update_files", fileId="f-docs", addParents="d-1")
        assert await rows(session, "SELECT id, drive_id, parent_ids FROM files WHERE id IN ('f-docs', 'f-plan')") == [
            {"id": "f-docs", "drive_id": "d-1", "parent_ids": "[]"},
            {"id": "f-plan", "drive_id": "d-1", "parent_ids": '["f-docs"]'},
        ]
        assert "moved into itself" in await refusal(session, "update_files", fileId="f-docs", addParents="f-docs")
        await reply(session, "update_files", fileId="f-docs", addParents="f-team")
        closure = await rows(
            session, "SELECT ancestor_id, depth FROM path_closure WHERE descendant_id = 'f-plan' ORDER BY depth"
        )
    assert [tuple(row.values()) for row in closure] == [("f-plan", 0), ("f-docs", 1), ("f-team", 2)]


async def test_a_file_leaves_a_folder_and_comes_back(opened):
    async with opened() as session:
        await reply(session, "update_files", fileId="f-plan", removeParents="f-docs")
        (row,) = await rows(session, "SELECT parent_id, parent_ids FROM files WHERE id = 'f-plan'")
        assert row == {"parent_id": None, "parent_ids": "[]"}
        back = await reply(session, "update_files", fileId="f-plan", addParents="f-docs,f-docs")
    assert back["parents"] == ["f-docs"]


async def test_the_trash_hides_and_gives_back(opened):
    async with opened() as session:
        await reply(session, "update_files", fileId="f-docs", trashed=True)
        assert (await reply(session, "get_files", fileId="f-plan"))["trashed"] is True  # it lies in a trashed folder
        (row,) = await rows(session, "SELECT trashed, explicitly_trashed, trashed_time FROM files WHERE id = 'f-docs'")
        assert row == {"trashed": 1, "explicitly_trashed": 1, "trashed_time": "2026-06-01 09:00:01"}
        back = await reply(session, "update_files", fileId="f-docs", trashed=False)
        assert (back["trashed"], back["trashedTime"]) == (False, None)


async def test_deleting_a_folder_deletes_all_that_it_holds(opened):
    async with opened() as session:
        await reply(session, "delete_files", fileId="f-docs")
        assert await rows(session, "SELECT id FROM files WHERE id IN ('f-docs', 'f-plan')") == []
        assert await rows(session, "SELECT id FROM revisions WHERE file_id = 'f-plan'") == []
        assert await rows(session, "SELECT * FROM path_closure") == []


async def test_one_who_has_access_gets_a_new_role_and_no_second_permission(opened):
    async with opened() as session:
        asked = {"fileId": "f-note", "role": "writer", "type": "user", "emailAddress": "BEN@nord.example"}
        assert (await reply(session, "create_permission", **asked))["id"] == "p-ben"
        found = await rows(session, "SELECT id, role FROM permissions WHERE file_id = 'f-note'")
    assert found == [{"id": "p-own", "role": "owner"}, {"id": "p-ben", "role": "writer"}]


async def test_ownership_moves_and_exactly_one_owner_remains(opened):
    async with opened() as session:
        asked = {"fileId": "f-plan", "role": "owner", "type": "user", "emailAddress": "ben@nord.example"}
        await reply(session, "create_permission", **asked, transferOwnership=True)
        file = await reply(session, "get_files", fileId="f-plan")  # the folder is still hers
    assert [owner["displayName"] for owner in file["owners"]] == ["Ben Costa"]
    assert file["ownedByMe"] is False


async def test_access_to_a_shared_drive_reaches_its_files(opened):
    async with opened() as session:
        for grant in ({"type": "user", "emailAddress": "cy@far.example"}, {"type": "domain", "domain": "else.example"}):
            await reply(session, "create_permission", fileId="d-1", role="commenter", **grant)
        inherited = (await reply(session, "list_permission", fileId="f-sheet"))["permissions"]
    assert [(one["type"], one["role"], one["permissionDetails"][0]["inheritedFrom"]) for one in inherited] == [
        ("user", "commenter", "d-1"),
        ("domain", "commenter", "d-1"),
    ]


async def test_the_same_request_makes_one_shared_drive(opened):
    async with opened() as session:
        first = await reply(session, "create_drive", requestId="r", name="Legal")
        again = await reply(session, "create_teamdrives", requestId="r", name="Other")
        assert first["id"] == again["id"]
        assert len(await rows(session, "SELECT id FROM drives WHERE request_id = 'r'")) == 1


async def test_a_full_drive_goes_only_by_an_administrator_who_says_so(opened):
    async with opened() as session:
        assert "untrashed" in await refusal(session, "delete_drive", driveId="d-1", useDomainAdminAccess=True)
        await reply(session, "delete_drive", driveId="d-1", useDomainAdminAccess=True, allowItemDeletion=True)
        assert await rows(session, "SELECT id FROM files WHERE drive_id = 'd-1'") == []


async def test_every_kind_of_label_has_its_own_column(opened):
    async with opened() as session:
        number = {"labelId": "l-2", "fieldModifications": [{"fieldId": "x", "setIntegerValues": ["40"]}]}
        unset = {"labelId": "l-1", "fieldModifications": [{"fieldId": "x", "unsetValues": True}]}
        await reply(session, "modify_files_labels", fileId="f-note", labelModifications=[number, unset])
        found = await rows(session, "SELECT label_id, value_enum, value_number FROM file_labels ORDER BY label_id")
    assert found == [
        {"label_id": "l-1", "value_enum": None, "value_number": None},
        {"label_id": "l-2", "value_enum": None, "value_number": 40.0},
    ]


async def test_changes_since_a_token_are_those_of_the_session(opened):
    async with opened() as session:
        token = (await reply(session, "get_changes_start_page_token"))["startPageToken"]
        made = await reply(session, "create_file", name="New", mimeType=FOLDER)
        await reply(session, "update_files", fileId="f-note", starred=False)
        page = await reply(session, "list_changes", pageToken=token, pageSize=1)
        last = await reply(session, "list_changes", pageToken=page["nextPageToken"])
        assert made["id"] == ulid(0)
    assert [change["fileId"] for change in page["changes"] + last["changes"]] == [made["id"], "f-note"]
    assert last["newStartPageToken"] > page["nextPageToken"] > token


async def test_a_restored_session_draws_the_same_ids_again(opened):
    async with opened() as session:
        before = await session.snapshot()
        first = await session.call("create_file", {"name": "New", "mimeType": FOLDER})
        await session.restore(before)
        assert (await session.call("create_file", {"name": "New", "mimeType": FOLDER})).text == first.text


async def test_comments_hide_what_was_deleted(opened):
    async with opened() as session:
        shown = await reply(session, "get_comments", fileId="f-note", commentId="c-3", includeDeleted=True)
        assert shown["deleted"] is True
        assert "content" not in shown
        await reply(session, "delete_comments", fileId="f-note", commentId="c-2")  # his comment, her file
        left = await reply(session, "list_comments", fileId="f-note")
    assert [comment["id"] for comment in left["comments"]] == ["c-1"]


async def test_a_shortcut_knows_its_target(opened):
    async with opened() as session:
        kind = "application/vnd.google-apps.shortcut"
        made = await reply(
            session, "create_file", name="To plan", mimeType=kind, shortcutDetails={"targetId": "f-plan"}
        )
        assert made["shortcutDetails"] == {"targetId": "f-plan", "targetMimeType": "application/pdf"}
        missing = await refusal(session, "create_file", name="To nowhere", mimeType=kind)
    assert missing == "shortcutDetails.targetId is required for a shortcut"
