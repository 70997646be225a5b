"""What the email's cases do not show: both forms of a message, counters, drafts, history, other users."""

import base64
import json
from email import message_from_bytes, policy

import pytest
from cases_email import CASES
from email_mail_writes import RAW, WITH_FILE, payload
from email_reads import ME
from email_seed import FILE, SEED
from email_session import found, reply, rows
from hypothesis import given
from hypothesis import strategies as st

from robustops.core.task import GymServer, Task
from robustops.gym.domains.email.mime import content_of, decoded, encoded, raw_of, text_of
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.operations.kind import ToolFailure

COUNTERS = """SELECT l.id, l.messages_total, l.messages_unread, l.threads_total, l.threads_unread,
  COUNT(m.id), COUNT(CASE WHEN u.label_id IS NOT NULL THEN 1 END), COUNT(DISTINCT m.thread_id),
  COUNT(DISTINCT CASE WHEN u.label_id IS NOT NULL THEN m.thread_id END)
FROM labels AS l LEFT JOIN message_labels AS ml ON ml.label_id = l.id
LEFT JOIN messages AS m ON m.id = ml.message_id AND m.user_id = l.user_id
LEFT JOIN message_labels AS u ON u.message_id = m.id AND u.label_id = 'UNREAD' GROUP BY l.id, l.user_id"""


@pytest.fixture
async def session(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path)) as opened:
        yield opened


async def test_counters_equal_the_mailbox_after_any_history(session):
    label = (await reply(session, "create_label", {**ME, "name": "New"}))["id"]
    steps = [
        ("send_message", {**ME, "payload": payload(To="bob@mail.example", Subject="a"), "labelIds": [label]}),
        ("import_message", {"raw": RAW}),
        ("insert_message", {"payload": payload(Subject="b"), "threadId": "t-disk", "labelIds": ["UNREAD", label]}),
        ("modify_thread", {**ME, "id": "t-disk", "addLabelIds": [label], "removeLabelIds": ["INBOX"]}),
        ("batch_modify_messages", {"ids": ["m-disk", "m-plan"], "addLabelIds": ["UNREAD", "l-old"]}),
        ("create_draft", {"message": {"payload": WITH_FILE}}),
        ("trash_message", {**ME, "id": "m-reply"}),
        ("untrash_message", {**ME, "id": "m-spam"}),
        ("send_draft", {"id": "d-plan", "message": {"payload": payload(Cc="bob@mail.example")}}),
        ("delete_message", {"id": "m-disk"}),
        ("delete_label", {**ME, "id": "l-ops"}),
        ("delete_thread", {**ME, "id": "t-old"}),
    ]
    for name, arguments in steps:
        await reply(session, name, arguments)
        for _, *counts in await rows(session, COUNTERS):
            assert counts[:4] == counts[4:], name
    assert await rows(session, "SELECT COUNT(*) - COUNT(DISTINCT message_id || label_id) FROM message_labels") == [(0,)]
    totals = await rows(session, "SELECT messages_total, threads_total FROM users WHERE id = 'user_001'")
    assert totals == await rows(
        session, "SELECT COUNT(*), COUNT(DISTINCT thread_id) FROM messages WHERE user_id = 'user_001'"
    )


async def test_raw_text_and_payload_are_two_forms_of_the_same_message(session):
    message_id = (await reply(session, "import_message", {"raw": RAW}))["id"]
    full = await reply(session, "get_message", {"id": message_id})
    assert [(item["name"], item["value"]) for item in full["payload"]["headers"]][:3] == [
        ("From", "shop@out.example"),
        ("To", "ann@mail.example"),
        ("Subject", "Bill"),
    ]
    assert text_of(full["payload"]["body"]["data"]).strip() == "Please pay."
    raw = (await reply(session, "get_message", {"id": message_id, "format": "raw"}))["raw"]
    again = message_from_bytes(base64.urlsafe_b64decode(raw), policy=policy.default)
    assert (again["Subject"], again.get_content().strip()) == ("Bill", "Please pay.")
    minimal = await reply(session, "get_message", {"id": message_id, "format": "minimal"})
    assert not {"payload", "raw"} & minimal.keys()


async def test_files_of_a_draft_are_stored_apart_and_come_back_in_the_raw_form(session):
    draft = await reply(session, "create_draft", {"message": {"payload": WITH_FILE}})
    full = (await reply(session, "get_draft", {"id": draft["id"]}))["message"]
    text, file = full["payload"]["parts"]
    assert (text["partId"], text["body"]["data"]) == ("0", "U2VlIGJlbG93Lg==")
    assert file["body"].keys() == {"attachmentId", "size"}
    asked = {**ME, "messageId": full["id"], "id": file["body"]["attachmentId"]}
    assert (await reply(session, "get_attachment", asked))["data"] == FILE
    raw = (await reply(session, "get_draft", {"id": draft["id"], "format": "raw"}))["message"]["raw"]
    (attached,) = message_from_bytes(base64.urlsafe_b64decode(raw), policy=policy.default).iter_attachments()
    assert (attached.get_filename(), attached.get_content()) == ("disk.txt", "Disk report")


async def test_new_content_of_a_draft_takes_the_place_of_the_old_with_its_files(session):
    draft = await reply(session, "create_draft", {"message": {"payload": WITH_FILE}})
    change = {"id": draft["id"], "message": {"id": draft["message"]["id"], "payload": payload(To="bob@mail.example")}}
    changed = await reply(session, "update_draft", change)
    assert changed["message"]["id"] == draft["message"]["id"]
    assert await rows(session, "SELECT COUNT(*) FROM attachments") == [(1,)]  # the seed's
    sent = await reply(session, "send_draft", {"id": draft["id"], "message": {"id": draft["message"]["id"]}})
    assert sent["labelIds"] == ["SENT"]
    assert await rows(session, f"SELECT snippet FROM messages WHERE id = '{sent['id']}'") == [("See you at nine.",)]
    assert (await session.call("get_draft", {"id": draft["id"]})).is_error


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1), st.binary(min_size=1))
def test_any_text_and_any_file_survive_the_payload(text, data):
    body = {"data": encoded(text.encode()), "size": 1}
    file = {"filename": "a.bin", "mimeType": "application/octet-stream", "body": {"data": encoded(data), "size": 1}}
    parts = [{"mimeType": "text/plain", "body": body}, file]
    content = content_of({"payload": {"headers": [{"name": "To", "value": "a@b.c"}], "parts": parts}})
    assert content.body == text
    assert (content.files[0].size, decoded(content.files[0].data)) == (len(data), data)
    assert len(content.snippet) <= 100


def test_a_raw_message_is_written_with_the_data_of_its_files():
    content = content_of({"payload": WITH_FILE})
    shown = json.loads(json.dumps(content.payload).replace('"file": 0', '"attachmentId": "f"'))
    message = message_from_bytes(base64.urlsafe_b64decode(raw_of(shown, {"f": FILE})), policy=policy.default)
    assert message["Subject"] == "Report"
    assert message.get_body().get_content().strip() == "See below."


@pytest.mark.parametrize(
    "message", [{}, {"raw": RAW, "payload": WITH_FILE}, {"payload": {"headers": []}}, {"raw": "?"}]
)
def test_a_message_has_exactly_one_readable_form(message):
    with pytest.raises(ToolFailure):
        content_of(message)


async def test_plain_text_that_is_no_base64_is_taken_as_it_is(session):
    sent = await reply(session, "send_message", {**ME, "payload": payload(To="bob@mail.example")})
    full = await reply(session, "get_message", {"id": sent["id"]})
    assert full["payload"]["body"]["data"] == "See you at nine."
    assert full["snippet"] == "See you at nine."


async def test_nobody_else_gets_a_message_that_is_sent(session):
    before = await rows(session, "SELECT * FROM messages WHERE user_id = 'user_002'")
    await reply(session, "send_message", {**ME, "payload": payload(To="bob@mail.example")})
    assert await rows(session, "SELECT * FROM messages WHERE user_id = 'user_002'") == before


async def test_history_tells_each_change_in_its_order(session):
    await reply(session, "modify_message", {**ME, "id": "m-disk", "removeLabelIds": ["UNREAD"]})
    await reply(session, "delete_message", {"id": "m-disk"})
    history = await reply(session, "list_history", {**ME, "startHistoryId": "h-2"})
    assert [sorted(record.keys() - {"id", "messages"}) for record in history["history"]] == [
        ["labelsRemoved"],
        ["messagesDeleted"],
    ]
    assert history["history"][0]["labelsRemoved"] == [
        {"message": {"id": "m-disk", "threadId": "t-disk"}, "labelIds": ["UNREAD"]}
    ]
    assert history["historyId"] == history["history"][-1]["id"]
    typed = {**ME, "startHistoryId": "", "historyTypes": ["messageDeleted"]}
    assert len((await reply(session, "list_history", typed))["history"]) == 1
    assert (await reply(session, "list_history", {**ME, "startHistoryId": history["historyId"]}))["history"] == []
    unread = await reply(session, "list_history", {**ME, "startHistoryId": "", "labelId": "UNREAD"})
    assert [record["messages"][0]["id"] for record in unread["history"]] == ["m-disk"] * 2


async def test_a_filter_leaves_stored_mail_alone(session):
    before = await rows(session, "SELECT * FROM message_labels")
    action = {"addLabelIds": ["l-old"]}
    criteria = dict.fromkeys(("from", "to", "subject", "query", "negatedQuery"), "")
    criteria |= {"hasAttachment": True, "excludeChats": False, "size": 1, "sizeComparison": "larger"}
    await reply(session, "create_filter", {**ME, "criteria": criteria, "action": action})
    assert await rows(session, "SELECT * FROM message_labels") == before


async def test_an_alias_that_was_just_created_can_be_verified_once(session):
    alias = {**ME, "sendAsEmail": "pr@out.example"}
    assert (await reply(session, "create_send_as_alias", alias))["verificationStatus"] == "pending"
    await reply(session, "verify_send_as_alias", alias)
    assert (await reply(session, "get_send_as_alias", alias))["verificationStatus"] == "accepted"
    assert (await session.call("verify_send_as_alias", alias)).is_error


async def test_exactly_one_alias_is_the_default(session):
    default = "SELECT send_as_email FROM send_as_aliases WHERE is_default"
    await reply(session, "patch_send_as_alias", {**ME, "sendAsEmail": "ann@mail.example", "isDefault": True})
    assert await rows(session, default) == [("ann@mail.example",)]
    await reply(session, "patch_send_as_alias", {**ME, "sendAsEmail": "ann@mail.example", "isDefault": False})
    assert await rows(session, default) == [("ann@mail.example",)]


async def test_system_labels_without_a_row_can_be_used_and_cannot_be_made(session):
    await reply(session, "modify_message", {**ME, "id": "m-disk", "addLabelIds": ["STARRED"]})
    assert await found(session, "is:starred") == "disk"
    for name in ("Starred", "inbox", " "):
        assert (await session.call("create_label", {**ME, "name": name})).is_error


async def test_another_user_sees_another_mailbox_even_under_the_same_label_ids(tmp_path):
    sql = SEED.replace("i-bob", "INBOX")  # system labels have the same ids in every mailbox
    (tmp_path / "seed.sql").write_text(sql)
    server = GymServer(name="gym-email-mcp", seed_file="seed.sql", context={"x-email-user-token": "token-bob"})
    task = Task(
        task_id="bob",
        domain="email",
        policy="",
        request="",
        tools=(),
        servers=(server,),
        checks=(),
        seed_root=str(tmp_path),
    )
    async with EmbeddedGym().open(task) as session:
        assert await found(session, "") == "bob"
        await reply(session, "modify_message", {**ME, "id": "m-bob", "addLabelIds": ["UNREAD"]})
        inbox = "SELECT user_id, messages_total, messages_unread FROM labels WHERE id = 'INBOX' ORDER BY user_id"
        assert await rows(session, inbox) == [("user_001", 1, 1), ("user_002", 1, 1)]
        assert (await session.call("get_message", {"id": "m-disk"})).text == "Message not found: m-disk"


async def test_an_unknown_token_is_refused_and_none_means_the_first_user(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path, {"x-email-user-token": "nobody"})) as session:
        assert (await session.call("list_labels", ME)).text == "Invalid or expired user token"
    async with EmbeddedGym().open(CASES.task(tmp_path, {"x-other": "1"})) as session:
        assert (await reply(session, "get_user_profile", ME))["emailAddress"] == "ann@mail.example"


async def test_columns_of_a_seed_that_the_schema_lacks_come_along(tmp_path):
    more = "INSERT INTO messages (id, user_id, thread_id, priority) VALUES ('m-x', 'user_001', 't-disk', 'high');"
    (tmp_path / "email-cases.sql").write_text(SEED + more)
    task = CASES.task(tmp_path)
    (tmp_path / "email-cases.sql").write_text(SEED + more)
    async with EmbeddedGym().open(task) as session:
        assert await rows(session, "SELECT priority FROM messages WHERE id = 'm-x'") == [("high",)]
        await reply(session, "modify_message", {**ME, "id": "m-x", "addLabelIds": ["l-old"]})
        assert (await reply(session, "get_message", {"id": "m-x"}))["labelIds"] == ["l-old"]


async def test_payloads_of_a_seed_may_lack_fields_or_be_no_json(tmp_path):
    task = CASES.task(tmp_path)
    bare = '{"headers": [{"name": "Subject", "value": "Bare"}], "parts": [{"body": {"data": "SGk="}}]}'
    (tmp_path / "email-cases.sql").write_text(
        f"{SEED}UPDATE messages SET payload = '{bare}' WHERE id = 'm-plan';"
        "UPDATE messages SET payload = 'none' WHERE id = 'm-disk'; UPDATE history SET label_ids = 'x';"
        "UPDATE messages SET internal_date = '2025-09-02T08:00:00' WHERE id = 'm-disk';"
    )
    async with EmbeddedGym().open(task) as session:
        for form in ("full", "raw", "metadata", "minimal"):
            for message_id in ("m-plan", "m-disk"):
                await reply(session, "get_message", {"id": message_id, "format": form})
        raw = (await reply(session, "get_message", {"id": "m-plan", "format": "raw"}))["raw"]
        assert message_from_bytes(base64.urlsafe_b64decode(raw), policy=policy.default)["Subject"] == "Bare"
        disk = await reply(session, "get_message", {"id": "m-disk"})
        assert disk["internalDate"] == "1756800000000"
        assert disk["payload"]["body"]["data"] == "The disk is full."
        assert await found(session, "before:2025-09-03") == "disk"
        assert len((await reply(session, "list_history", {**ME, "startHistoryId": ""}))["history"]) == 2
