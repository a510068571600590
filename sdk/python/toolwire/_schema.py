"""JSON Schemas of type hints, and values of theirs from JSON and to JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import inspect
import json
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

Schema = dict[str, Any]
Decode = Callable[[Any], Any]

PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
LISTS: dict[Any, Decode] = {list: list, Sequence: list, Iterable: list, set: set, frozenset: frozenset, tuple: tuple}
TEXTS: dict[Any, tuple[str, Decode]] = {
    # Until Python 3.11 `fromisoformat` does not know the Z.
    datetime: ("date-time", lambda text: datetime.fromisoformat(text.replace("Z", "+00:00"))),
    date: ("date", date.fromisoformat),
    UUID: ("uuid", UUID),
}
# What a value from JSON is, by the type that a schema says.
KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "null": (type(None),),
    "array": (list,), "object": (dict,),
}
USABLE = "str, int, float, bool, Literal, Enum, list, set, dict, datetime, date, UUID, a dataclass or a TypedDict"


class Param:
    """What a type does not say of a parameter: `Annotated[float, Param("In euros.", minimum=0)]`."""

    def __init__(
        self, description: str = "", *, minimum: float | None = None, maximum: float | None = None,
        min_length: int | None = None, max_length: int | None = None, min_items: int | None = None,
        max_items: int | None = None, pattern: str | None = None, examples: Sequence[Any] | None = None,
    ) -> None:
        keywords = {
            "description": description or None, "minimum": minimum, "maximum": maximum, "minLength": min_length,
            "maxLength": max_length, "minItems": min_items, "maxItems": max_items, "pattern": pattern,
            "examples": list(examples) if examples else None,
        }
        self.schema: Schema = {key: value for key, value in keywords.items() if value is not None}


@dataclass(frozen=True)
class Codec:
    """What a hint means: its schema, and how a value is made from JSON, unless it stays as it is."""

    schema: Schema
    decode: Decode | None = None


def codec(hint: Any, *, output: bool = False, within: tuple[Any, ...] = ()) -> Codec:
    """Reads a hint. In an output every field of an object is there; in an input those with defaults may be absent."""

    def inner(hint: Any) -> Codec:
        return codec(hint, output=output, within=within)

    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(inner(args[0]), args[1:])
    if hint is Any or hint is object:
        return Codec({})
    if hint is None or hint is type(None):
        return Codec({"type": "null"})
    if hint in PLAIN:
        return Codec({"type": PLAIN[hint]}, hint if hint in (int, float) else None)
    if hint in TEXTS:
        return Codec({"type": "string", "format": TEXTS[hint][0]}, TEXTS[hint][1])
    if origin is Literal:
        return Codec(_choice(args))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return Codec(_choice([member.value for member in hint]), hint)
    if origin in (Union, types.UnionType):
        return _union([inner(arg) for arg in args])
    if (origin or hint) in (dict, Mapping):
        return _mapping(inner(args[1])) if args else Codec({"type": "object"})
    if (origin or hint) in LISTS:
        return _list(LISTS[origin or hint], [inner(arg) for arg in args if arg is not ...])
    if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint):
        if hint in within:
            raise TypeError(f"{hint.__qualname__} holds itself: providers of models refuse such schemas")
        return _object(hint, output, (*within, hint))
    where = f", which {within[-1].__qualname__} has," if within else ""
    raise TypeError(
        f"the type {inspect.formatannotation(hint)}{where} has no JSON Schema. Take {USABLE}, and convert it inside"
    )


@contextlib.contextmanager
def locate(place: str) -> Iterator[None]:
    """Says the place of what is wrong in it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{place}: {error}") from None


def fits(value: Any, schema: Schema) -> bool:
    """Whether a value from JSON is of the type of a schema; its bounds are for the server to check."""
    if "anyOf" in schema:
        return any(fits(value, branch) for branch in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    kinds = KINDS.get(schema.get("type", ""), (object,))
    # A bool is an int to Python.
    if not isinstance(value, kinds) or (isinstance(value, bool) and int in kinds):
        return False
    return not isinstance(value, list) or all(fits(item, schema.get("items", {})) for item in value)


def closed(properties: Mapping[str, Schema], required: list[str]) -> Schema:
    """The schema of an object that has no other members."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def optional(hint: Any) -> Any:
    """The hint without `None`, and as it is if it has none."""
    if get_origin(hint) is Annotated:
        inner, *words = get_args(hint)
        annotated: Any = Annotated
        both = (optional(inner), *words)
        return annotated[both]
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    return Union[tuple(arg for arg in get_args(hint) if arg is not type(None))]


def _annotated(base: Codec, words: Iterable[Any]) -> Codec:
    schema = base.schema
    for word in words:
        if isinstance(word, str):
            schema = {**schema, "description": word}
        elif isinstance(word, Param):
            schema = {**schema, **word.schema}
    return Codec(schema, base.decode)


def _choice(values: Iterable[Any]) -> Schema:
    values = list(values)
    kinds = {PLAIN.get(type(value)) for value in values}
    if kinds - {"string", "integer", "number", "boolean"}:
        raise TypeError(f"a choice is of texts, numbers and booleans, not {values!r}")
    return {"type": kinds.pop(), "enum": values} if len(kinds) == 1 else {"enum": values}


def _union(branches: list[Codec]) -> Codec:
    def decode(value: Any) -> Any:
        for branch in branches:
            if value is None and branch.schema != {"type": "null"}:
                continue
            try:
                return branch.decode(value) if branch.decode else value
            except (KeyError, TypeError, ValueError):
                continue
        raise ValueError(f"{value!r} fits no type of the union")

    return Codec({"anyOf": [it.schema for it in branches]}, decode if any(it.decode for it in branches) else None)


def _mapping(value: Codec) -> Codec:
    schema = {"type": "object", "additionalProperties": value.schema or True}
    if (inner := value.decode) is None:
        return Codec(schema)
    return Codec(schema, lambda items: {key: inner(item) for key, item in items.items()})


def _list(make: Decode, items: list[Codec]) -> Codec:
    if len(items) > 1:
        raise TypeError("a tuple of several types has no JSON Schema that all providers of models take")
    item = items[0] if items else Codec({})
    schema: Schema = {"type": "array", "items": item.schema}
    if make in (set, frozenset):
        schema["uniqueItems"] = True
    if (inner := item.decode) is None:
        return Codec(schema, None if make is list else make)
    return Codec(schema, lambda values: make(map(inner, values)))


def _object(hint: Any, output: bool, within: tuple[Any, ...]) -> Codec:
    hints = typing.get_type_hints(hint, include_extras=True)
    if dataclasses.is_dataclass(hint):
        fields = [field for field in dataclasses.fields(hint) if field.init or output]
        hints = {field.name: hints[field.name] for field in fields}
        required = [field.name for field in fields if output or _has_no_default(field)]
    else:
        hints = {name: _bare(hint) for name, hint in hints.items()}
        required = [name for name in hints if name in hint.__required_keys__]
    codecs = {name: codec(hint, output=output, within=within) for name, hint in hints.items()}
    schema = closed({name: it.schema for name, it in codecs.items()}, required)
    make: Callable[..., Any] = hint

    def decode(value: Any) -> Any:
        given = {name: codecs[name].decode for name in value}
        return make(**{name: do(value[name]) if do else value[name] for name, do in given.items()})

    return Codec(schema, decode)


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _bare(hint: Any) -> Any:
    """A field of a TypedDict without `Required[…]`, `NotRequired[…]` or `ReadOnly[…]`, of whichever package."""
    name = getattr(get_origin(hint), "__name__", "") or getattr(get_origin(hint), "_name", "")
    return _bare(get_args(hint)[0]) if name in ("Required", "NotRequired", "ReadOnly") else hint


def to_json(value: Any) -> str:
    """JSON text of a value. Raises TypeError, ValueError or RecursionError of one that has none."""
    try:
        text = ENCODER.encode(value)
    except TypeError as error:
        place = _pointer(value)
        raise TypeError(f"{error}, at {place}" if place else str(error)) from None
    text.encode()  # A lone surrogate has no UTF-8.
    return text


def _pointer(value: Any) -> str:
    """The JSON Pointer of what has no JSON, in a value that has none."""
    with contextlib.suppress(TypeError):
        value = value if isinstance(value, dict | list | tuple) else _plain(value)
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            try:
                ENCODER.encode(item)
            except TypeError:
                return f"/{key}{_pointer(item)}"
    return ""


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, set | frozenset):
        return list(value)
    raise TypeError(f"a value of the type {inspect.formatannotation(type(value))} has no JSON")


# Once, since `json.dumps` makes one for each value.
ENCODER = json.JSONEncoder(default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
