"""JSON of Python values. A value is carried exactly, or refused with the place where it cannot be."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date
from typing import Any
from uuid import UUID

from toolwire._text import cut, type_name

Write = Callable[[Any], Any]

# Of a result and of a chunk: bytes, and levels of nesting.
MOST_DATA, MOST_LEVELS = 3 * 1024 * 1024, 32
# What an integer of JSON may be: of 64 bits, signed or unsigned.
LEAST_INT, MOST_INT = -(2**63), 2**64 - 1
AS_TEXT = "Annotated[int, Param(as_text=True)]"

# Once, since `json.dumps` makes one for each value.
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":"))


class Misfit(TypeError, ValueError):
    """A value of a type, or a value, that is not carried exactly."""

    def __init__(self, what: str, rule: str = "value") -> None:
        super().__init__(what)
        self.what, self.rule, self.pointer = what, rule, ""

    def __str__(self) -> str:
        return f"{self.what}, at {self.pointer}" if self.pointer else self.what

    def under(self, key: object) -> None:
        """Notes that it was found in a member, or in an element."""
        segment = cut(str(key), 100).replace("~", "~0").replace("/", "~1")
        self.pointer = f"/{segment}{self.pointer}"


class Foreign(Misfit):
    """A value of a type that is not of JSON at all."""


class TooLarge(Misfit):
    """More than a client accepts."""


class Writer:
    """Makes one value of dict, list, str, int, float, bool and None alone, and counts what its text will take.

    Without bounds it is for what a server checks, such as schemas.
    """

    def __init__(self, most: float = math.inf, levels: int = 200, *, bounds_integers: bool = False) -> None:
        # What is left of the bounds.
        self.bytes, self.levels, self._bounds_integers = most, levels, bounds_integers
        # Whether all was plain until now, as most data is.
        self._is_plain = bounds_integers

    @classmethod
    def of_data(cls) -> Writer:
        """For a result or a chunk."""
        return cls(MOST_DATA, MOST_LEVELS, bounds_integers=True)

    def plain(self, value: Any) -> Any:
        """Of a value of which no more is known than its type."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.number(value)
        if kind is dict or kind is list or kind is tuple:
            return self._container(value)
        return self._other(value)

    def _container(self, value: Any) -> Any:
        if self._is_plain:
            left = count_left(value, self.levels, self.bytes)
            if left >= 0:
                self.bytes = left
                return value
            # Once, since what is shared would be looked at from each place.
            self._is_plain = False
        return self.mapping(value.items(), self.plain) if type(value) is dict else self.array(value, self.plain)

    def text(self, value: str) -> str:
        # With its quotes.
        self._take(len(value) + 2)
        # A subclass may say another text than it holds.
        value = str.__str__(value)
        if not value.isascii() and not is_utf8(value):
            raise Misfit("a text with half of a surrogate pair has no UTF-8")
        return value

    def integer(self, value: int) -> int:
        value = int.__int__(value)
        if self._bounds_integers and not LEAST_INT <= value <= MOST_INT:
            way_out = f"it is a text where {AS_TEXT} is declared"
            raise Misfit(f"an integer has at most 64 bits, and this one more: {way_out}", "exact")
        return value

    def number(self, value: float) -> float:
        value = float.__float__(value)
        if not math.isfinite(value):
            raise Misfit(f"{value} is no number of JSON", "exact")
        return value

    def mapping(self, items: Iterable[tuple[Any, Any]], write: Write) -> dict[str, Any]:
        """Of members, each written so."""
        return self.members(((key, item, write) for key, item in items))

    def members(self, items: Iterable[tuple[Any, Any, Write]]) -> dict[str, Any]:
        """Of members, each written in its own way."""
        made: dict[str, Any] = {}
        self._enter()
        for key, item, write in items:
            if not isinstance(key, str):
                raise Misfit(f"keys must be texts, not of the type {type_name(key)}")
            name = self.text(key)
            if name in made:
                raise Misfit(f"two keys are {cut(name, 100)!r}")
            try:
                made[name] = write(item)
            except Misfit as misfit:
                misfit.under(name)
                raise
        self.levels += 1
        return made

    def array(self, items: Iterable[Any], write: Write) -> list[Any]:
        made: list[Any] = []
        self._enter()
        try:
            for item in items:
                # A comma and a digit.
                self._take(2)
                made.append(write(item))
        except Misfit as misfit:
            misfit.under(len(made))
            raise
        self.levels += 1
        return made

    def _enter(self) -> None:
        if self.levels <= 0:
            raise Misfit("it nests deeper than any that is taken")
        self.levels -= 1
        self._take(2)

    def _take(self, count: int) -> None:
        # What is shared is written again at each place, so that a small value may have a text without end.
        self.bytes -= count
        if self.bytes < 0:
            raise TooLarge("it has more than 3 MiB")

    def _other(self, value: Any) -> Any:
        for kind, write in OTHERS.items():
            if isinstance(value, kind):
                return write(self, value)
        if serializer := getattr(type(value), "__pydantic_serializer__", None):
            # Its own form, which may mask what its fields hold.
            return self.plain(serializer.to_python(value, mode="json", by_alias=True))
        if (names := fields_of(type(value))) is not None:
            return self.mapping(((name, getattr(value, name)) for name in names.values()), self.plain)
        if isinstance(value, Mapping):
            return self.mapping(value.items(), self.plain)
        if is_array(value):
            return self.array(value, self.plain)
        raise Foreign(f"a value of the type {type_name(value)} has no JSON")


# How values of subclasses of these are written.
OTHERS: dict[type, Callable[[Writer, Any], Any]] = {
    enum.Enum: lambda to, it: to.plain(it.value), str: Writer.text, int: Writer.integer, float: Writer.number,
    date: lambda to, it: to.text(it.isoformat()), UUID: lambda _, it: str(UUID(int=it.int)),
}


def fields_of(kind: Any) -> dict[str, str] | None:
    """The names of the fields of a class of dataclasses or attrs, each by the one that it is made with."""
    if dataclasses.is_dataclass(kind):
        return {it.name: it.name for it in dataclasses.fields(kind)}
    fields = getattr(kind, "__attrs_attrs__", None)
    return None if fields is None else {it.alias if it.init else it.name: it.name for it in fields}


def count_left(value: Any, levels: int, left: float) -> float:
    """What is left of the bytes after a dict, a list or a tuple; less than 0 if not all in it is plain.

    It says what `Writer` does of such a value, in a fraction of the time. Raises TooLarge.
    """
    if levels <= 0:
        return -1
    left -= 2 * len(value) + 2
    items = value
    if type(value) is dict:
        items = value.values()
        for key in value:
            if type(key) is not str or not (key.isascii() or is_utf8(key)):
                return -1
            left -= len(key)
    for item in items:
        kind = type(item)
        if kind is str:
            if not (item.isascii() or is_utf8(item)):
                return -1
            left -= len(item)
        elif kind is int:
            if not LEAST_INT <= item <= MOST_INT:
                return -1
        elif kind is float:
            if not math.isfinite(item):
                return -1
        elif kind is dict or kind is list or kind is tuple:
            inner = count_left(item, levels - 1, left)
            if inner < 0:
                return -1
            left = inner
        elif kind is not bool and item is not None:
            return -1
    if left < 0:
        raise TooLarge("it has more than 3 MiB")
    return left


def is_utf8(text: str) -> bool:
    """Whether it has no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_array(value: Any) -> bool:
    """Whether its elements are those of an array. Those of an iterator are not known to exist."""
    return isinstance(value, Sequence | Set) and not isinstance(value, str | bytes | bytearray | memoryview)


def take(items: Iterable[Any]) -> list[Any]:
    """The elements of an iterator, and one more than a result can have of one that has no end."""
    return list(itertools.islice(items, MOST_DATA // 2 + 1))


def to_json(value: Any) -> str:
    """JSON text of a value. Raises Misfit of one that has none."""
    return ENCODER.encode(Writer().plain(value))


def data_json(value: Mapping[str, Any]) -> str:
    """That of data, within the bounds of a server. Raises Misfit."""
    return fit(ENCODER.encode(Writer.of_data().plain(dict(value))))


def fit(text: str) -> str:
    """Data that a client accepts."""
    if len(text) > MOST_DATA or len(text.encode()) > MOST_DATA:
        raise TooLarge("it has more than 3 MiB")
    return text
