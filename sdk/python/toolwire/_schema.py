"""What type hints mean: a JSON Schema, and which values of JSON are values of theirs."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import inspect
import operator
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

from toolwire import _codecs as codecs
from toolwire import _pydantic as pydantic
from toolwire._codecs import ANYTHING, PLAIN, READS, WRITES, Codec, Member
from toolwire._forms import FORMS, LARGE, Schema

LISTS: dict[Any, Any] = {list: list, Sequence: list, Iterable: list, set: set, frozenset: frozenset, tuple: tuple}
USABLE = (
    "str, int, float, bool, bytes, Literal, Enum, list, tuple, set, dict, datetime, date, time, timedelta, UUID, "
    "Decimal, Path, a dataclass, a NamedTuple, a TypedDict, a class of attrs or, where it is installed, of pydantic"
)
KINDS = {"boolean", "null", "integer", "number", "text", "array", "object"}
NUMBERS = ("integer", "number")
# The bounds of annotated-types: the check, its words, and the keyword of a schema by the kind of values.
BOUNDS: dict[str, tuple[Callable[[Any, Any], Any], str, dict[str, str]]] = {
    "gt": (operator.lt, "more than", dict.fromkeys(NUMBERS, "exclusiveMinimum")),
    "ge": (operator.le, "at least", dict.fromkeys(NUMBERS, "minimum")),
    "lt": (operator.gt, "less than", dict.fromkeys(NUMBERS, "exclusiveMaximum")),
    "le": (operator.ge, "at most", dict.fromkeys(NUMBERS, "maximum")),
    "multiple_of": (lambda by, it: it % by == 0, "a multiple of", dict.fromkeys(NUMBERS, "multipleOf")),
    "min_length": (lambda least, it: len(it) >= least, "of a length of at least",
                   {"text": "minLength", "array": "minItems", "object": "minProperties"}),
    "max_length": (lambda most, it: len(it) <= most, "of a length of at most",
                   {"text": "maxLength", "array": "maxItems", "object": "maxProperties"}),
    "pattern": (lambda pattern, it: re.search(pattern, str(it)), "of the pattern", {"text": "pattern"}),
}


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


def codec(hint: Any, *, output: bool = False, is_given: bool = False) -> Codec:
    """Reads a hint. In an output every field of an object is there; in an input those with defaults may be absent.

    is_given: the author says the schema, so that a hint of which none can be made is one of any JSON.
    """
    try:
        return Hints(output, is_given).read(hint)
    except (TypeError, ValueError) as error:
        if is_given:
            return ANYTHING
        kind = TypeError if isinstance(error, TypeError) else ValueError
        option = "output_schema" if output else "input_schema"
        raise kind(f"{error}; or say the schema: @tool({option}={{…}})") from None


@dataclass(frozen=True)
class Hints:
    """Reads hints for one direction."""

    output: bool
    is_given: bool
    # The types with fields that are being read, and what each will be.
    within: Mapping[Any, list[Codec]] = field(default_factory=dict)
    # Whether pydantic checks what is read, since it is in a type of its.
    is_checked: bool = False

    def read(self, hint: Any) -> Codec:
        origin, args = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._annotated(hint, args[0], args[1:])
        if hint is Any or hint is object:
            return ANYTHING
        if hint is None or hint is type(None):
            return Codec({"type": "null"}, codecs.read_null, codecs.plain_writer(type(None)))
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
                raise TypeError(f"{name} holds itself: providers of models refuse such schemas")
            known = self.within[hint]
            return Codec({}, lambda it, how: known[0].read(it, how), lambda it, to, how: known[0].write(it, to, how))
        made: list[Codec] = []
        made.append(read(dataclasses.replace(self, within={**self.within, hint: made})))
        return made[0]

    def _annotated(self, hint: Any, inner: Any, words: Sequence[Any]) -> Codec:
        if pydantic.has_own_form(words):
            return pydantic.codec(hint, self.output) or self._refuse(hint)
        flat = [*_flatten(words)]
        if any(isinstance(word, Param) and word.as_text for word in flat):
            base = self._large(inner)
        elif get_origin(inner) in (Union, types.UnionType):
            branches = [self.read(arg) for arg in get_args(inner)]
            base = codecs.union([_constrain(it, flat, is_branch=True) for it in branches])
        else:
            base = _constrain(self.read(inner), flat)
        base = _describe(base, flat)
        if not self.is_checked and pydantic.has_checks(flat):
            base = pydantic.checked(hint, base)
        return base

    def _large(self, hint: Any) -> Codec:
        """Of a number that is a text."""
        if hint is int or hint is Decimal:
            return codecs.text_codec(hint, LARGE if hint is int else FORMS[Decimal], self.output)
        if optional(hint) != hint:
            return codecs.union([self._large(optional(hint)), self.read(None)])
        raise TypeError(f"as_text is for int and Decimal, not for {inspect.formatannotation(hint)}")

    def _mapping(self, hint: Any, key: Any, item: Any) -> Codec:
        keys = None
        if key not in (str, Any):
            keys = codecs.text_codec(int, LARGE, self.output) if key is int else self.read(key)
            if keys.schema.get("type") != "string":
                raise TypeError(f"the keys of {inspect.formatannotation(hint)} are no texts, as those of JSON are")
        return codecs.mapping(keys, self.read(item) if item else None)

    def _array(self, hint: Any, kind: Any, args: tuple[Any, ...]) -> Codec:
        if kind is tuple and hint not in (tuple, typing.Tuple) and args[1:] != (...,):  # noqa: UP006
            if not args or any(getattr(arg, "__unpacked__", False) for arg in args):
                raise TypeError(f"{inspect.formatannotation(hint)} is no tuple of known elements")
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
        return codecs.record(kind, fields, schema, output=self.output, is_open=is_open)


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


def _flatten(words: Iterable[Any]) -> Iterator[Any]:
    """Each word apart: a `Field` of pydantic, or an `Interval`, has several."""
    for word in words:
        yield word
        if hasattr(word, "__is_annotated_types_grouped_metadata__"):
            yield from word
        elif isinstance(parts := getattr(word, "metadata", None), list):
            yield from _flatten(parts)


def _constrain(base: Codec, words: Iterable[Any], *, is_branch: bool = False) -> Codec:
    """With the bounds of annotated-types: by the schema where it has a keyword for them, else by a check."""
    schema, checks = dict(base.schema), []
    kind = "text" if base.read is codecs.read_text else str(schema.get("type"))
    for word in words:
        if type(word).__name__ == "Predicate":
            checks.append((word.func, f"it does not satisfy {inspect.formatannotation(word.func)}"))
        for name, (check, what, keywords) in BOUNDS.items():
            bound = getattr(word, name, None)
            if bound is None or isinstance(word, str) or (name, bound) == ("min_length", 0):
                continue
            if keyword := keywords.get(kind):
                schema[keyword] = getattr(bound, "pattern", bound if type(bound) in (int, float, str) else float(bound))
            elif kind in KINDS and not is_branch:
                raise TypeError(f"there is no value of this type that is {what} {bound}")
            elif kind not in KINDS:
                checks.append((functools.partial(check, bound), f"it is not {what} {bound}"))
                schema["description"] = f"{schema.get('description', '')} {what.capitalize()} {bound}.".strip()
    return codecs.constrained(base, schema, checks)


def _describe(base: Codec, words: Iterable[Any]) -> Codec:
    schema, described = base.schema, [base.schema.get("description")]
    for word in words:
        stated = dict(word.schema) if isinstance(word, Param) else pydantic.words(word)
        said = word if isinstance(word, str) else getattr(word, "documentation", None)
        described.append(stated.pop("description", said))
        if base.schema.get("type") == "string" and stated.keys() & {"minimum", "maximum"}:
            raise TypeError("minimum and maximum are of numbers, and this is a text: give its pattern")
        if "examples" in stated:
            stated["examples"] = [base.encode(example) for example in stated["examples"]]
        schema = {**schema, **stated}
    if any(described):
        schema = {**schema, "description": " ".join(filter(None, described))}
    return dataclasses.replace(base, schema=schema)


def _members(kind: Any, output: bool) -> dict[str, Member] | None:
    """The fields of a type by their names in JSON. None: it has none."""
    if pydantic.is_model(kind):
        return pydantic.members(kind, output)
    if codecs.is_typed_dict(kind):
        return {name: _typed_member(kind, name, hint) for name, hint in _hints(kind).items()}
    if not isinstance(kind, type):
        return None
    if dataclasses.is_dataclass(kind):
        given = [it for it in dataclasses.fields(kind) if it.init or output]
        if not output:
            _check_init(kind, [it.name for it in given])
        none = dataclasses.MISSING
        bare = {it.name: it.default is none and it.default_factory is none for it in given}
    elif (attributes := getattr(kind, "__attrs_attrs__", None)) is not None:
        hints = {it.name: it.type for it in attributes} | _hints(kind)
        nothing = sys.modules["attr"].NOTHING
        return {
            it.alias if it.init else it.name: Member(it.name, hints[it.name], output or it.default is nothing)
            for it in attributes if it.init or output
        }
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        named: Any = kind
        bare = {name: name not in named._field_defaults for name in named._fields}
    else:
        return None
    hints = _hints(kind)
    return {name: Member(name, hints.get(name, Any), output or needed) for name, needed in bare.items()}


def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _typed_member(kind: Any, name: str, hint: Any) -> Member:
    """A field of a TypedDict without `Required[…]`, `NotRequired[…]` or `ReadOnly[…]`, of whichever package."""
    is_needed = name in kind.__required_keys__
    while (mark := getattr(get_origin(hint), "_name", None)) in ("Required", "NotRequired", "ReadOnly"):
        is_needed = is_needed if mark == "ReadOnly" else mark == "Required"
        (hint,) = get_args(hint)
    return Member(name, hint, is_needed)


def _check_init(hint: Any, fields: Iterable[str]) -> None:
    """Refuses a dataclass that is not made of its fields alone."""
    given = inspect.signature(hint).parameters.values()
    needed = {it.name for it in given if it.default is it.empty and it.kind not in (it.VAR_POSITIONAL, it.VAR_KEYWORD)}
    if missing := needed - set(fields):
        raise TypeError(f"{hint.__qualname__} needs {', '.join(sorted(missing))}, which is no field of it")
