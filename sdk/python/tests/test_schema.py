"""Schemas of hints, words of docstrings, and values both ways."""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import Annotated, Any, Literal, Optional, TypedDict
from uuid import UUID

import pytest

from toolwire import Bind, Context, Param, tool
from toolwire._json import to_json
from toolwire._schema import codec
from toolwire._stubs.toolwire.v1 import tool_pb2
from toolwire._tool import REGISTRY, make


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Line:
    article: str
    count: int = 1
    notes: list[str] = field(default_factory=list)
    colour: Colour | None = None


class Point(TypedDict, total=False):
    x: float
    y: Annotated[float, "Upwards."]


class Opaque:
    pass


@dataclass
class Loop:
    inner: "Loop | None" = None


LINE = {
    "type": "object",
    "properties": {
        "article": {"type": "string"}, "count": {"type": "integer"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "colour": {"anyOf": [{"type": "string", "enum": ["red", "blue"]}, {"type": "null"}]},
    },
    "required": ["article"], "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("hint", "schema", "given", "value"),
    [
        (str, {"type": "string"}, "a", "a"),
        (int, {"type": "integer"}, 3.0, 3),
        (float, {"type": "number"}, 3, 3.0),
        (bool, {"type": "boolean"}, True, True),
        (Any, {}, {"a": 1}, {"a": 1}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
        (Literal[1, "b"], {"enum": [1, "b"]}, 1, 1),
        (Colour, {"type": "string", "enum": ["red", "blue"]}, "blue", Colour.BLUE),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
        (Optional[Colour], LINE["properties"]["colour"], "red", Colour.RED),  # type: ignore[index]
        (int | date, {"anyOf": [{"type": "integer"}, {"type": "string", "format": "date"}]}, "2026-01-15",
         date(2026, 1, 15)),
        (list[int], {"type": "array", "items": {"type": "integer"}}, [1], [1]),
        (list, {"type": "array", "items": {}}, [1, "a"], [1, "a"]),
        (Sequence[Colour], {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}}, ["red"],
         [Colour.RED]),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}, ["a"], ("a",)),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, ["a", "b"], {"a", "b"}),
        (dict, {"type": "object"}, {"a": 1}, {"a": 1}),
        (dict[str, Any], {"type": "object", "additionalProperties": True}, {"a": 1}, {"a": 1}),
        (Mapping[str, Colour], {"type": "object", "additionalProperties": {"type": "string", "enum": ["red", "blue"]}},
         {"a": "red"}, {"a": Colour.RED}),
        (datetime, {"type": "string", "format": "date-time"}, "2026-01-15T10:00:00Z",
         datetime(2026, 1, 15, 10, tzinfo=timezone.utc)),
        (UUID, {"type": "string", "format": "uuid"}, "0196f1c2-7a4b-7c3d-8e5f-0123456789ab",
         UUID("0196f1c2-7a4b-7c3d-8e5f-0123456789ab")),
        (Annotated[float, Param("In euros.", minimum=0, maximum=100)],
         {"type": "number", "description": "In euros.", "minimum": 0, "maximum": 100}, 1, 1.0),
        (Annotated[list[str], Param(min_items=1, max_items=3, examples=[["a"]])],
         {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3, "examples": [["a"]]}, ["a"],
         ["a"]),
        (Annotated[str, "A name.", Param(pattern="^a", min_length=1, max_length=9)],
         {"type": "string", "description": "A name.", "pattern": "^a", "minLength": 1, "maxLength": 9}, "a", "a"),
        (Line, LINE, {"article": "pen", "colour": "red"}, Line("pen", colour=Colour.RED)),
        (list[Line], {"type": "array", "items": LINE}, [{"article": "pen"}], [Line("pen")]),
        (Point, {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number", "description":
         "Upwards."}}, "required": [], "additionalProperties": False}, {"x": 1}, {"x": 1.0}),
    ],
)
def test_a_hint_is_a_schema_and_reads_values(hint: Any, schema: Any, given: Any, value: Any) -> None:
    read = codec(hint)
    assert read.schema == schema
    decoded = read.decode(given)
    assert decoded == value
    assert type(decoded) is type(value)


@pytest.mark.parametrize("hint", [tuple[()], tuple[int, Loop], Loop, list[Loop], Literal[b"a"], type, "a", Opaque])
def test_a_hint_that_has_no_schema_is_refused(hint: Any) -> None:
    with pytest.raises(TypeError):
        codec(hint)


@dataclass
class Upload:
    name: str
    file: Opaque


def test_a_type_without_a_schema_is_named_with_its_function_its_place_and_what_to_take_instead() -> None:
    def upload(file: Opaque) -> None:
        pass

    def send(of: Upload) -> None:
        pass

    def read() -> Opaque:
        return Opaque()

    def climb(loop: list[Loop]) -> None:
        pass

    cases: list[tuple[Any, str]] = [
        (upload, r"@tool of upload: parameter file: the type \S+Opaque has no JSON Schema. Take str, .*, and convert "
                 r"it inside; or say the schema: @tool\(input_schema=\{…\}\)"),
        (send, r"@tool of send: parameter of: the type \S+Opaque, which Upload has, has no JSON Schema"),
        (read, r"@tool of read: the result: the type \S+Opaque has no JSON Schema. .*@tool\(output_schema=\{…\}\)"),
        (climb, r"parameter loop: Loop holds itself: .*; or say the schema: @tool\(input_schema=\{…\}\)"),
    ]
    for function, said in cases:
        with pytest.raises(TypeError, match=said):
            make(function)


@pytest.mark.parametrize(
    ("hint", "default", "is_fit"),
    [
        (int, "five", False), (str, 5, False), (float, 1, True), (int, True, False), (int | None, "a", False),
        (int | None, None, True), (list[int], ["a"], False), (list[int], (1,), True), (Colour, Colour.RED, True),
        (Literal["a"], "b", False), (Any, "a", True), (datetime, datetime(2026, 1, 15), False), (dict, [], False),
        (datetime, datetime(2026, 1, 15, tzinfo=timezone.utc), True), (date, datetime(2026, 1, 15), False),
        (int, 2**64, False), (float, float("nan"), False), (Literal[1], True, False), (set[int], {1}, True),
        (Line, Line("pen"), True),
    ],
)
def test_a_default_is_of_the_type_of_its_hint(hint: Any, default: Any, is_fit: bool) -> None:
    def pay(amount: Any = default) -> None:
        pass

    pay.__annotations__["amount"] = hint
    if is_fit:
        assert make(pay)
        return
    with pytest.raises(TypeError, match=r"@tool of pay: parameter amount: the default .* does not fit the type hint"):
        make(pay)


def test_a_part_that_has_no_json_is_named_with_its_place() -> None:
    for value, said in [
        (object(), "a value of the type object has no JSON$"),
        ({"orders": [{"id": 1}, {"id": b"2"}]}, "a value of the type bytes has no JSON, at /orders/1/id$"),
        (Upload("a", Opaque()), "Opaque has no JSON, at /file$"), ({"a": {(1, 2): 3}}, "keys must be .*, at /a$"),
    ]:
        with pytest.raises(TypeError, match=said):
            to_json(value)


def test_every_field_of_an_output_is_there() -> None:
    required = codec(Line, output=True).schema["required"]
    assert required == ["article", "count", "notes", "colour"]
    assert json.loads(to_json(Line("pen", colour=Colour.RED))) == {
        "article": "pen", "count": 1, "notes": [], "colour": "red",
    }


def test_values_that_json_has_no_word_for() -> None:
    id_ = UUID(int=1)
    value = {"at": datetime(2026, 1, 15), "on": date(2026, 1, 15), "id": id_, "of": {1}, "in": (1, 2), "big": 2**70}
    assert json.loads(to_json(value)) == {
        "at": "2026-01-15T00:00:00", "on": "2026-01-15", "id": str(id_), "of": [1], "in": [1, 2], "big": 2**70,
    }
    for bad in (object(), float("inf"), "\udc00", {"a": b"b"}, Line):
        with pytest.raises((TypeError, ValueError)):
            to_json(bad)


def refund(
    order_id: str, amount: Annotated[float, Param(minimum=0)], user: Annotated[str, Bind("user.id")],
    reason: str | None = None, colour: Colour = Colour.RED, limit: int = 10, *, ctx: Context,
) -> dict[str, Any]:
    """Pays money back.

    Args:
        order_id: The order.
    """
    return {"user": user, "colour": colour.name, "limit": limit, "reason": reason}


def test_an_offer_is_what_the_function_says() -> None:
    made = make(
        refund, write=True, approve_unless={"amount": {"maximum": 100}}, idempotent=True, timeout=2.5, cache=60,
        tags=["shop"], title="Refund", version="1.2.0", guidance=["Ask first."], untrusted=True,
    )
    offer = made.offer
    assert (offer.name, offer.title, offer.description) == ("refund", "Refund", "Pays money back.")
    assert offer.category == tool_pb2.TOOL_CATEGORY_WRITE
    assert offer.consequence_level == tool_pb2.CONSEQUENCE_LEVEL_MEDIUM
    assert json.loads(offer.approve_unless) == {"amount": {"maximum": 100}}
    assert (offer.idempotent, offer.untrusted, offer.requires_confirmation) == (True, True, False)
    assert offer.timeout.ToMilliseconds() == 2500
    assert (offer.cache.ttl.ToMilliseconds(), offer.cache.scope) == (60_000, "user")
    assert dict(offer.bind) == {"user": "user.id"}
    schema = json.loads(offer.input_schema_json)
    assert list(schema["properties"]) == ["order_id", "amount", "reason", "colour", "limit"]
    assert schema["required"] == ["order_id", "amount"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["order_id"] == {"description": "The order.", "type": "string"}
    assert schema["properties"]["reason"] == {"type": "string"}
    assert schema["properties"]["colour"] == {"type": "string", "enum": ["red", "blue"], "default": "red"}


@pytest.mark.parametrize(
    ("options", "category", "consequence"),
    [
        ({}, "READ", "LOW"), ({"write": True}, "WRITE", "MEDIUM"), ({"category": "delete"}, "DELETE", "HIGH"),
        ({"category": "side_effect", "consequence": "low"}, "SIDE_EFFECT", "LOW"),
    ],
)
def test_category_and_consequence(options: Any, category: str, consequence: str) -> None:
    offer = make(refund, **options).offer
    assert tool_pb2.ToolCategory.Name(offer.category) == f"TOOL_CATEGORY_{category}"
    assert tool_pb2.ConsequenceLevel.Name(offer.consequence_level) == f"CONSEQUENCE_LEVEL_{consequence}"


def test_a_tool_is_called_with_what_the_server_checked() -> None:
    made = make(refund)
    sent = '{"order_id": "A-1", "amount": 3, "user": "riley", "colour": "blue", "reason": null}'
    result = made.bind(sent, Context())()
    assert made.render(result) == '{"user":"riley","colour":"BLUE","limit":10,"reason":null}'


@pytest.mark.parametrize(
    ("hint", "value", "text", "schema"),
    [
        (str, "a", '{"result":"a"}', {"result": {"type": "string"}}),
        (list[int], [1], '{"result":[1]}', {"result": {"type": "array", "items": {"type": "integer"}}}),
        (None, None, "{}", None),
        (int | None, None, '{"result":null}', {"result": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}),
        (Line, Line("pen"), '{"article":"pen","count":1,"notes":[],"colour":null}', LINE["properties"]),
    ],
)
def test_what_is_no_object_is_put_into_one(hint: Any, value: Any, text: str, schema: Any) -> None:
    def returns() -> Any:
        return value

    returns.__annotations__["return"] = hint
    made = make(returns)
    assert made.render(value) == text
    assert json.loads(made.offer.output_schema_json).get("properties") == schema


def no_hint(a) -> None:  # type: ignore[no-untyped-def]
    pass


def many(*args: int) -> None:
    pass


def positional(a: int, /) -> None:
    pass


def generates() -> dict[str, int]:  # type: ignore[misc]
    yield 1


class Shop:
    def order(self, order_id: str) -> None:
        pass


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_hint, "@tool of no_hint: parameter a: it has no type hint"),
        (many, r"@tool of many: parameter args: it has no name"),
        (positional, "@tool of positional: parameter a: it has no name"),
        (generates, r"@tool of generates: .*it is a generator, and its hint says dict\[str, int\]: say Iterator"),
        (Shop.order, "@tool of order: parameter self: a method is no tool: decorate a function"),
    ],
)
def test_a_function_that_cannot_be_offered_is_refused(function: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        make(function)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"category": "writ"}, "@tool of refund: 'writ' is none of read, write, delete, side_effect"),
        ({"consequence": "hihg"}, "@tool of refund: 'hihg' is none of low, medium, high"),
        ({"timeout": "5"}, "@tool of refund: timeout is a number of seconds, not '5'"),
        ({"cache": "60"}, "@tool of refund: cache is a number of seconds, not '60'"),
        ({"timeout": float("inf")}, "@tool of refund: timeout is a number of seconds from 0, not inf"),
        ({"timeout": float("nan")}, "@tool of refund: timeout is a number of seconds from 0, not nan"),
        ({"cache": -1}, "@tool of refund: cache is a number of seconds from 0, not -1"),
    ],
)
def test_the_value_of_an_option_is_checked(options: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        make(refund, **options)


@pytest.mark.parametrize("misspelt", [{"confrim": True}, {"writes": True}, {"aprove_unless": {}}])
def test_an_option_that_there_is_not_is_refused(misspelt: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{next(iter(misspelt))}'"):
        tool(**misspelt)(refund)


def test_a_name_is_one_that_every_provider_takes_and_belongs_to_one_function() -> None:
    with pytest.raises(ValueError, match="not the name of a tool"):
        make(refund, name="Refund")
    assert tool(name="unique_name")(refund) is refund
    assert tool(name="unique_name")(refund) is refund, "a module may be read again"
    with pytest.raises(ValueError, match="two tools are called unique_name"):
        tool(name="unique_name")(many_hints)
    del REGISTRY["unique_name"]


def test_two_tools_of_one_name_in_one_file_are_named_with_their_lines() -> None:
    with pytest.raises(ValueError, match=r"two tools are called twice: \S+ \(f.py:1\) and \S+ \(f.py:5\)\. Rename one"):
        read("f.py", "@tool\ndef twice() -> None: ...\n\n\n@tool\ndef twice() -> None: ...\n")
    read("f.py", "@tool\ndef twice() -> None: ...\n")
    read("another cell of a notebook", "\n@tool\ndef twice() -> None: ...\n")
    del REGISTRY["twice"]


def read(file: str, text: str) -> None:
    exec(compile(text, file, "exec", dont_inherit=True), {"tool": tool, "__name__": "f"})


def many_hints(a: int) -> None:
    pass


def test_a_tool_is_tried_without_a_server() -> None:
    def report(ctx: Context) -> dict[str, str]:
        ctx.progress("Half", 0.5)
        ctx.chunk({"part": 1})
        return {"key": ctx.request_id}

    ctx = Context(request_id="r-1")
    assert report(ctx) == {"key": "r-1"}
    assert (ctx.progressed, ctx.chunks) == ([("Half", 0.5)], [{"part": 1}])


@pytest.mark.parametrize(
    ("conditions", "said"),
    [
        ({"amuont": {"maximum": 5}}, "there is no parameter 'amuont'; the parameters are amount, who"),
        ({"ctx": {"maximum": 5}}, "there is no parameter 'ctx'"),
        ({1: {"maximum": 5}}, "there is no parameter 1"),
        ({}, "it is a dict of parameters and their JSON Schemas, and not empty"),
        ([("amount", {"maximum": 5})], "it is a dict of parameters"),
        ({"amount": 5}, "amount: it is a JSON Schema as a dict"),
        ({"amount": {"maximum": float("nan")}}, "nan"),
        ({"amount": {"enum": [object()]}}, "object"),
    ],
)
def test_a_wrong_condition_is_refused_where_it_is_written(conditions: Any, said: str) -> None:
    def pay(amount: float, who: Annotated[str, Bind("user.id")], *, ctx: Context) -> dict[str, Any]:
        return {}

    with pytest.raises((TypeError, ValueError)) as refused:
        tool(write=True, approve_unless=conditions)(pay)
    first = pay.__code__.co_firstlineno
    assert str(refused.value).startswith("@tool of pay: approve_unless: "), refused.value
    assert said in str(refused.value)
    assert str(refused.value).endswith(f"({__file__}:{first})")
    good = make(pay, write=True, approve_unless={"who": {"const": "riley"}, "amount": {}})
    assert json.loads(good.offer.approve_unless) == {"who": {"const": "riley"}, "amount": {}}
