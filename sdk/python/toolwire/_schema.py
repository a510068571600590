"""What type hints mean: a JSON Schema, and which values of JSON are values of theirs."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from toolwire import _codecs as codecs
from toolwire._codecs import PLAIN, READS, WRITES, Codec
from toolwire._forms import FORMS, LARGE, Schema

LISTS: dict[Any, Any] = {list: list, Sequence: list, Iterable: list, set: set, frozenset: frozenset, tuple: tuple}
USABLE = (
    "str, int, float, bool, Literal, Enum, list, set, dict, datetime, date, UUID, Decimal, a dataclass or a TypedDict"
)


class Param:
    """What a type does not say of a parameter: `Annotated[float, Param("In euros.", minimum=0)]`.

    as_text: an `int` may have any length, and is the text of its digits; as a number it has at most 64 bits.
    """

    def __init__(
        self, description: str = "", *, minimum: float | None = None, maximum: float | None = None,
        min_length: int | None = None, max_length: int | None = None, min_items: int | None = None,
        max_items: int | None = None, pattern: str | None = None, examples: Sequence[Any] | None = None,
        as_text: bool = False,
    ) -> None:
        keywords = {
            "description": description or None, "minimum": minimum, "maximum": maximum, "minLength": min_length,
            "maxLength": max_length, "minItems": min_items, "maxItems": max_items, "pattern": pattern,
            "examples": list(examples) if examples else None,
        }
        self.schema: Schema = {key: value for key, value in keywords.items() if value is not None}
        self.as_text = as_text


def codec(hint: Any, *, output: bool = False, within: tuple[Any, ...] = ()) -> Codec:
    """Reads a hint. In an output every field of an object is there; in an input those with defaults may be absent."""

    def inner(hint: Any) -> Codec:
        return codec(hint, output=output, within=within)

    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        words = [word for word in args[1:] if isinstance(word, str | Param)]
        is_text = any(isinstance(word, Param) and word.as_text for word in words)
        return _annotate(_large(args[0], output) if is_text else inner(args[0]), words)
    if hint is Any or hint is object:
        return Codec({}, codecs.read_any, codecs.write_any)
    if hint is None or hint is type(None):
        return Codec({"type": "null"}, codecs.read_null, codecs.plain_writer(type(None)))
    if hint in PLAIN:
        return Codec({"type": PLAIN[hint]}, READS[hint], WRITES[hint] if output else codecs.plain_writer(hint))
    if hint in FORMS:
        return codecs.text_codec(hint, FORMS[hint], output)
    if origin is Literal:
        return codecs.choice([(value, value) for value in args])
    if isinstance(hint, type) and issubclass(hint, enum.Flag):
        raise TypeError(f"the values of {hint.__qualname__} can be combined: take an int, or a list of an Enum")
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return codecs.choice([(member.value, member) for member in hint])
    if origin in (Union, types.UnionType):
        return codecs.union([inner(arg) for arg in args])
    if (origin or hint) in (dict, Mapping):
        if args and args[0] not in (str, Any):
            raise TypeError(f"the keys of {inspect.formatannotation(hint)} are no texts, as those of JSON are")
        return codecs.mapping(inner(args[1]) if args else None)
    if (origin or hint) in LISTS:
        items = [arg for arg in args if arg is not ...]
        is_empty = origin is tuple and not args and hint is not typing.Tuple  # noqa: UP006
        if len(items) > 1 or is_empty:
            raise TypeError("a tuple of several types has no JSON Schema that all providers of models take")
        return codecs.array(LISTS[origin or hint], inner(items[0] if items else Any))
    if dataclasses.is_dataclass(hint) or typing.is_typeddict(hint):
        if hint in within:
            raise TypeError(f"{hint.__qualname__} holds itself: providers of models refuse such schemas")
        return _record(hint, output, (*within, hint))
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


def closed_object(properties: Mapping[str, Schema], required: list[str]) -> Schema:
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


def _annotate(base: Codec, words: Iterable[str | Param]) -> Codec:
    schema = base.schema
    for word in words:
        stated = {"description": word} if isinstance(word, str) else word.schema
        if base.schema.get("type") == "string" and stated.keys() & {"minimum", "maximum"}:
            raise TypeError("minimum and maximum are of numbers, and this is a text: give its pattern")
        if "examples" in stated:
            stated = {**stated, "examples": [base.encode(example) for example in stated["examples"]]}
        schema = {**schema, **stated}
    return dataclasses.replace(base, schema=schema)


def _large(hint: Any, output: bool) -> Codec:
    """Of a number that is a text."""
    if hint is int:
        return codecs.text_codec(int, LARGE, output)
    if hint is Decimal:
        return codecs.text_codec(Decimal, FORMS[Decimal], output)
    if optional(hint) != hint:
        return codecs.union([_large(optional(hint), output), codec(None)])
    raise TypeError(f"as_text is for int and Decimal, not for {inspect.formatannotation(hint)}")


def _record(hint: Any, output: bool, within: tuple[Any, ...]) -> Codec:
    hints = typing.get_type_hints(hint, include_extras=True)
    if dataclasses.is_dataclass(hint):
        fields = [field for field in dataclasses.fields(hint) if field.init or output]
        hints = {field.name: hints[field.name] for field in fields}
        required = [field.name for field in fields if output or _has_no_default(field)]
        if not output:
            _check_init(hint, hints.keys())
    else:
        hints = {name: _bare(hint) for name, hint in hints.items()}
        required = [name for name in hints if name in hint.__required_keys__]
    members = {name: codec(hint, output=output, within=within) for name, hint in hints.items()}
    schema = closed_object({name: it.schema for name, it in members.items()}, required)
    if output:
        # A value of a subclass may have more members.
        del schema["additionalProperties"]
    return codecs.record(hint, members, schema)


def _check_init(hint: Any, fields: Iterable[str]) -> None:
    """Refuses a dataclass that is not made of its fields alone."""
    given = inspect.signature(hint).parameters.values()
    needed = {it.name for it in given if it.default is it.empty and it.kind not in (it.VAR_POSITIONAL, it.VAR_KEYWORD)}
    if missing := needed - set(fields):
        raise TypeError(f"{hint.__qualname__} needs {', '.join(sorted(missing))}, which is no field of it")


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _bare(hint: Any) -> Any:
    """A field of a TypedDict without `Required[…]`, `NotRequired[…]` or `ReadOnly[…]`, of whichever package."""
    name = getattr(get_origin(hint), "__name__", "") or getattr(get_origin(hint), "_name", "")
    return _bare(get_args(hint)[0]) if name in ("Required", "NotRequired", "ReadOnly") else hint
