"""Searching mail: what each term of the search text finds, and what no text can break."""

import pytest
from cases_email import CASES
from email_reads import ME
from email_session import found, reply
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robustops.gym.embedded import EmbeddedGym


@pytest.fixture
async def session(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("", "plan reply disk"),
        ("DISK", "reply disk"),
        ('"disk is"', "disk"),
        ("disk look", "reply"),
        ("from:bob", "disk"),
        ("from:ann to:bob", "plan reply"),
        ("cc:ops@", "disk"),
        ("subject:(disk re)", "reply"),
        ("subject:{plan full}", "plan reply disk"),
        ('subject:"disk full"', "reply disk"),
        ("label:ops-night", "disk"),
        ("label:l-ops", "disk"),
        ("label:nothing", ""),
        ("in:inbox", "disk"),
        ("in:sent", "reply"),
        ("in:drafts", "plan"),
        ("is:unread", "disk"),
        ("is:read", "plan reply"),
        ("is:starred", ""),
        ("in:trash", "spam"),
        ("in:anywhere", "plan reply disk spam"),
        ("in:anywhere from:shop", "spam"),
        ("offer", ""),
        ("has:attachment", "disk"),
        ("filename:DISK", "disk"),
        ("filename:report", ""),
        ("after:2025/09/03", "plan reply"),  # disk: 2025-09-02 08:00, reply: 2025-09-03 08:00, plan: 2025-09-04 15:33
        ("before:2025-09-03", "disk"),
        ("after:1756886400", "plan reply"),
        ("newer_than:271d", "plan"),  # a session starts at 2026-06-01 09:00, 271 days after 2025-09-03 09:00
        ("newer_than:272d", "plan reply"),
        ("newer_than:273d", "plan reply disk"),
        ("older_than:1y", ""),
        ("larger:600", "disk"),
        ("smaller:1K -from:bob", "plan reply"),
        ("size:300", "reply"),
        ("-disk", "plan"),
        ("-is:unread -in:drafts", "reply"),
        ("plan OR from:bob", "plan disk"),
        ("plan OR from:bob disk", "plan disk"),
        ("(plan OR from:bob) from:ann", "plan"),
        ("{from:bob subject:plan}", "plan disk"),
        ("NOT disk", "plan"),
        ("-(disk OR plan)", ""),
        ("-{plan from:bob}", "reply"),
        ("100%", ""),
        ("note:plan", ""),
        ("after:soon", ""),
        ("((disk", "reply disk"),
        ("disk))", "reply disk"),
        ("()", "plan reply disk"),
    ],
)
async def test_a_search_finds_what_it_says(session, q, expected):
    assert await found(session, q) == expected


async def test_labels_of_the_argument_must_all_hold_and_trash_is_seen_when_asked_for(session):
    assert await found(session, "", labelIds=["INBOX", "l-ops"]) == "disk"
    assert await found(session, "", labelIds=["INBOX", "SENT"]) == ""
    assert await found(session, "", labelIds=["TRASH"]) == "spam"
    assert await found(session, "", includeSpamTrash=True) == "plan reply disk spam"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    q=st.lists(
        st.sampled_from(["disk", "OR", "(", ")", "{", "}", "-", "is:unread", "from:", '"', "a:b:c", "NOT", "é", "%"]),
        max_size=8,
    ).map(" ".join)
)
async def test_any_text_can_be_searched_for_and_what_it_does_not_find_its_negation_does(tmp_path, q):
    async with EmbeddedGym().open(CASES.task(tmp_path)) as session:
        matching = set((await found(session, q, includeSpamTrash=True)).split())
        assert matching <= {"plan", "reply", "disk", "spam"}
        if q.count("(") == q.count(")") == q.count('"') == q.count("{") == q.count("}") == 0 and q.split()[-1:] != [
            "NOT"
        ]:
            others = set((await found(session, f"-({q})", includeSpamTrash=True)).split())
            if matching != {"plan", "reply", "disk", "spam"}:
                assert matching | others == {"plan", "reply", "disk", "spam"}
                assert not matching & others


async def test_pages_follow_each_other(session):
    first = await reply(session, "list_messages", {**ME, "maxResults": 2})
    second = await reply(session, "list_messages", {**ME, "maxResults": 2, "pageToken": first["nextPageToken"]})
    assert [message["id"] for message in first["messages"] + second["messages"]] == ["m-plan", "m-reply", "m-disk"]
    assert "nextPageToken" not in second
