"""A value is carried exactly, or refused by name: which type of a union has it, and what no type has."""

import collections
import enum
import json
import math
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import jsonschema
import pytest

from tests.test_hints import Card, Mixed, Word, same
from tests.test_identity import Colour, Line, Rank
from toolwire import InvalidArgument, Param
from toolwire._json import MOST_DATA, Misfit
from toolwire._tool import Tool, make

UTC = timezone.utc
LARGE = Annotated[int, Param(as_text=True)]


@dataclass
class Narrow:
    a: int


@dataclass
class Wide:
    a: int
    b: int = 0


@dataclass
class Wider(Wide):
    c: str = "c"


class Small(TypedDict):
    a: int


class Large(TypedDict):
    a: int
    b: date


def takes(hint: Any) -> Tool:
    def take(value: Any) -> None:
        pass

    take.__annotations__ = {"value": hint, "return": None}
    return make(take)


def returns(hint: Any, **options: Any) -> Tool:
    def give() -> Any:
        pass

    give.__annotations__ = {"return": hint}
    return make(give, **options)


def got(hint: Any, text: str) -> Any:
    return takes(hint).bind(f'{{"value": {text}}}', None).keywords["value"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("hint", "text", "value"),
    [
        (int | float, "149.99", 149.99), (int | float, "149", 149), (int | float, "149.0", 149.0),
        (float | int, "149", 149),
        (int | str, '"00123"', "00123"), (str | int, "123", 123), (list[int] | str, '"12"', "12"),
        (list[int] | str, "[12]", [12]),
        (float | str, '"1.5"', "1.5"), (float | str, '"nan"', "nan"), (bool | int, "1", 1), (bool | int, "true", True),
        (int | bool, "false", False), (float | bool, "true", True), (bool | str, '"true"', "true"),
        (Literal[1, "1", True], "true", True), (Literal[1, "1", True], "1", 1), (Literal[1, "1", True], '"1"', "1"),
        (Literal[1, True], "1.0", 1), (Mixed, "1", Mixed.ONE), (Mixed, '"1"', Mixed.TEXT), (Mixed, "false", Mixed.NO),
        (Mixed, "0.5", Mixed.HALF), (Rank, "2", Rank.HIGH), (Word, '"no"', Word.NO), (Colour | str, '"green"', "green"),
        (Colour | str, '"red"', Colour.RED), (Colour | None | int, "null", None),
        (int, "3.0", 3), (int, "1e3", 1000), (int, "18446744073709551615", 2**64 - 1),
        (int, "-9223372036854775808", -(2**63)),
        (float, "3", 3.0), (float, "9007199254740992", 2.0**53), (float, "9007199254740993.0", 2.0**53),
        (float | int, "9007199254740993", 2**53 + 1),
        (date | str, '"2026-01-31"', date(2026, 1, 31)), (date | str, '"20260131"', "20260131"),
        (date | str, '"2026-W05-6"', "2026-W05-6"),
        (date | str, '"tomorrow"', "tomorrow"), (str | date, '"2026-01-31"', "2026-01-31"),
        (datetime | date, '"2026-01-31"', date(2026, 1, 31)),
        (date | datetime, '"2026-01-31T12:00:00Z"', datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (datetime, '"2026-01-31t12:00:00.5z"', datetime(2026, 1, 31, 12, 0, 0, 500_000, UTC)),
        (datetime, '"2026-01-31T12:00:00.123456000-05:30"',
         datetime(2026, 1, 31, 12, 0, 0, 123_456, timezone(-timedelta(hours=5, minutes=30)))),
        (datetime | str, '"2026-01-31T12:00:00.1234567Z"', "2026-01-31T12:00:00.1234567Z"),
        (datetime | str, '"2026-01-31T12:00:00"', "2026-01-31T12:00:00"),
        (UUID | str, '"0196f1c27a4b7c3d8e5f0123456789ab"', "0196f1c27a4b7c3d8e5f0123456789ab"),
        (Decimal, '"149.990"', Decimal("149.990")), (Decimal | float, "149.99", 149.99),
        (Decimal | str, '"1e3"', "1e3"),
        (LARGE, '"1000000000000000000000001"', 10**24 + 1), (int | LARGE, '"7"', 7), (LARGE | str, '"007"', "007"),
        (Annotated[int | None, Param(as_text=True)], '"18446744073709551617"', 2**64 + 1),
        (Wide | Narrow, '{"a": 1}', Narrow(1)), (Narrow | Wide, '{"a": 1, "b": 0}', Wide(1, 0)),
        (Wide | dict, '{"a": 1}', Wide(1)),
        (dict | Narrow, '{"b": 1}', {"b": 1}), (dict[str, Any] | Narrow, '{"a": 1}', Narrow(1)),
        (Small | Large, '{"a": 1}', {"a": 1}),
        (Small | Large, '{"a": 1, "b": "2026-01-31"}', {"a": 1, "b": date(2026, 1, 31)}),
        (list[Wide] | list[Narrow], '[{"a": 1}]', [Narrow(1)]), (list[float] | list[int], "[1, 2]", [1, 2]),
        (list[float] | list[int], "[1, 2.5]", [1.0, 2.5]),
        (dict[str, int | list[int | str]], '{"a": ["1", 1]}', {"a": ["1", 1]}),
        (set[int] | list[int], "[1, 1]", [1, 1]), (Card | Line | str, '{"article": "pen"}', Line("pen")),
        (Any, "1.0", 1.0),
        (int | Any, '"1"', "1"), (object, '{"a": [true, null]}', {"a": [True, None]}),
    ],
)
def test_the_type_of_a_union_that_is_nearest_has_the_value_and_nothing_is_converted(
    hint: Any, text: str, value: Any
) -> None:
    read = got(hint, text)
    assert read == value
    assert same(read, value)
    assert isinstance(read, bool) is isinstance(value, bool)
    if hint is not Any:
        assert type(read) is type(value)


@pytest.mark.parametrize(
    ("hint", "text", "pointer"),
    [
        (int, "3.5", ""), (int, '"3"', ""), (int, "true", ""), (int, "18446744073709551616", ""),
        (int, "-9223372036854775809", ""),
        (int, "1e24", ""), (int, "1.8446744073709552e19", ""), (float, "9007199254740993", ""), (float, "true", ""),
        (float, '"1"', ""),
        (float, "1e999", ""), (float, "NaN", None), (bool, "1", ""), (bool, '"true"', ""), (str, "1", ""),
        (int | float, '"1"', ""),
        (int | float, "true", ""), (list[int], '"12"', ""), (list[int], "[1, 2.5]", "/1"), (list[int], "[true]", "/0"),
        (dict[str, int], '{"a/b": "1"}', "/a~1b"), (set[int], "[1, 1.0]", ""), (set[int | bool], "[1, true]", ""),
        (tuple[int, ...], "{}", ""),
        (Literal[1, "1"], "true", ""), (Literal["a"], "null", ""), (Mixed, "true", ""), (Colour, '"RED"', ""),
        (Rank, "true", ""),
        (date, '"20260131"', ""), (date, '"2026-02-30"', ""), (datetime, '"2026-01-31T12:00:00"', ""),
        (datetime, '"2026-01-31"', ""),
        (datetime, '"2026-01-31T12:00:00.1234567Z"', ""), (datetime, '"2026-06-30T23:59:60Z"', ""), (datetime, "0", ""),
        (UUID, '"{0196f1c2-7a4b-7c3d-8e5f-0123456789ab}"', ""), (Decimal, "149.99", ""), (Decimal, '"1e3"', ""),
        (Decimal, '"NaN"', ""),
        (Decimal, '"007"', ""), (Decimal, '"' + "9" * 5000 + '"', ""), (LARGE, "7", ""), (LARGE, '"007"', ""),
        (LARGE, '"-0"', ""),
        (LARGE, '"' + "9" * 5000 + '"', ""), (Narrow, '{"a": 1, "b": 2}', ""), (Narrow, "{}", ""),
        (Narrow, '{"a": "1"}', "/a"),
        (list[Wide], '[{"a": 1}, {"a": 1, "b": null}]', "/1/b"), (Wide | Narrow, '{"c": 1}', ""),
        (Small, '{"a": 1, "z": 1}', ""),
    ],
)
def test_what_no_value_of_the_hint_is_equal_to_is_refused_at_its_place(
    hint: Any, text: str, pointer: str | None
) -> None:
    with pytest.raises((InvalidArgument, ValueError)) as refused:
        got(hint, text)
    if pointer is not None:
        assert isinstance(refused.value, InvalidArgument)
        assert [it.pointer for it in refused.value.violations] == [f"/value{pointer}"]
        assert "`value` cannot be read: " in refused.value.message
        is_of_number = re.search("64 bits|no float is equal", refused.value.message)
        assert refused.value.violations[0].rule == ("exact" if is_of_number else "value")


class Text(str):
    """A text that says another than it holds."""

    def __str__(self) -> str:
        return "another"


class Count(int):
    def __repr__(self) -> str:
        return "many"


class Day(date):
    pass


class Moment(datetime):
    pass


NAIVE = datetime(2026, 1, 31, 12)
OFFSET = timezone(timedelta(hours=5, minutes=53, seconds=28))


@pytest.mark.parametrize(
    ("hint", "value", "data"),
    [
        (datetime, NAIVE, "2026-01-31T12:00:00"),
        (datetime, NAIVE.replace(tzinfo=OFFSET), "2026-01-31T12:00:00+05:53:28"),
        (datetime, Moment(1, 1, 1, 0, 0, 0, 1), "0001-01-01T00:00:00.000001"), (date, NAIVE, "2026-01-31T12:00:00"),
        (date, Day(2026, 1, 31), "2026-01-31"), (datetime | date, NAIVE, "2026-01-31T12:00:00"),
        (date | None, NAIVE, "2026-01-31T12:00:00"),
        (float, 3, 3), (bool | int, True, True), (int | bool, True, True), (int, Rank.LOW, 1),
        (int, Count(7), 7), (str, Text("a"), "a"),
        (str, Word.YES, "yes"), (Colour, "red", "red"), (Wide, Wider(1, 2, "d"), {"a": 1, "b": 2, "c": "d"}),
        (Wide | None, Wider(1), {"a": 1, "b": 0, "c": "c"}),
        (Wide, {"a": 1, "b": 2}, {"a": 1, "b": 2}), (Small, {"a": 1, "z": 2}, {"a": 1, "z": 2}),
        (Decimal, Decimal("1E+3"), "1000"),
        (Decimal, 0, "0"), (Decimal | None, 0, "0"), (Decimal, Decimal("-0.50"), "-0.50"),
        (LARGE, 10**24 + 1, str(10**24 + 1)), (list[LARGE], [2**64], [str(2**64)]),
        (dict[str, Decimal], {"a": Decimal("149.99")}, {"a": "149.99"}),
        (list[Decimal] | list[str], [Decimal("1.5")], ["1.5"]),
        (list[str] | list[Decimal], [Decimal("1.5")], ["1.5"]), (Sequence[int], range(3), [0, 1, 2]),
        (Sequence[int], collections.deque([1]), [1]),
        (Mapping[str, int], types.MappingProxyType({"a": 1}), {"a": 1}),
        (dict[str, int], collections.Counter("aa"), {"a": 2}),
        (dict, collections.OrderedDict(a=NAIVE), {"a": "2026-01-31T12:00:00"}),
        (dict, {Word.YES: Colour.RED}, {"yes": "red"}),
        (set[str], {"a"}, ["a"]), (dict, {"of": (1, frozenset({2}))}, {"of": [1, [2]]}),
        (Any, UUID(int=1), str(UUID(int=1))),
        (str | None, None, None), (int, 2**64 - 1, 2**64 - 1), (int, -(2**63), -(2**63)), (float, 5e-324, 5e-324),
        (float, 1.7976931348623157e308, 1.7976931348623157e308),
    ],
)
def test_a_value_of_a_hint_fits_the_schema_that_is_made_of_it(hint: Any, value: Any, data: Any) -> None:
    tool = returns(hint)
    read = json.loads(tool.render(value))
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(json.loads(tool.offer.output_schema_json), format_checker=checker).validate(read)
    assert same(read["result"] if tool.wrapped else read, data)


class Endless(Sequence[int]):
    def __len__(self) -> int:
        return 1

    def __getitem__(self, _: Any) -> Any:
        return 1


class Broken(Mapping[str, Any]):
    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        raise MemoryError

    def __getitem__(self, _: Any) -> Any:
        raise SystemExit


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def shared(levels: int) -> Any:
    value: Any = ["x" * 1000]
    for _ in range(levels):
        value = [value] * 10
    return value


CIRCLE: dict[str, Any] = {}
CIRCLE["again"] = CIRCLE


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [1, 2**64]}, "an integer has at most 64 bits, .*, at /a/1$"), ({"a": -(2**63) - 1}, "at /a$"),
        ({"a": float("nan")}, "nan is no number of JSON, at /a$"),
        ({"a": {"b": -math.inf}}, "-inf is no number of JSON, at /a/b$"),
        ({"a": Decimal("1.5")}, "the type decimal.Decimal has no JSON, at /a$"),
        ({"a": {1: "x"}}, "keys must be texts, not of the type int, at /a$"), ({True: 1}, "keys must be texts"),
        ({None: 1}, "keys must be texts"),
        ({1.5: 1}, "keys must be texts"), ({Rank.LOW: 1}, "keys must be texts"),
        ({"a": b"x"}, "bytes has no JSON, at /a$"), ({"a": "\ud83d"}, "at /a$"),
        ({"\ud83d": 1}, "half of a surrogate"), ({"a~/b": [object()]}, "object has no JSON, at /a~0~1b/0$"),
        ({"a": 1j}, "complex has no JSON"),
        ({"a": Fraction(1, 3)}, "Fraction has no JSON"), ({"a": (it for it in [1])}, "generator has no JSON"),
        ({"a": Line}, "type has no JSON"),
        ({"a": deep(32)}, "nests deeper"), (CIRCLE, "nests deeper"), ({"a": shared(20)}, "more than 3 MiB"),
        ({"a": Endless()}, "more than 3 MiB"),
        ({"a": "x" * (MOST_DATA + 1)}, "more than 3 MiB"), ({"a": "é" * (MOST_DATA // 2)}, "more than 3 MiB"),
        ({"a": ["x" * 100_000] * 100}, "more than 3 MiB"),
        ([1], "it returned a list"), ("text", "it returned a str"),
    ],
)
def test_a_result_that_is_not_carried_exactly_is_refused_at_its_place(value: Any, said: str) -> None:
    with pytest.raises(Misfit, match=said):
        returns(dict).render(value)


@pytest.mark.parametrize(
    ("hint", "value", "said"),
    [
        pytest.param(LARGE, 10**5000, "digits", id="digits"), (Decimal, Decimal("NaN"), "no decimal"),
        (Decimal, Decimal("1E+999999"), "digits"), (Decimal, Decimal("1E-999999"), "digits"),
        (float | int, 2**64, "64 bits"), (set[Any], {Colour.RED, "red"}, "two of its elements are one"),
        (float, 2**70, "64 bits"),
        (list[Line], [Line("a"), Line("\udc00")], "at /result/1/article$"),
        (dict[str, list[int]], {"a": [1, 2**70]}, "at /a/1$"),
    ],
)
def test_a_result_of_its_hint_that_is_not_carried_exactly_is_refused(hint: Any, value: Any, said: str) -> None:
    with pytest.raises(Misfit, match=said):
        returns(hint).render(value)


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Empty(enum.Enum):
    pass


class Huge(enum.Enum):
    MANY = 2**64


class Odd(enum.Enum):
    PAIR = (1, 2)


class Opaque:
    pass


@dataclass
class Made:
    a: int
    secret: InitVar[str]


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (Rights, "can be combined"), (Empty, "a choice is of"), (Huge, "64 bits"), (Odd, "a choice is of"),
        (dict[Rank, str], r"the keys of dict\[.*Rank, str\] are no texts"),
        (dict[float, int], "no texts"), (dict[Mixed, int], "no texts"), (set[list[int]], "must be hashable"),
        (set[dict[str, int]], "must be hashable"),
        (set[Card], "must be hashable"), (frozenset[Small], "must be hashable"), (Made, "needs secret"),
        (list[Made], "needs secret"), (Annotated[int, Opaque()] | Opaque, "no JSON Schema"),
        (tuple[()], "tuple"), (Annotated[str, Param(as_text=True)], "as_text is for int"),
        (Annotated[list[int], Param(as_text=True)], "as_text is for int"),
        (Annotated[int, Param(as_text=True, minimum=1)], "`minimum` bounds no text"),
        (Annotated[Decimal, Param(maximum=1)], "`maximum` bounds no text"),
        (Opaque, "no JSON Schema"), (Literal[b"a"], "a choice is of"), (Literal["a", Odd.PAIR], "a choice is of"),
    ],
)
def test_a_hint_whose_values_cannot_be_carried_is_refused_with_file_and_line(hint: Any, said: str) -> None:
    place = r"\(.*test_exact.py:\d+\)"
    with pytest.raises((TypeError, ValueError), match=rf"@tool of take: parameter value: .*{said}.* {place}$"):
        takes(hint)


def test_examples_and_defaults_are_written_as_their_type_is() -> None:
    def pay(
        amount: Annotated[Decimal, Param(examples=[Decimal("1.50")])], wei: LARGE = 10**24,
        colour: Colour = Colour.RED,
        on: date = date(2026, 1, 31), names: set[str] = frozenset({"a"}),  # type: ignore[assignment]
    ) -> None:
        pass

    properties = json.loads(make(pay).offer.input_schema_json)["properties"]
    assert properties["amount"]["examples"] == ["1.50"]
    defaults = [properties[name]["default"] for name in ("wei", "colour", "on", "names")]
    assert defaults == [str(10**24), "red", "2026-01-31", ["a"]]
    with pytest.raises(TypeError, match="two of its elements are one"):
        takes(set[int]).parameters.codecs["value"].decode([1, 1])


def test_a_sequence_of_any_kind_is_returned_and_an_iterator_where_the_hint_says_so() -> None:
    assert returns(Iterable[int]).returns_iterable
    assert not returns(list[int]).returns_iterable
    with pytest.raises(Misfit, match=r"has no JSON, at /a$"):
        returns(dict).render({"a": iter([1])})
    with pytest.raises(MemoryError):
        returns(dict).render(Broken())
