"""Reading tables: every error names the file, the line, the key, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.core.schema import Reader, Source
from evalgate.errors import UsageError


def read(text: str, *path: str) -> Reader:
    """Parse a text and go down to one of its tables."""
    source = Source("evalgate.toml", text)
    reader = Reader(source.parse(), source)
    for key in path:
        reader = reader.table(key)
    return reader


def refused(call: Callable[[], object]) -> UsageError:
    """Return the error of a call."""
    with pytest.raises(UsageError) as caught:
        call()
    return caught.value


def test_what_is_no_toml_names_file_and_line() -> None:
    """A syntax error says where it is."""
    error = refused(lambda: Source("a.toml", "x = 1\ny = = 2\n").parse())
    assert error.message.startswith("a.toml: ")
    assert "line 2" in error.message


@pytest.mark.parametrize("text", ["x = " + "9" * 5000, "x = " + "[" * 5000], ids=["9s", "[s"])
def test_what_the_parser_chokes_on_is_a_wrong_file(text: str) -> None:
    """An absurd number or absurd nesting is the file's fault, not ours."""
    assert refused(Source("a.toml", text).parse).message.startswith("a.toml: ")


@pytest.mark.parametrize(
    ("read_value", "words"),
    [
        (lambda r: r.text("k"), "must be a string, not 1"),
        (lambda r: r.flag("k", default=True), "must be true or false, not 1"),
        (lambda r: r.texts("k"), "must be a list of strings, not 1"),
        (lambda r: r.table("k"), "must be a table"),
        (lambda r: r.tables("k"), "must be a list of tables"),
        (lambda r: r.choice("k", "a", ("a", "b")), "must be a string, not 1"),
        (lambda r: r.number("k", low=2), "must be a number of at least 2, not 1"),
        (lambda r: r.integer("k", low=2), "must be a whole number of at least 2, not 1"),
    ],
)
def test_a_wrong_type_is_named(read_value: Callable[[Reader], object], words: str) -> None:
    """Each reader says what it wants and what it got, at the line of the key."""
    error = refused(lambda: read_value(read("a = 1\n\n[t]\nk = 1\n", "t")))
    assert error.message == f"evalgate.toml:4: t.k: {words}"


@pytest.mark.parametrize(
    "value", ["nan", "inf", "-inf", "-1", "-0.5", "true", '"1"', "1" + "0" * 400, "0x" + "f" * 5000]
)
def test_a_number_is_finite_and_not_negative(value: str) -> None:
    """NaN, infinities, negative numbers, flags, text and what no float holds are refused."""
    error = refused(lambda: read(f"k = {value}").number("k"))
    assert error.message.startswith("evalgate.toml:1: k: must be a number of at least 0, not ")


@pytest.mark.parametrize("value", ["1.0", "true", "-1", "0", '"1"', "1979-05-27"])
def test_a_whole_number_is_an_integer_of_the_least_size(value: str) -> None:
    """A float, a flag, text or a date is no whole number."""
    error = refused(lambda: read(f"k = {value}").integer("k", low=1))
    assert "k: must be a whole number of at least 1" in error.message


def test_a_list_of_something_else_is_refused() -> None:
    """Every item of a list of strings is a string."""
    error = refused(lambda: read('k = ["a", 1]').texts("k"))
    assert error.message == "evalgate.toml:1: k: must hold strings alone"


def test_a_wrong_choice_lists_the_right_ones() -> None:
    """A closed set of words is said in full."""
    error = refused(lambda: read("k = 'c'").choice("k", "a", ("a", "b")))
    assert error.message == "evalgate.toml:1: k: must be one of a, b, not 'c'"


def test_a_missing_key_is_named_at_its_table() -> None:
    """What should be there is looked for where its table begins."""
    error = refused(lambda: read("\n[models.main]\nx = 1\n", "models", "main").text("id"))
    assert error.message == "evalgate.toml:2: models.main: 'id' is missing"


@pytest.mark.parametrize(
    ("key", "hint"),
    [("margn", "did you mean 'margin'?"), ("zzz", "known keys: margin, trials")],
)
def test_an_unknown_key_is_refused_with_a_hint(key: str, hint: str) -> None:
    """A near miss is guessed; otherwise the known keys are listed."""
    reader = read(f"[policy]\nmargin = 1\n{key} = 2\n", "policy")
    reader.number("margin")
    reader.integer("trials", 5)
    error = refused(reader.done)
    assert error.message == f"evalgate.toml:3: policy.{key}: unknown key"
    assert error.hint == hint


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[t]\n\nk = 1\n", 3),
        ("t.k = 1\n", 1),
        ("a = 1\nt = { k = 1 }\n", 2),
        ("[t]\n'k' = 1\n", 2),
        ('["t"]\n"k" = 1\n', 2),
        ("[ t ] # a comment\nk=1\n", 2),
        ("[other]\nk = 2\n[t]\nk = 1\n", 4),
    ],
    ids=["table", "dotted", "inline", "'quoted'", '"quoted"', "spaced", "two tables"],
)
def test_every_way_to_write_a_key_has_its_line(text: str, line: int) -> None:
    """Tables, dotted keys, inline tables and quoted keys are all found."""
    error = refused(lambda: read(text, "t").text("k"))
    assert error.message.startswith(f"evalgate.toml:{line}: t.k: ")


def test_each_table_of_a_list_has_its_own_line() -> None:
    """The second of two tables with one name is not taken for the first."""
    text = "[[checks]]\ntype = 'a'\n[[checks]]\ntype = 'b'\n\n[[checks]]\ntype = 3\n[z]\ntype=4\n"
    first, second, third = read(text).tables("checks")
    assert first.text("type") == "a"
    assert refused(lambda: second.text("no")).message.startswith("evalgate.toml:3: checks: ")
    assert refused(lambda: third.text("type")).message.startswith("evalgate.toml:7: checks.type: ")


def test_what_is_missing_in_a_table_of_a_list_is_missing_there() -> None:
    """Not in the last one, whichever it is; a table inside belongs to the one it stands in."""
    text = "[[a]]\nx = 1\n[a.t]\ny = 1\n[[a]]\n[a.t]\ny = 2\n[[a]]\nx = 3\n[z]\nx = 4\n"
    first, second, third = read(text).tables("a")
    for table, line in ((first, 1), (second, 5), (third, 8)):
        error = refused(lambda table=table: table.text("no"))
        assert error.message == f"evalgate.toml:{line}: a: 'no' is missing"
    for table, line in ((first, 4), (second, 7)):
        error = refused(lambda table=table: table.table("t").text("y"))
        assert error.message.startswith(f"evalgate.toml:{line}: a.t.y: must be a string")


@pytest.mark.parametrize("value", ["nan", "-inf", "1979-05-27", "12:00:00", "[[nan]]", "{a = inf}"])
def test_a_free_table_holds_json_alone(value: str) -> None:
    """What JSON has no word for can be neither hashed nor handed to a model."""
    error = refused(lambda: read(f"[p]\nx = 1\nk = {value}\n").json("p"))
    assert error.message.startswith("evalgate.toml:3: p.k: JSON has no such value: ")


def test_a_free_table_is_read_as_it_is() -> None:
    """Nested values of any JSON kind come out unchanged."""
    value = read("p = { a = 1, b = [1.5, 'x', true], c = { d = [] } }").json("p")
    assert value == {"a": 1, "b": [1.5, "x", True], "c": {"d": []}}


@given(st.text(max_size=80), st.lists(st.text(max_size=4), max_size=3))
def test_a_place_is_always_a_place(text: str, path: list[str]) -> None:
    """Looking for a line never fails, whatever the text is."""
    assert Source("a.toml", text).place(path).startswith("a.toml")
