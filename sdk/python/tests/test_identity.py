"""A value of a hint is the same after its schema and JSON, as an argument and as a result, or the hint is refused at
`@tool`: with pydantic and without it, with one schema. Stands alone, for the wheel in environments of its own."""

import collections
import enum
import json
import re
import sys
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path, PurePath, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict
from uuid import UUID

import annotated_types as at
import attrs
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import NotRequired, Required, TypeAliasType

from toolwire import Param
from toolwire._tool import Tool, make

try:
    import pydantic
except ImportError:
    pydantic = None  # type: ignore[assignment]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Mixed(enum.Enum):
    ONE = 1
    TEXT = "1"
    NOT = False
    NONE = None


class Rank(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclass(frozen=True)
class Line:
    article: str
    count: int = 1
    colour: Colour | None = None


@dataclass
class Order:
    lines: list[Line]
    total: Decimal
    within: timedelta = timedelta(days=1)


@attrs.define(frozen=True)
class Parcel:
    weight: float
    _label: str = "none"
    at: time | None = None
    parts: list[int] = attrs.field(factory=list, hash=False)


class Span(NamedTuple):
    begin: date
    days: int = 1


Loose = collections.namedtuple("Loose", ["a", "b"])


class Point(TypedDict):
    x: float
    y: NotRequired[float]


class Partial(TypedDict, total=False):
    x: Required[int]
    label: str


Keys = TypedDict("Keys", {"a-b": int, "class": str})
OrderId = NewType("OrderId", str)
Lines = NewType("Lines", list[Line])
Alias = TypeAliasType("Alias", list[int | str])

INTEGERS = st.integers(-(2**63), 2**64 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LARGE = st.integers(-(10**60), 10**60)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=4)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS, DAYS, TIMES, SPANS = st.datetimes(timezones=ZONES), st.dates(), st.times(), st.timedeltas()
BYTES = st.binary(max_size=20)
PATHS = st.lists(st.text("ab.", min_size=1, max_size=4), min_size=1).map("/".join).filter(lambda it: it != ".")
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6,
)
COLOURS = st.sampled_from(Colour)
LINES = st.builds(Line, TEXTS, INTEGERS, COLOURS | st.none())
ORDERS = st.builds(Order, st.lists(LINES, max_size=2), DECIMALS, SPANS)
PARCELS = st.builds(Parcel, FLOATS, TEXTS, TIMES | st.none(), st.lists(INTEGERS, max_size=2))
PERIODS = st.builds(Span, DAYS, INTEGERS)


def lists(of: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(of, max_size=4)


def maps(keys: st.SearchStrategy[Any], of: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[Any, Any]]:
    return st.dictionaries(keys, of, max_size=4)


HINTS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, TEXTS), (int, INTEGERS), (float, FLOATS), (bool, st.booleans()), (bytes, BYTES), (dict, maps(TEXTS, JSON)),
    (list, lists(JSON)), (date, DAYS), (datetime, MOMENTS), (time, TIMES), (time, st.times(timezones=ZONES)),
    (timedelta, SPANS), (UUID, st.uuids()), (Decimal, DECIMALS), (Path, PATHS.map(Path)),
    (PurePath, PATHS.map(PurePath)), (PurePosixPath, PATHS.map(PurePosixPath)),
    (Annotated[int, Param(as_text=True)], LARGE),
    (Literal["a", 1, True, None], st.sampled_from(["a", 1, True, None])),
    (Literal[None, "a"], st.sampled_from([None, "a"])),
    (Literal[1, "1", False], st.sampled_from([1, "1", False])),
    (Literal[Colour.RED, "b"], st.sampled_from([Colour.RED, "b"])),
    (Literal[-1, 0, 1], st.sampled_from([-1, 0, 1])), (Colour, COLOURS), (Mixed, st.sampled_from(Mixed)),
    (Rank, st.sampled_from(Rank)), (Optional[int], INTEGERS), (Optional[Line], LINES), (bytes | None, BYTES),
    (int | str, INTEGERS | TEXTS), (int | float, INTEGERS | FLOATS),
    (bool | int | str, st.booleans() | INTEGERS | TEXTS),
    (Line | Span, LINES | PERIODS), (Line | Parcel | None, LINES | PARCELS), (date | int | None, DAYS | INTEGERS),
    (timedelta | int, SPANS | INTEGERS), (list[int] | dict[str, int], lists(INTEGERS) | maps(TEXTS, INTEGERS)),
    (tuple[int, str], st.tuples(INTEGERS, TEXTS)), (tuple[date, Colour, Line], st.tuples(DAYS, COLOURS, LINES)),
    (tuple[int, ...], lists(INTEGERS).map(tuple)), (tuple[int], st.tuples(INTEGERS)),
    (tuple[tuple[int, str], ...], lists(st.tuples(INTEGERS, TEXTS)).map(tuple)),
    (tuple[int, str] | tuple[str, int], st.tuples(INTEGERS, TEXTS) | st.tuples(TEXTS, INTEGERS)),
    (list[tuple[str, Decimal]], lists(st.tuples(TEXTS, DECIMALS))),
    (set[int], st.sets(INTEGERS, max_size=4)), (frozenset[str], st.frozensets(TEXTS, max_size=4)),
    (set[date], st.sets(DAYS, max_size=4)), (set[tuple[int, str]], st.sets(st.tuples(INTEGERS, TEXTS), max_size=3)),
    (frozenset[Colour], st.frozensets(COLOURS)), (set[Span], st.sets(PERIODS, max_size=3)),
    (set[bytes], st.sets(BYTES, max_size=3)), (dict[str, int], maps(TEXTS, INTEGERS)),
    (dict[int, str], maps(LARGE, TEXTS)), (dict[date, int], maps(DAYS, INTEGERS)),
    (dict[Colour, list[int]], maps(COLOURS, lists(INTEGERS))), (dict[UUID, Line], maps(st.uuids(), LINES)),
    (dict[Literal["a", "b"], int], maps(st.sampled_from(["a", "b"]), INTEGERS)),
    (dict[OrderId, Decimal], maps(TEXTS, DECIMALS)), (dict[bytes, time], maps(BYTES, TIMES)),
    (Mapping[int, bytes], maps(LARGE, BYTES)), (Sequence[timedelta], lists(SPANS)), (Iterable[int], lists(INTEGERS)),
    (OrderId, TEXTS), (Lines, lists(LINES)), (Alias, lists(INTEGERS | TEXTS)),
    (Line, LINES), (Order, ORDERS), (list[Order], lists(ORDERS)), (Parcel, PARCELS), (list[Parcel], lists(PARCELS)),
    (Span, PERIODS), (Loose, st.builds(Loose, JSON, JSON)), (dict[str, Span], maps(TEXTS, PERIODS)),
    (Point, st.fixed_dictionaries({"x": FLOATS}, optional={"y": FLOATS})),
    (Partial, st.fixed_dictionaries({"x": INTEGERS}, optional={"label": TEXTS})),
    (Keys, st.fixed_dictionaries({"a-b": INTEGERS, "class": TEXTS})), (Any, JSON.filter(lambda it: it is not None)),
    (Annotated[str, at.MinLen(5)], st.text("ab", min_size=5)),
    (Annotated[int, at.Interval(ge=0, lt=9)], st.integers(0, 8)),
    (Annotated[list[int], at.Len(1, 3)], st.lists(INTEGERS, min_size=1, max_size=3)),
    (Annotated[float, at.Gt(0)], st.floats(min_value=0.1, max_value=1e9)),
    (Annotated[Decimal, at.Ge(0)], DECIMALS.map(abs)), (Annotated[int | None, at.Le(5)], st.integers(-9, 5)),
    (Annotated[dict[str, int], at.MaxLen(2)], st.dictionaries(TEXTS, INTEGERS, max_size=2)),
    (Annotated[bytes, at.MaxLen(3)], st.binary(max_size=3)),
    (Annotated[date, at.Ge(date(2020, 1, 1))], st.dates(date(2020, 1, 1))),
    (Annotated[int, at.MultipleOf(5)], st.integers(-9, 9).map(lambda it: it * 5)),
    (list[Annotated[str, at.MaxLen(3)]], lists(st.text("ab", max_size=3))),
]
OF_PYDANTIC: list[tuple[Any, st.SearchStrategy[Any]]] = []
if pydantic:
    from pydantic import (
        AfterValidator,
        AnyUrl,
        BaseModel,
        ConfigDict,
        Field,
        PlainSerializer,
        RootModel,
        StringConstraints,
    )

    class Money(BaseModel):
        model_config = ConfigDict(frozen=True)
        amount: Decimal = Field(ge=0, max_digits=30)
        currency: Annotated[str, StringConstraints(min_length=3, max_length=3)] = "EUR"

    class Cat(BaseModel):
        kind: Literal["cat"]
        lives: int = Field(9, ge=0, le=9, description="How many are left.")

    class Dog(BaseModel):
        kind: Literal["dog"]
        lives: int = 1

    class Bill(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        no: int = Field(alias="number")
        lines: list[Line] = []
        sums: dict[int, Money] = {}
        paid: datetime | None = None
        pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
        blob: bytes = b""
        within: timedelta = timedelta(0)

    class Page(BaseModel, typing.Generic[typing.TypeVar("T")]):  # type: ignore[misc]
        items: list[Any]

    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    class Cents(BaseModel):
        amount: Annotated[int, PlainSerializer(lambda it: f"{it}", return_type=str)]

    class Tags(RootModel[list[str]]):
        pass

    @pydantic.dataclasses.dataclass
    class Box:
        size: int = Field(gt=0)
        tags: set[str] = Field(default_factory=set)

    def is_even(value: int) -> int:
        if value % 2:
            raise ValueError("it is odd")
        return value

    MONEY = st.builds(Money, amount=DECIMALS.map(abs), currency=st.text("ab", min_size=3, max_size=3))
    PETS: st.SearchStrategy[Any] = st.builds(Cat, kind=st.just("cat"), lives=st.integers(0, 9))
    PETS = PETS | st.builds(Dog, kind=st.just("dog"), lives=INTEGERS)
    BILLS = st.builds(
        Bill, number=INTEGERS, lines=lists(LINES), sums=maps(LARGE, MONEY), paid=MOMENTS | st.none(), pets=lists(PETS),
        blob=BYTES, within=SPANS,
    )
    OF_PYDANTIC = [
        (Money, MONEY), (Bill, BILLS), (list[Bill], lists(BILLS)), (Bill | None, BILLS), (Cat | Dog, PETS),
        (Money | Line | str, MONEY | LINES | TEXTS), (set[Money], st.sets(MONEY, max_size=3)),
        (dict[str, Money], maps(TEXTS, MONEY)), (Page, st.builds(Page, items=lists(JSON))),
        (Open, maps(st.text("bcd"), INTEGERS).map(lambda it: Open(a=1, **it))),
        (Box, st.builds(Box, st.integers(1, 9), st.sets(TEXTS, max_size=2))),
        (Annotated[str, Field(min_length=5, pattern="^a")], st.text("a", min_size=5)),
        (Annotated[int, Field(ge=0, le=9, description="A digit.")], st.integers(0, 9)),
        (Annotated[Decimal, Field(gt=0, decimal_places=4)], DECIMALS.filter(lambda it: it > 0)),
        (Annotated[int, AfterValidator(is_even)], st.integers(-9, 9).map(lambda it: it * 2)),
        (Tags, lists(TEXTS).map(Tags)), (AnyUrl, st.just(AnyUrl("https://example.com/a"))),
        (pydantic.PositiveInt, st.integers(1, 9)), (pydantic.AwareDatetime, MOMENTS),
        (pydantic.IPvAnyAddress, st.ip_addresses()),
    ]
ALL = [*HINTS, *OF_PYDANTIC]


def title(hint: Any) -> str:
    """What a test of it is called, in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(hint))[:60]


IDS = [title(hint) for hint, _ in ALL]
GOT: list[Any] = []


def echo(hint: Any, **options: Any) -> Tool:
    def echo(value: Any) -> Any:
        return value

    echo.__annotations__ = {"value": hint, "return": hint}
    return make(echo, **options)


@pytest.fixture(params=["with pydantic", "without"])
def has_pydantic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "without":
        monkeypatch.setitem(sys.modules, "pydantic", None)
        return False
    if not pydantic:
        pytest.skip("pydantic is not installed")
    return True


def same(a: Any, b: Any) -> bool:
    """Whether they are one value of one type."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [*map(repr, a)] == [*map(repr, b)] and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b)


def fit(value: Any, schema: str) -> None:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(json.loads(schema), format_checker=checker).validate(value)


@pytest.mark.parametrize("index", range(len(ALL)), ids=IDS)
def test_a_value_is_the_same_after_its_schema_and_json(has_pydantic: bool, index: int) -> None:
    if not has_pydantic and index >= len(HINTS):
        pytest.skip("a type of pydantic")
    hint, values = ALL[index]
    tool = echo(hint)

    @settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(value=values)
    def check(value: Any) -> None:
        written = {"value": tool.parameters.codecs["value"].encode(value)}
        if value is not None:
            fit(written, tool.offer.input_schema_json)
        call = tool.bind(json.dumps(written), None)
        got = call.keywords["value"]  # type: ignore[attr-defined]
        assert same(got, value)
        returned = tool.render(call())
        fit(json.loads(returned), tool.offer.output_schema_json)
        data = json.loads(returned)
        assert same(tool.parameters.codecs["value"].decode(data["result"] if tool.wrapped else data), value)

    check()


@pytest.mark.parametrize("index", range(len(HINTS)), ids=IDS[: len(HINTS)])
def test_the_schema_is_the_same_without_pydantic(monkeypatch: pytest.MonkeyPatch, index: int) -> None:
    offered = echo(HINTS[index][0]).offer
    monkeypatch.setitem(sys.modules, "pydantic", None)
    assert echo(HINTS[index][0]).offer == offered
