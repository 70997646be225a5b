"""A domain declared in a few lines works; one declared wrongly says where."""

import json

import pytest

from robustops.gym.clock import VirtualClock
from robustops.gym.declaration import parse_domain
from robustops.gym.engine import Engine
from robustops.gym.operations import KINDS
from robustops.gym.seed import build_seed
from robustops.gym.toolbox import Toolbox

HEADER = """
name: library
servers: [library-server]
caller: {header: x-reader, table: reader, column: email, fallback: 1}
enums: {shelf: [fiction, science]}
"""
TABLES = """
reader: {key: reader_id, columns: {reader_id: integer, email: text}}
book:
  key: book_id
  ids: "B-{:02d}"
  unique: [[title]]
  columns:
    book_id: text | Id of the book.
    title: text | Title.
    shelf: enum=shelf default=fiction | Where it stands.
    pages: integer | Number of pages.
    reader_id: integer ref=reader caller=reader_id
    borrowed_at: timestamp stamp=default
"""
TOOLS = """
find_book: {does: get, table: book, doc: Find a book., params: {title: required nonempty same_text}, reply: row}
list_books: {does: list, table: book, doc: List., params: {longer_than: after pages, shelf}, reply: [title, pages]}
add_book: {does: create, table: book, doc: Add a book., params: {title: required, shelf, pages: lowest 1}, reply: row}
"""
SEED = """INSERT INTO reader VALUES (1, 'ada@desk.example');
INSERT INTO book (book_id, title, shelf, pages) VALUES
('B-01', 'Ice', 'fiction', 90), ('B-07', 'Light', 'science', 200);"""


def declared(header=HEADER, tables=TABLES, tools=TOOLS):
    return parse_domain(header, table_files=[tables], tool_files=[tools], kinds=KINDS)


@pytest.fixture
def engine():
    domain = declared()
    opened = Engine(Toolbox(domain, KINDS), build_seed(domain, SEED), VirtualClock(), {})
    yield opened
    opened.close()


def test_three_declared_tools_find_list_and_create(engine):
    assert json.loads(engine.call("find_book", {"title": "ICE"}).text)["book_id"] == "B-01"
    assert json.loads(engine.call("list_books", {"longer_than": 90}).text) == [{"title": "Light", "pages": 200}]
    assert json.loads(engine.call("add_book", {"title": "Rain"}).text) == {
        "book_id": "B-08",
        "title": "Rain",
        "shelf": "fiction",
        "pages": None,
        "reader_id": 1,
        "borrowed_at": "2026-06-01 09:00:01",
    }


def test_schemas_follow_from_the_columns():
    tools = declared().tools
    assert tools["list_books"].input_schema == {
        "type": "object",
        "properties": {
            "longer_than": {
                "type": "integer",
                "description": "Number of pages. Only rows after this time (YYYY-MM-DD HH:MM:SS).",
            },
            "shelf": {"type": "string", "enum": ["fiction", "science"], "description": "Where it stands."},
        },
    }
    assert tools["find_book"].input_schema["required"] == ["title"]
    assert tools["add_book"].input_schema["properties"]["title"] == {"type": "string", "description": "Title."}


@pytest.mark.parametrize(
    ("part", "old", "new", "message"),
    [
        ("tables", "pages: integer", "pages: number", r"book\.pages: type 'number'"),
        ("tables", "default=fiction", "standard=fiction", r"book\.shelf: unknown option standard"),
        ("tools", "does: get", "does: fetch", "find_book: does 'fetch', expected one of get, list"),
        ("tools", "after pages", "beyond pages", r"list_books\.longer_than: unknown word 'beyond'"),
        ("tools", "title: required,", "titel: required,", r"add_book\.titel: 'titel' is no column of table book"),
        ("tools", "lowest 1", "lowest", r"add_book\.pages: unknown word 'lowest', or nothing after it"),
        ("tools", "[title, pages]", "[title, author]", "list_books: reply column 'author' is not in table book"),
        ("tools", "add_book:", "find_book:", "find_book: declared twice"),
    ],
)
def test_a_wrong_declaration_names_the_entry(part, old, new, message):
    text = {"tables": TABLES, "tools": TOOLS}[part]
    assert old in text
    with pytest.raises(ValueError, match=message):
        declared(**{part: text.replace(old, new)})


def test_a_tool_in_two_files_is_refused():
    with pytest.raises(ValueError, match="find_book: declared twice"):
        parse_domain(HEADER, table_files=[TABLES], tool_files=[TOOLS, TOOLS], kinds=KINDS)
