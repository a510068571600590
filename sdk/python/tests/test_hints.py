"""Values of over sixty hints, through a real server and each of its faces: what the function gets is what was sent, and
what it returns is what its caller gets. TOOLWIRE_BINARY names the server; skipped without it."""

import enum
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict, Union
from uuid import UUID

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faces import FACES, Faces
from tests.test_identity import HINTS as OTHERS
from tests.test_identity import OF_PYDANTIC, Bill, Cat, Colour, Dog, Keys, Line, Money, Parcel, Rank, Span, title
from toolwire import Param
from toolwire._tool import Tool, make

pytestmark = pytest.mark.skipif(not os.environ.get("TOOLWIRE_BINARY"), reason="TOOLWIRE_BINARY names no server")


class Mixed(enum.Enum):
    ONE = 1
    TEXT = "1"
    HALF = 0.5
    NO = False


class Word(str, enum.Enum):
    YES = "yes"
    NO = "no"


@dataclass
class Order:
    lines: list[Line]
    total: Decimal
    placed: datetime
    wei: Annotated[int, Param(as_text=True)] = 0
    notes: dict[str, str] = field(default_factory=dict)


@dataclass
class Card:
    number: str


@dataclass
class Transfer:
    iban: str
    amount: int | float


class Point(TypedDict):
    x: float
    y: float


class Partial(TypedDict, total=False):
    x: int
    label: str


INTEGERS = st.integers(-(2**63), 2**64 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(max_size=40)
LARGE = st.integers(-(10**80), 10**80)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=6)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(timezones=ZONES)
DAYS = st.dates()
LINES = st.builds(Line, TEXTS, INTEGERS, st.sampled_from([*Colour, None]))
NOTES = st.dictionaries(TEXTS, TEXTS, max_size=3)
ORDERS = st.builds(Order, st.lists(LINES, max_size=3), DECIMALS, TIMES, LARGE, NOTES)
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=8,
)
# Texts that a reader could take for something else.
ODD = TEXTS | st.sampled_from(
    ["00123", "12", "1.50", "true", "null", "[1]", "{}", "1e5", "NaN", "", " 1", "0x10", "-0"]
)


def lists(of: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(of, max_size=5)


def maps(of: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(TEXTS, of, max_size=5)


HINTS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, ODD), (int, INTEGERS), (float, FLOATS), (bool, st.booleans()), (Any, JSON.filter(lambda it: it is not None)),
    (Literal["a", "b"], st.sampled_from(["a", "b"])), (Literal[1, "1", True], st.sampled_from([1, "1", True])),
    (Literal[0, False, "0", ""], st.sampled_from([0, False, "0", ""])), (Colour, st.sampled_from(Colour)),
    (Mixed, st.sampled_from(Mixed)), (Word, st.sampled_from(Word)), (Rank, st.sampled_from(Rank)),
    (datetime, TIMES), (date, DAYS), (UUID, st.uuids()), (Decimal, DECIMALS),
    (Annotated[int, Param(as_text=True)], LARGE), (Annotated[Decimal, Param(as_text=True)], DECIMALS),
    (Annotated[int, Param("An integer.", minimum=-5, maximum=5)], st.integers(-5, 5)),
    (Annotated[float, "In euros."], FLOATS),
    (Annotated[str, Param(pattern="^[0-9]{3}$")], st.from_regex("[0-9]{3}", fullmatch=True)),
    (int | float, INTEGERS | FLOATS), (float | int, INTEGERS | FLOATS), (int | str, INTEGERS | ODD),
    (str | int, INTEGERS | ODD), (float | str, FLOATS | ODD), (bool | int, st.booleans() | INTEGERS),
    (int | bool, st.booleans() | INTEGERS), (bool | float, st.booleans() | FLOATS),
    (bool | str, st.booleans() | ODD), (int | float | str | bool, INTEGERS | FLOATS | ODD | st.booleans()),
    (Optional[int], st.none() | INTEGERS), (Optional[str], st.none() | ODD),
    (int | float | None, st.none() | INTEGERS | FLOATS),
    (Colour | int, st.sampled_from(Colour) | INTEGERS), (Rank | str, st.sampled_from(Rank) | ODD),
    (Literal["auto"] | int, st.just("auto") | INTEGERS), (Literal[1] | bool, st.just(1) | st.booleans()),
    (date | int, DAYS | INTEGERS), (date | str, DAYS | st.just("today")), (datetime | date, TIMES | DAYS),
    (date | datetime, TIMES | DAYS), (UUID | int, st.uuids() | INTEGERS), (Decimal | int, DECIMALS | INTEGERS),
    (Annotated[int, Param(as_text=True)] | int, LARGE.filter(lambda it: abs(it) > 2**64)),
    (list[int], lists(INTEGERS)), (list[float], lists(FLOATS)), (list[str], lists(ODD)), (list, lists(JSON)),
    (list[int | str], lists(INTEGERS | ODD)), (list[int] | str, lists(INTEGERS) | ODD),
    (str | list[int], lists(INTEGERS) | ODD), (list[bool] | list[int], lists(st.booleans()) | lists(INTEGERS)),
    (list[list[int]], lists(lists(INTEGERS))), (Sequence[Decimal], lists(DECIMALS)), (Iterable[int], lists(INTEGERS)),
    (tuple[str, ...], lists(ODD).map(tuple)), (set[str], st.sets(TEXTS, max_size=5)),
    (frozenset[int], st.frozensets(INTEGERS, max_size=5)),
    (set[int] | str, st.sets(INTEGERS, max_size=5) | ODD), (dict, maps(JSON)), (dict[str, Any], maps(JSON)),
    (dict[str, int], maps(INTEGERS)), (dict[str, Decimal], maps(DECIMALS)),
    (Mapping[str, Colour], maps(st.sampled_from(Colour))),
    (dict[str, int | str], maps(INTEGERS | ODD)), (dict[str, int] | str, maps(INTEGERS) | ODD),
    (dict[str, list[datetime]], maps(lists(TIMES))), (Line, LINES), (Order, ORDERS), (list[Line], lists(LINES)),
    (Card | Transfer, st.builds(Card, ODD) | st.builds(Transfer, ODD, INTEGERS | FLOATS)),
    (list[Card | Transfer], lists(st.builds(Card, ODD) | st.builds(Transfer, ODD, INTEGERS | FLOATS))),
    (Line | str, LINES | ODD), (Point, st.fixed_dictionaries({"x": FLOATS, "y": FLOATS})),
    (Partial, st.fixed_dictionaries({}, optional={"x": INTEGERS, "label": ODD})),
    (Point | Card, st.fixed_dictionaries({"x": FLOATS, "y": FLOATS}) | st.builds(Card, ODD)),
    (Union[int, list[Union[str, dict[str, float]]]], INTEGERS | lists(ODD | maps(FLOATS))),
    (set[date], st.sets(DAYS, max_size=5)), (frozenset[Colour], st.frozensets(st.sampled_from(Colour))),
]
NEW = (bytes, time, timedelta, Path, Parcel, Span, Keys, tuple[int, str], dict[int, str])
HINTS += [it for it in OTHERS if it[0] in NEW]
HINTS += [(hint, values) for hint, values in OF_PYDANTIC if hint in (Money, Bill, Cat | Dog)]
GOT: list[Any] = []


def echo(index: int) -> Tool:
    """A tool that returns its argument."""

    def echo(value: Any) -> Any:
        GOT.append(value)
        return value

    echo.__annotations__ = {"value": HINTS[index][0], "return": HINTS[index][0]}
    return make(echo, name=f"echo_{index}", description="Returns its argument.")


TOOLS = [echo(index) for index in range(len(HINTS))]
# To Python a bool is an int, and equal to 0 or 1.
BOOLS: list[tuple[Any, Any, str]] = [
    (int, True, "/result"), (float, False, "/result"), (int | float, True, "/result"), (int | str, True, "/result"),
    (int | None, False, "/result"), (list[int], [1, True], "/result/1"), (list[float], [0.5, False], "/result/1"),
    (tuple[int, ...], (True,), "/result/0"), (dict[str, int], {"a": 1, "b": True}, "/b"), (Rank, True, "/result"),
    (Literal[1], True, "/result"), (Decimal, True, "/result"), (Annotated[int, Param(as_text=True)], True, "/result"),
    (Line, Line("pen", True), "/count"), (Transfer, Transfer("a", False), "/amount"),
    (Point, {"x": 1.0, "y": True}, "/y"), (list[Line], [Line("pen"), Line("ink", True)], "/result/1/count"),
]


def give_bool(index: int, write: bool) -> Tool:
    """A tool that returns a bool for a number."""

    def give() -> Any:
        return BOOLS[index][1]

    give.__annotations__ = {"return": BOOLS[index][0]}
    return make(give, name=f"give_{index}_{write}".lower(), description="Returns a bool.", write=write)


BOOL_TOOLS = [give_bool(index, write) for index in range(len(BOOLS)) for write in (False, True)]


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    opened = Faces(tmp_path_factory.mktemp("state"), [*TOOLS, *BOOL_TOOLS])
    yield opened
    opened.close()


def same(a: Any, b: Any) -> bool:
    """Whether they are one value, to which the type belongs; a number is an int or a float as its text is."""
    if type(a) in (int, float) and type(b) in (int, float):
        return bool(a == b)
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def fit(value: Any, schema: str) -> None:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(json.loads(schema), format_checker=checker).validate(value)


@pytest.mark.parametrize("index", range(len(HINTS)), ids=[title(hint) for hint, _ in HINTS])
def test_a_value_reaches_the_function_as_it_was_sent_and_its_caller_as_it_was_returned(
    faces: Faces, index: int
) -> None:
    tool, (hint, values) = TOOLS[index], HINTS[index]

    @settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(value=values, face=st.sampled_from(FACES))
    def check(value: Any, face: str) -> None:
        GOT.clear()
        written = tool.parameters.codecs["value"].encode(value)
        if value is not None:
            fit({"value": written}, tool.offer.input_schema_json)
        code, data = faces.call(face, tool.name, json.dumps({"value": written}))
        assert code == "data", (face, value, data)
        (got,) = GOT
        assert same(got, value), (face, got, value)
        if hint in (int, float):
            assert type(got) is hint
        fit(data, tool.offer.output_schema_json)
        returned = data["result"] if tool.wrapped else data
        if isinstance(value, set | frozenset):
            returned, written = sorted(returned, key=repr), sorted(written, key=repr)
        assert same(returned, written), (face, data)

    check()


@pytest.mark.parametrize("index", range(len(BOOLS)), ids=[title(hint) for hint, *_ in BOOLS])
def test_a_bool_is_no_number_in_results(faces: Faces, index: int) -> None:
    pointer = BOOLS[index][2]
    for face in FACES:
        for is_write in (False, True):
            code, text = faces.call(face, f"give_{index}_{is_write}".lower())
            assert code == "PARSE_ERROR"
            assert f"`{pointer}`" in text
            assert ("The write was done." in text) is is_write


@pytest.mark.parametrize(
    ("hint", "value"),
    [(int, "true"), (float, "false"), (int | float, "true"), (list[int], "[1, true]"), (dict[str, int], '{"a": false}'),
     (bool, "1"), (bool, "0"), (bool, "1.0")],
)
def test_a_bool_is_no_number_in_arguments(faces: Faces, hint: Any, value: str) -> None:
    index = [it for it, _ in HINTS].index(hint)
    for face in FACES:
        assert faces.call(face, f"echo_{index}", f'{{"value": {value}}}')[0] == "INVALID_ARGUMENT"
