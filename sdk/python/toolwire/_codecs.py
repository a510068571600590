"""Values from JSON and to JSON by the kind of their type, each exactly or not at all. The hints are in `_schema`."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from toolwire._forms import Form, Schema
from toolwire._json import LEAST_INT, MOST_INT, Misfit, Writer, is_array

# How far a value may be from its type. In this order the types of a union are tried, the first that takes it has it:
# the value is of that very form; fields are left out, or the type takes any object; a number is equal to one of another
# kind; what is returned is something else, and is written as it is.
EXACT, COMPLETED, CONVERTED, ANY = range(4)
Read = Callable[[Any, int], Any]
Write = Callable[[Any, Writer, int], Any]

PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
NONE = type(None)


@dataclass(frozen=True)
class Codec:
    """What a hint means: its schema, and how its values are read from JSON and written to it."""

    schema: Schema
    read: Read
    write: Write
    # Whether a set can hold its values.
    is_hashable: bool = True

    def decode(self, value: Any) -> Any:
        """The value of the hint that is equal to one from JSON. Raises Misfit if there is none."""
        return self.read(value, CONVERTED)

    def encode(self, value: Any) -> Any:
        """JSON of what stands in a schema: a default, an example."""
        return self.write(value, Writer(), ANY)


def read_at(key: object, act: Callable[[Any, int], Any], value: Any, how: int) -> Any:
    """Reads a member or an element."""
    try:
        return act(value, how)
    except Misfit as misfit:
        misfit.under(key)
        raise


def read_any(value: Any, how: int) -> Any:
    if how == EXACT:
        raise Misfit("a type of which more is known comes first")
    return value


def write_any(value: Any, to: Writer, how: int) -> Any:
    return to.plain(value)


ANYTHING = Codec({}, read_any, write_any)


def plain_reader(kind: type, what: str) -> Read:
    """Of a type whose values are read as they are."""

    def read(value: Any, how: int) -> Any:
        if type(value) is not kind:
            raise Misfit(f"it is {what}")
        return value

    return read


def read_integer(value: Any, how: int) -> int:
    # What is written with a fraction or an exponent is an integer too, if its digits say so.
    if type(value) is float and how >= CONVERTED and value.is_integer() and Decimal(repr(value)) == int(value):
        value = int(value)
    if type(value) is not int:
        raise Misfit("it is no integer")
    if not LEAST_INT <= value <= MOST_INT:
        raise Misfit("an integer has at most 64 bits", "exact")
    return value


def read_number(value: Any, how: int) -> float:
    if type(value) is int and how >= CONVERTED and LEAST_INT <= value <= MOST_INT:
        if int(float(value)) != value:
            raise Misfit(f"no float is equal to {value}", "exact")
        value = float(value)
    if type(value) is not float or not math.isfinite(value):
        raise Misfit("it is no number")
    return value


READS: dict[Any, Read] = {
    str: plain_reader(str, "no text"), int: read_integer, float: read_number,
    bool: plain_reader(bool, "neither true nor false"), NONE: plain_reader(NONE, "not null"),
}


def plain_writer(kind: type, write: Callable[[Writer, Any], Any] = Writer.plain) -> Write:
    """Of a type whose values are written as they are."""

    def write_plain(value: Any, to: Writer, how: int) -> Any:
        # A bool is an int to Python, and none in JSON.
        is_own = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if how < ANY and not is_own:
            raise Misfit("it is of another type")
        return write(to, value) if is_own else to.plain(value)

    return write_plain


def write_number(value: Any, to: Writer, how: int) -> Any:
    return plain_writer(int if how >= CONVERTED and isinstance(value, int) else float)(value, to, how)


# Of what functions return. A default is written as what it is, so that one of another type is found.
WRITES: dict[Any, Write] = {
    str: plain_writer(str, Writer.text), int: plain_writer(int, Writer.integer), float: write_number,
    bool: plain_writer(bool),
}


def text_codec(kind: type, form: Form, output: bool) -> Codec:
    """Of a type whose values are texts."""

    def read(value: Any, how: int) -> Any:
        try:
            return form.read(READS[str](value, how))
        except Misfit:
            raise
        except (ValueError, OverflowError) as error:
            raise Misfit(str(error)) from None

    def write(value: Any, to: Writer, how: int) -> Any:
        kinds = kind if how < CONVERTED else (kind, *form.also)
        if isinstance(value, kinds) and not isinstance(value, bool):
            return to.text(form.write(value))
        return plain_writer(kind)(value, to, how)

    return Codec((form.returned or form.schema) if output else form.schema, read, write)


def choice(options: list[tuple[Any, Any]]) -> Codec:
    """Of some values of JSON, each with what it is in Python."""
    values = [value for value, _ in options]
    kinds = {PLAIN.get(type(value), "null") for value in values}
    if not values or any(type(value) not in READS for value in values):
        raise TypeError(f"a choice is of texts, numbers, booleans and None, not {values!r}")
    for value in values:
        READS[type(value)](value, EXACT)
    # By type too: 1, 1.0 and True are one key otherwise.
    by_value = {(type(value), value): option for value, option in options}

    def read(value: Any, how: int) -> Any:
        kinds = [type(value)] if type(value) in READS else []
        if how >= CONVERTED and type(value) in (int, float):
            kinds += [int, float]
        for kind in kinds:
            if (kind, value) in by_value:
                return by_value[kind, value]
        raise Misfit(f"it is none of {values!r}")

    def write(value: Any, to: Writer, how: int) -> Any:
        written = to.plain(value)
        if how < ANY:
            read(written, how)
        return written

    schema: Schema = {"type": kinds.pop(), "enum": values} if len(kinds) == 1 else {"enum": values}
    return Codec(schema, read, write)


def union(branches: list[Codec]) -> Codec:
    def read(value: Any, how: int) -> Any:
        for most in range(how + 1):
            for branch in branches:
                with contextlib.suppress(Misfit):
                    return branch.read(value, most)
        raise Misfit("it is of no type of the union")

    def write(value: Any, to: Writer, how: int) -> Any:
        before = to.bytes, to.levels
        for most in (EXACT, CONVERTED)[: 1 + (how >= CONVERTED)]:
            for branch in branches:
                try:
                    return branch.write(value, to, most)
                except Misfit:
                    to.bytes, to.levels = before
        if how < ANY:
            raise Misfit("it is of no type of the union")
        return to.plain(value)

    return Codec({"anyOf": [it.schema for it in branches]}, read, write, all(it.is_hashable for it in branches))


def mapping(key: Codec | None, item: Codec | None) -> Codec:
    """Of an object with any members, each of the same type, as are the names where they are no mere texts."""

    def read(value: Any, how: int) -> Any:
        if type(value) is not dict or how == EXACT:
            raise Misfit("it is no object")
        made = {name: read_at(name, item.read, it, how) for name, it in value.items()} if item else value
        if key:
            made = {read_at(name, key.read, name, how): it for name, it in made.items()}
        if len(made) != len(value):
            raise Misfit("two of its keys are one in a dict")
        return made

    def write(value: Any, to: Writer, how: int) -> Any:
        if (item is None and key is None) or not isinstance(value, Mapping):
            return plain_writer(Mapping)(value, to, how)
        items = [(key.write(name, to, how) if key else name, it) for name, it in value.items()]
        return to.mapping(items, lambda it: item.write(it, to, how) if item else to.plain(it))

    schema: Schema = {"type": "object"}
    if key:
        schema["propertyNames"] = key.schema
    if item:
        schema["additionalProperties"] = item.schema or True
    return Codec(schema, read, write, is_hashable=False)


def fixed(items: list[Codec]) -> Codec:
    """Of an array with elements of types of their own: a tuple."""

    def read(value: Any, how: int) -> Any:
        if type(value) is not list or len(value) != len(items):
            raise Misfit(f"it is no array of {len(items)} elements")
        pairs = zip(items, value, strict=True)
        return tuple(read_at(index, item.read, it, how) for index, (item, it) in enumerate(pairs))

    def write(value: Any, to: Writer, how: int) -> Any:
        if not is_array(value) or len(value) != len(items) or (how < ANY and not isinstance(value, tuple)):
            return plain_writer(tuple)(value, to, min(how, CONVERTED))
        left = iter(items)
        return to.array(value, lambda it: next(left).write(it, to, how))

    schema = {"type": "array", "prefixItems": [it.schema for it in items], "items": False}
    schema |= {"minItems": len(items), "maxItems": len(items)}
    return Codec(schema, read, write, all(it.is_hashable for it in items))


def array(make: type, item: Codec) -> Codec:
    is_set = make in (set, frozenset)

    def read(value: Any, how: int) -> Any:
        if type(value) is not list:
            raise Misfit("it is no array")
        made = make([read_at(index, item.read, it, how) for index, it in enumerate(value)])
        if len(made) != len(value):
            raise Misfit("two of its elements are one in a set")
        return made

    def write(value: Any, to: Writer, how: int) -> Any:
        # What says Sequence or Iterable is a list here, and may be returned as anything of that kind.
        if not is_array(value) or (how < ANY and make is not list and not isinstance(value, make)):
            return plain_writer(make)(value, to, how)
        written = to.array(value, lambda it: item.write(it, to, how))
        if is_set and len({repr(it) for it in written}) != len(written):
            raise Misfit("two of its elements are one in JSON")
        return written

    schema: Schema = {"type": "array", "items": item.schema}
    if is_set:
        schema["uniqueItems"] = True
    return Codec(schema, read, write, is_hashable=make in (tuple, frozenset) and item.is_hashable)
