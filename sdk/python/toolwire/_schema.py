"""What type hints mean: a JSON Schema, and which values of JSON are values of theirs."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

from toolwire import _codecs as codecs
from toolwire import _pydantic as pydantic
from toolwire._bounds import Param, constrain, describe, flatten
from toolwire._codecs import ANYTHING, PLAIN, READS, WRITES, Codec
from toolwire._forms import FORMS, LARGE, Schema
from toolwire._json import Misfit, fields_of
from toolwire._records import Member, is_typed_dict, record

LISTS: dict[Any, Any] = {list: list, Sequence: list, Iterable: list, set: set, frozenset: frozenset, tuple: tuple}
USABLE = (
    "str, int, float, bool, bytes, Literal, Enum, list, tuple, set, dict, datetime, date, time, timedelta, UUID, "
    "Decimal, Path, a dataclass, a NamedTuple, a TypedDict, a class of attrs or, where it is installed, of pydantic"
)


def codec(hint: Any, *, output: bool = False, is_given: bool = False, is_strict: bool = False) -> Codec:
    """Reads a hint. In an output every field of an object is there; in an input those with defaults may be absent.

    is_given: the author says the schema, so that a hint of which none can be made is one of any JSON.
    is_strict: what is read is checked by the schema too.
    """
    try:
        return Hints(output, is_given, is_strict=is_strict).read(hint)
    except (TypeError, ValueError) as error:
        if is_given:
            return ANYTHING
        if isinstance(error, Misfit):
            # The type has a schema: what is wrong stands beside it.
            raise
        option = "output_schema" if output else "input_schema"
        raise TypeError(f"{error}; or say the schema: @tool({option}={{…}})") from None


@dataclass(frozen=True)
class Hints:
    """Reads hints for one direction."""

    output: bool
    is_given: bool
    # The types with fields that are being read, and what each will be.
    within: Mapping[Any, list[Codec]] = field(default_factory=dict)
    # Whether pydantic checks what is read, since it is in a type of its.
    is_checked: bool = False
    is_strict: bool = False

    def read(self, hint: Any) -> Codec:
        origin, args = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._annotated(hint, args[0], args[1:])
        if hint is Any or hint is object:
            return ANYTHING
        if hint is None or hint is type(None):
            return Codec({"type": "null"}, READS[type(None)], codecs.plain_writer(type(None)))
        if hint in PLAIN:
            return Codec({"type": PLAIN[hint]}, READS[hint], WRITES[hint] if self.output else codecs.plain_writer(hint))
        if hint in FORMS:
            return codecs.text_codec(hint, FORMS[hint], self.output)
        if also := pydantic.ALSO.get(getattr(hint, "__name__", "")) if pydantic.is_own(hint) else None:
            return self.read(also) if self.is_checked else pydantic.checked(hint, self.read(also))
        # Of NewType, and of `type X = …`, which may hold itself.
        if alias := getattr(hint, "__supertype__", None):
            return self.read(alias)
        if type(hint).__name__ == "TypeAliasType":
            return self._nested(hint, lambda inner: inner.read(hint.__value__))
        if origin is Literal:
            return codecs.choice([(it.value if isinstance(it, enum.Enum) else it, it) for it in args])
        if isinstance(hint, type) and issubclass(hint, enum.Flag):
            raise TypeError(f"the values of {hint.__qualname__} can be combined: take an int, or a list of an Enum")
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return codecs.choice([(member.value, member) for member in hint])
        if origin in (Union, types.UnionType):
            return codecs.union([self.read(arg) for arg in args])
        if (origin or hint) in (dict, Mapping):
            return self._mapping(hint, *(args or (str, None)))
        if (origin or hint) in LISTS:
            return self._array(hint, origin or hint, args)
        if not pydantic.is_own(hint) and (members := _members(hint, self.output)) is not None:
            return self._nested(hint, lambda inner: inner._record(hint, members))
        return pydantic.codec(hint, self.output) or self._refuse(hint)

    def _refuse(self, hint: Any) -> NoReturn:
        within = [getattr(it, "__qualname__", str(it)) for it in self.within]
        where = f", which {within[-1]} has," if within else ""
        raise TypeError(
            f"the type {inspect.formatannotation(hint)}{where} has no JSON Schema. Take {USABLE}, and convert it inside"
        )

    def _nested(self, hint: Any, read: Callable[[Hints], Codec]) -> Codec:
        """Reads a type within which it may stand itself."""
        if hint in self.within:
            if not self.is_given:
                name = getattr(hint, "__qualname__", str(hint))
                raise TypeError(f"{name} {pydantic.HOLDS_ITSELF}")
            known = self.within[hint]
            return Codec({}, lambda it, how: known[0].read(it, how), lambda it, to, how: known[0].write(it, to, how))
        made: list[Codec] = []
        made.append(read(dataclasses.replace(self, within={**self.within, hint: made})))
        return made[0]

    def _annotated(self, hint: Any, inner: Any, words: Sequence[Any]) -> Codec:
        if pydantic.has_own_form(words):
            return pydantic.codec(hint, self.output) or self._refuse(hint)
        flat = [*flatten(words)]
        if any(isinstance(word, Param) and word.as_text for word in flat):
            base = self._large(inner, flat)
        elif get_origin(inner) in (Union, types.UnionType):
            branches = [self.read(arg) for arg in get_args(inner)]
            base = codecs.union([constrain(it, flat, is_branch=True, is_strict=self.is_strict) for it in branches])
        else:
            base = constrain(self.read(inner), flat, is_strict=self.is_strict)
        base = describe(base, flat)
        if not self.is_checked and pydantic.has_checks(flat):
            base = pydantic.checked(hint, base)
        return base

    def _large(self, hint: Any, words: Sequence[Any]) -> Codec:
        """Of a number that is a text."""
        if hint is int or hint is Decimal:
            return constrain(codecs.text_codec(hint, LARGE if hint is int else FORMS[Decimal], self.output), words)
        if optional(hint) != hint:
            return codecs.union([self._large(optional(hint), words), self.read(None)])
        raise Misfit(f"as_text is for int and Decimal, not for {inspect.formatannotation(hint)}")

    def _mapping(self, hint: Any, key: Any, item: Any) -> Codec:
        keys = None
        if key not in (str, Any):
            keys = codecs.text_codec(int, LARGE, self.output) if key is int else self.read(key)
            if keys.schema.get("type") != "string":
                raise TypeError(f"the keys of {inspect.formatannotation(hint)} are no texts: take a list of pairs")
        return codecs.mapping(keys, self.read(item) if item else None)

    def _array(self, hint: Any, kind: Any, args: tuple[Any, ...]) -> Codec:
        if kind is tuple and hint not in (tuple, typing.Tuple) and args[1:] != (...,):  # noqa: UP006
            if not args or any(getattr(arg, "__unpacked__", False) for arg in args):
                raise TypeError(f"{inspect.formatannotation(hint)} is no tuple of known elements: take a list")
            return codecs.fixed([self.read(arg) for arg in args])
        item = self.read(args[0] if args else Any)
        if kind in (set, frozenset) and not item.is_hashable:
            raise TypeError(f"the elements of {inspect.formatannotation(hint)} must be hashable: take a list")
        return codecs.array(LISTS[kind], item)

    def _record(self, kind: Any, members: Mapping[str, Member]) -> Codec:
        inner = dataclasses.replace(self, is_checked=self.is_checked or pydantic.is_model(kind))
        fields = {name: (member, inner.read(member.hint)) for name, member in members.items()}
        required = [name for name, member in members.items() if member.is_needed]
        schema = closed_object({name: it.schema for name, (_, it) in fields.items()}, required)
        is_open = pydantic.takes_others(kind)
        if self.output or is_open:
            # A value of a subclass may have more members.
            del schema["additionalProperties"]
        return record(kind, fields, schema, output=self.output, is_open=is_open)


@contextlib.contextmanager
def locate(place: str, source: str = "") -> Iterator[None]:
    """Says of an error in it which part is wrong, and where its source stands."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{place}: {error}{source}") from None


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


def _members(kind: Any, output: bool) -> dict[str, Member] | None:
    """The fields of a type by their names in JSON. None: it has none."""
    if pydantic.is_model(kind):
        return pydantic.members(kind, output)
    if is_typed_dict(kind):
        return {name: _typed_member(kind, name, hint) for name, hint in _hints(kind).items()}
    if not isinstance(kind, type):
        return None
    named = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    attributes = fields_of(kind) if named is None else {it: it for it in named}
    if attributes is None:
        return None
    # A class of attrs may say the types of its fields elsewhere.
    hints = {it.name: it.type for it in getattr(kind, "__attrs_attrs__", ())} | _hints(kind)
    given = inspect.signature(kind).parameters
    needed = {
        it.name for it in given.values()
        if it.default is it.empty and it.kind not in (it.VAR_POSITIONAL, it.VAR_KEYWORD)
    }
    if not output and (others := needed - attributes.keys()):
        raise TypeError(f"{kind.__qualname__} needs {', '.join(sorted(others))}, which is no field: give it a default")
    return {
        name: Member(attribute, hints.get(attribute, Any), output or name in needed)
        for name, attribute in attributes.items() if output or name in given
    }


def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _typed_member(kind: Any, name: str, hint: Any) -> Member:
    """A field of a TypedDict without `Required[…]`, `NotRequired[…]` or `ReadOnly[…]`, of whichever package."""
    is_needed = name in kind.__required_keys__
    while (mark := getattr(get_origin(hint), "_name", None)) in ("Required", "NotRequired", "ReadOnly"):
        is_needed = is_needed if mark == "ReadOnly" else mark == "Required"
        (hint,) = get_args(hint)
    return Member(name, hint, is_needed)
