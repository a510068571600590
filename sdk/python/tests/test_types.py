"""What types say beyond their kind: constraints, names, checks of their own, and schemas that the author gives."""

import json
import re
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Optional

import annotated_types as at
import attrs
import pydantic
import pytest
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, PlainSerializer, computed_field

from tests.test_exact import got, returns, takes
from toolwire import Bind, InvalidArgument, Param
from toolwire._forms import FORMS
from toolwire._json import to_json
from toolwire._tool import make


class Money(BaseModel):
    amount: Decimal = Field(gt=0, description="In euros.")
    note: str | None = Field(None, min_length=2, examples=["thanks"])


class Named(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    class_: str = Field(alias="class")
    secret: str = Field("hidden", exclude=True)

    @computed_field(description="How long it is.")  # type: ignore[prop-decorator]
    @property
    def length(self) -> int:
        return len(self.class_)


class Wider(Named):
    more: int = 1


class Even(BaseModel):
    count: int

    @pydantic.field_validator("count")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("it is odd")
        return value


class Cents(BaseModel):
    amount: Annotated[int, PlainSerializer(str)]


class Encoded(BaseModel):
    once: pydantic.Base64Bytes
    parts: list[pydantic.Json[int]]
    more: Annotated[int, pydantic.PlainValidator(lambda it: it + 1)] = 0


class Either(BaseModel):
    name: str = Field(validation_alias=AliasChoices("name", "title"))


class Node(BaseModel):
    number: int
    next: Optional["Node"] = None


@attrs.define
class Parcel:
    weight: Annotated[float, at.Gt(0)]
    label: str = attrs.field(default="", validator=attrs.validators.max_len(3))


def check_even(value: int) -> int:
    if value % 2:
        raise ValueError("it is odd")
    return value


class Opaque:
    pass


def property_of(hint: Any) -> Any:
    return json.loads(takes(hint).offer.input_schema_json)["properties"]["value"]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (Annotated[str, Field(min_length=5)], {"type": "string", "minLength": 5}),
        (Annotated[str, Field("x", max_length=5, pattern="^a", description="A name.", title="Name")],
         {"type": "string", "maxLength": 5, "pattern": "^a", "description": "A name.", "title": "Name"}),
        (Annotated[str, at.Len(2, 4)], {"type": "string", "minLength": 2, "maxLength": 4}),
        (Annotated[str, pydantic.StringConstraints(min_length=1)], {"type": "string", "minLength": 1}),
        (Annotated[int, at.Interval(gt=0, le=9)], {"type": "integer", "exclusiveMinimum": 0, "maximum": 9}),
        (Annotated[float, Field(ge=Decimal("0.5"))], {"type": "number", "minimum": 0.5}),
        (Annotated[list[int], Field(min_length=1)], {"type": "array", "items": {"type": "integer"}, "minItems": 1}),
        (Annotated[dict[str, int], at.MaxLen(2)],
         {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2}),
        (Annotated[int | None, Field(ge=1)], {"type": "integer", "minimum": 1}),
        (Annotated[bool | int | str, Field(ge=1, min_length=2)],
         {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 1}, {"type": "string", "minLength": 2}]}),
        (pydantic.AwareDatetime, {"type": "string", "format": "date-time"}),
        (Annotated[bytes, at.MaxLen(3)],
         {"type": "string", "contentEncoding": "base64", "examples": ["aGk="],
          "description": "Of a length of at most 3."}),
        (tuple[int, str], {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False,
                           "minItems": 2, "maxItems": 2}),
        (dict[int, str], {"type": "object", "additionalProperties": {"type": "string"},
                          "propertyNames": {"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$", "maxLength": 4300}}),
        (dict[date, int], {"type": "object", "additionalProperties": {"type": "integer"},
                           "propertyNames": {"type": "string", "format": "date"}}),
    ],
)
def test_a_constraint_is_in_the_schema(hint: Any, schema: Any) -> None:
    assert property_of(hint) == schema


def test_a_model_is_read_as_its_fields_are() -> None:
    amount = {"type": "string", "pattern": r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$", "maxLength": 4300,
              "description": "More than 0. In euros."}
    note = {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}], "examples": ["thanks"]}
    assert property_of(Money) == {
        "type": "object", "properties": {"amount": amount, "note": note}, "required": ["amount"],
        "additionalProperties": False,
    }
    assert got(Money, '{"amount": "1.50"}') == Money.model_validate({"amount": Decimal("1.50")})


def test_the_names_of_a_model_are_those_of_its_json() -> None:
    assert got(Named, '{"class": "a"}') == Named.model_validate({"class": "a"})
    tool = returns(Named)
    assert json.loads(tool.render(Named.model_validate({"class": "abc"}))) == {"class": "abc", "length": 3}
    wider = Wider.model_validate({"class": "a", "more": 2})
    # As pydantic does: what a subclass adds is no part of what is declared.
    assert json.loads(tool.render(wider)) == {"class": "a", "length": 1}
    schema = json.loads(tool.offer.output_schema_json)
    assert schema["properties"]["length"] == {"type": "integer", "description": "How long it is."}
    assert schema["required"] == ["class", "length"]
    assert json.loads(to_json({"of": [Parcel(1.5)]})) == {
        "of": [{"weight": 1.5, "label": ""}],
    }


def test_what_has_a_form_of_its_own_is_written_by_pydantic() -> None:
    assert got(Cents, '{"amount": 5}') == Cents(amount=5)
    assert json.loads(returns(Cents).render(Cents(amount=5))) == {"amount": "5"}
    assert got(Either, '{"name": "a"}') == Either(name="a")
    encoded: Any = got(Encoded, '{"once": "WVdKag==", "parts": ["1"], "more": 1}')
    assert (encoded.once, encoded.parts, encoded.more) == (b"YWJj", [1], 2), "each is read once"
    with pytest.raises(InvalidArgument):
        got(Cents, '{"amount": "5"}')


@pytest.mark.parametrize(
    ("hint", "text", "pointer"),
    [
        (Money, '{"amount": "0"}', "/amount"), (Money, '{"amount": 1.5}', "/amount"),
        (Money, '{"amount": "1", "z": 1}', ""),
        (Money, "{}", ""), (Even, '{"count": 3}', "/count"), (Even, '{"count": "2"}', "/count"),
        (list[Even], '[{"count": 2}, {"count": 1}]', "/1/count"), (Annotated[int, AfterValidator(check_even)], "3", ""),
        (Annotated[list[Annotated[int, AfterValidator(check_even)]], Field(max_length=9)], "[2, 3]", "/1"),
        (Annotated[Decimal, at.Ge(1)], '"0.5"', ""), (Annotated[date, at.Lt(date(2026, 1, 1))], '"2026-01-01"', ""),
        (Annotated[bytes, at.MaxLen(2)], '"YWFh"', ""), (Annotated[str, at.Predicate(str.islower)], '"A"', ""),
        (Annotated[Decimal, Field(max_digits=3)], '"1234"', ""), (Parcel, '{"weight": 1.5, "label": "long"}', ""),
        (bytes, '"YQ="', ""), (bytes, '"YR=="', ""), (bytes, '"Y Q=="', ""), (timedelta, '"PT"', ""),
        (timedelta, '"P1W"', ""), (timedelta, "5", ""), (timedelta, '"PT0.0000001S"', ""), (time, '"25:00:00"', ""),
        (time, '"12:00"', ""), (time, '"12:00:00.1234567"', ""), (tuple[int, str], '[1]', ""),
        (tuple[int, str], '[1, 2]', "/1"), (tuple[int, str], '[1, "a", 2]', ""), (dict[int, str], '{"01": "a"}', "/01"),
        (dict[int, str], '{"1.0": "a"}', "/1.0"), (dict[int, int], '{"1": "1"}', "/1"),
        (pydantic.AwareDatetime, '"2026-01-31T12:00:00.1234567Z"', ""), (pydantic.PastDate, '"9999-01-01"', ""),
        (int | Money, '"3"', ""), (float | Money, '"149.99"', ""), (Even, "[]", ""),
    ],
)
def test_what_a_type_does_not_take_is_refused_at_its_place(hint: Any, text: str, pointer: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        got(hint, text)
    assert [(it.pointer, it.rule) for it in refused.value.violations] == [(f"/value{pointer}", "value")]


def test_a_check_may_give_another_value() -> None:
    assert got(Annotated[int, AfterValidator(lambda it: it + 1)], "1") == 2
    assert got(list[Annotated[int, AfterValidator(lambda it: it + 1)]], "[1]") == [2]


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (pydantic.NaiveDatetime, "no JSON Schema"),
        (type[int], "no JSON Schema"), (Opaque, "no JSON Schema"), (set[Money], r"the elements of set\[.*Money\] must"),
    ],
)
def test_what_no_schema_says_is_refused_with_a_way_out(hint: Any, said: str) -> None:
    way_out = r"or say the schema: @tool\(input_schema=\{…\}\)"
    with pytest.raises(TypeError, match=f"parameter value: .*{said}.*; {way_out}"):
        takes(hint)


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (Annotated[str, Field(ge=3)], "`ge` bounds no text; min_length, max_length, pattern do"),
        (Annotated[Decimal, Param(minimum=3)], "`minimum` bounds no text; min_length, max_length, pattern do"),
        (Annotated[int, at.MinLen(1)], "`min_length` bounds no integer; gt, ge, lt, le, multiple_of, minimum, "),
        (Annotated[float, Param(pattern="1")], "`pattern` bounds no number; gt,"),
        (Annotated[bool, at.Gt(3)], "`gt` bounds no boolean"),
        (Annotated[str, Param(min_items=1)], "`min_items` bounds no text; "),
        (Annotated[list[int], Field(pattern="1")], "`pattern` bounds no array; min_length, max_length, min_items, "),
        (Annotated[dict[str, int], Param(maximum=1)], "`maximum` bounds no object; min_length, max_length do"),
        (list[Annotated[str | None, Param(as_text=True)]], "as_text is for int and Decimal, not for str"),
    ],
)
def test_a_bound_of_another_type_is_refused_with_those_that_bound_it(hint: Any, said: str) -> None:
    with pytest.raises(TypeError, match=rf"parameter value: {said}.* \(\S+py:\d+\)") as refused:
        takes(hint)
    assert "say the schema" not in str(refused.value)


@dataclass
class Order:
    count: Annotated[int, Field(ge=1)]


DEPENDS = type("Depends", (), {"__module__": "fastapi.params"})()
# Each with a default within its bounds, and one that is not.
BOUNDED: list[tuple[Any, Any, Any]] = [
    (Annotated[int, Field(ge=1, le=50)], 50, 60), (Annotated[str, Field(pattern="^a")], "ab", "b"),
    (Annotated[str, Param(min_length=2)], "ab", "b"), (Annotated[float, Param(maximum=1)], 1, 2),
    (Annotated[float, Field(multiple_of=0.1)], 0.3, 0.35), (list[Annotated[int, Field(gt=0)]], [1], [1, 0]),
    (Annotated[list[int], Param(min_items=1)], [1], []), (dict[Annotated[str, at.MinLen(2)], int], {"ab": 1}, {"a": 1}),
    (Annotated[int, Field(ge=1)] | date, 1, 0), (Annotated[int | str, Field(ge=1)], 1, 0),
    (tuple[Annotated[int, at.Lt(3)], str], (1, "a"), (3, "a")), (set[pydantic.PositiveInt], {1}, {0}),
    (Order, Order(1), Order(0)), (Even, Even(count=2), Even.model_construct(count=1)),
    (Annotated[Decimal, Field(ge=0.1)], Decimal("0.1"), Decimal("0.09")),
    (Annotated[date, Param(max_length=10)], date(2026, 1, 31), None),
    (Annotated[int, Param(as_text=True), at.Ge(1)], 10**24, 0), (Annotated[str, Param(pattern=r"\p{L}")], "a", None),
]


@pytest.mark.parametrize(("hint", "default", "beyond"), BOUNDED)
def test_a_default_is_within_the_bounds_of_its_hint(hint: Any, default: Any, beyond: Any) -> None:
    def take(value: Any = default) -> None:
        pass

    take.__annotations__["value"] = hint
    assert make(take)
    if beyond is not None:
        take.__defaults__ = (beyond,)
        with pytest.raises(TypeError, match=r"parameter value: the default .* does not fit the type hint: it "):
            make(take)


@pytest.mark.parametrize(
    ("hint", "default", "said"),
    [
        (int, Field(3, ge=1), r"Field is no default: write value: Annotated\[int, Field\(…\)\] = 3 \("),
        (Annotated[int, Field(ge=1)], Field("a"), r"write value: Annotated\[int, Field\(…\)\] = 'a' \("),
        (str, Field(min_length=1), r"write value: Annotated\[str, Field\(…\)\] \("),
        (int, Param("The order."), r"Param is no default: write value: Annotated\[int, Param\(…\)\] \("),
        (str, Bind("user.id"), r"Bind is no default: write value: Annotated\[str, Bind\(…\)\] \("),
        (int, DEPENDS, "Depends is filled in by FastAPI"), (Annotated[int, DEPENDS], 1, "Depends is filled in by"),
        (type("Request", (), {"__module__": "starlette.requests"}) | None, None, "Request is filled in by FastAPI"),
    ],
)
def test_what_describes_a_parameter_is_no_default_of_it(hint: Any, default: Any, said: str) -> None:
    def take(value: Any = default) -> None:
        pass

    take.__annotations__["value"] = hint
    for options in ({}, {"input_schema": {"type": "object"}}):
        with pytest.raises(TypeError, match=f"parameter value: .*{said}"):
            make(take, **options)


def test_a_field_of_another_framework_is_one_of_pydantic() -> None:
    class Query(type(Field())):  # type: ignore[misc]
        """As FastAPI's."""

    assert property_of(Annotated[int, Query(ge=1, description="How many.")]) == {
        "type": "integer", "minimum": 1, "description": "How many.",
    }


@dataclass
class Tree:
    name: str
    children: "list[Tree]"


TREE = {"properties": {"tree": {"type": "object"}}, "required": ["tree"]}


@pytest.mark.parametrize("kind", [Tree, Node])
def test_a_type_that_holds_itself_is_taken_with_a_schema_of_its_author(kind: Any) -> None:
    def climb(tree: Any) -> Any:
        return tree

    climb.__annotations__ = {"tree": kind, "return": kind}
    with pytest.raises(TypeError, match=r"parameter tree: \w+ holds itself: .*@tool\(input_schema=\{…\}\)"):
        make(climb)
    with pytest.raises(TypeError, match=r"the result: \w+ holds itself: .*@tool\(output_schema=\{…\}\)"):
        make(climb, input_schema=TREE)
    tool = make(climb, input_schema=TREE, output_schema={"type": "object"})
    assert json.loads(tool.offer.input_schema_json) == {"type": "object", **TREE}
    text = '{"number":1,"next":{"number":2}}'
    if kind is Tree:
        text = '{"name":"a","children":[{"name":"b","children":[]}]}'
    value: Any = Tree("a", [Tree("b", [])]) if kind is Tree else Node(number=1, next=Node(number=2))
    given = tool.bind(f'{{"tree": {text}}}', None)()
    assert given == value
    assert json.loads(tool.render(given)) == json.loads(to_json(value if kind is Tree else value.model_dump()))


def test_what_no_hint_can_read_is_what_came() -> None:
    def send(of, to: Opaque, count: int = 1) -> Opaque:  # type: ignore[no-untyped-def]
        return of, to, count  # type: ignore[return-value]

    schema = {"properties": {"of": {"type": "object"}, "to": {}, "count": {}}, "additionalProperties": False}
    tool = make(send, input_schema=schema, output_schema={"type": "array"})
    assert json.loads(tool.offer.output_schema_json)["properties"] == {"result": {"type": "array"}}
    call = tool.bind('{"of": {"a": 1}, "to": null}', None)
    assert json.loads(tool.render(call())) == {"result": [{"a": 1}, None, 1]}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"properties": {"z": {}}}, "input_schema has z, and the parameters are value"),
        ({"properties": {}}, "input_schema lacks value"), ("string", "input_schema is a JSON Schema as a dict"),
    ],
)
def test_a_schema_of_other_parameters_is_refused(schema: Any, said: str) -> None:
    def take(value: int) -> None:
        pass

    with pytest.raises((TypeError, ValueError), match=rf"@tool of take: .*{said}"):
        make(take, input_schema=schema)


def test_what_pydantic_keeps_to_itself_is_never_written() -> None:
    class Masked(pydantic.BaseModel):
        token: str

        @pydantic.field_serializer("token")
        def mask(self, _: str) -> str:
            return "***"

    @pydantic.dataclasses.dataclass
    class Kept:
        name: str
        token: str = pydantic.Field(default="secret", exclude=True)

    class Base(pydantic.BaseModel):
        name: str

    class Wide(Base):
        password: str

    for hint, value in [
        (Masked, Masked(token="secret")),
        (dict[str, Any], {"a": Masked(token="secret")}),
        (list[Any], [Masked(token="secret"), Kept("a")]),
        (Kept, Kept("a")),
        (Base, Wide(name="a", password="secret")),
    ]:
        assert "secret" not in returns(hint).render(value), hint


def test_a_bind_within_another_type_is_refused() -> None:
    def pay(user: Annotated[str, Bind("user.id")] | None = None) -> str:
        """Pays. Use this to pay."""
        return str(user)

    with pytest.raises(TypeError, match="Bind stands within its type"):
        make(pay)


def test_a_branch_that_pydantic_reads_is_chosen_by_what_it_keeps() -> None:
    class A(BaseModel):
        x: int = 0

        @pydantic.model_serializer
        def write(self) -> dict[str, int]:
            return {"x": self.x}

    class B(BaseModel):
        y: int

    assert got(A | B, '{"y": 1}') == B(y=1)
    assert got(A | B, '{"x": 1}') == A(x=1)
    assert got(A | B, "{}") == A()
    shown = Annotated[float, PlainSerializer(lambda it: f"{it:.2f}", return_type=str)]
    assert type(got(shown | int, "1")) is int
    assert type(got(pydantic.RootModel[float] | int, "1")) is int
    assert got(pydantic.RootModel[float] | int, "1.5") == pydantic.RootModel[float](1.5)


def test_a_model_that_is_made_by_names_is_read_by_names() -> None:
    class ByName(BaseModel):
        model_config = ConfigDict(validate_by_alias=False, validate_by_name=True)
        a: int = Field(1, alias="b")

    assert property_of(ByName)["properties"].keys() == {"a"}
    assert got(ByName, '{"a": 5}').a == 5


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("P", False), ("PT", False), ("P1DT", False), ("-P", False), ("P1D", True), ("PT1H", True), ("-P1DT2M", True),
        ("PT1H2S", True), ("PT0.5S", True), ("PT.5S", False), ("P1H", False), ("PT1D", False), ("PT1M1H", False),
        ("P1DT1H1M1.000001S", True), ("", False), ("PT1.0000001S", False),
    ],
)
def test_the_pattern_of_a_duration_is_what_is_read(text: str, is_one: bool) -> None:
    assert bool(re.search(FORMS[timedelta].schema["pattern"], text)) == is_one
    if is_one:
        assert isinstance(FORMS[timedelta].read(text), timedelta)
    else:
        with pytest.raises(ValueError, match="no duration"):
            FORMS[timedelta].read(text)
