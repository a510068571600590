"""What stands beside a type in `Annotated`: bounds on its values, and words."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from toolwire import _pydantic as pydantic
from toolwire._codecs import READS, Codec
from toolwire._forms import Schema
from toolwire._json import Misfit

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


def flatten(words: Iterable[Any]) -> Iterator[Any]:
    """Each word apart: a `Field` of pydantic, or an `Interval`, has several."""
    for word in words:
        yield word
        if hasattr(word, "__is_annotated_types_grouped_metadata__"):
            yield from word
        elif isinstance(parts := getattr(word, "metadata", None), list):
            yield from flatten(parts)


def constrain(base: Codec, words: Iterable[Any], *, is_branch: bool = False) -> Codec:
    """With the bounds of annotated-types: by the schema where it has a keyword for them, else by a check."""
    schema, checks = dict(base.schema), []
    kind = "text" if base.read is READS[str] else str(schema.get("type"))
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
    return _check(base, schema, checks)


def describe(base: Codec, words: Iterable[Any]) -> Codec:
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


def _check(base: Codec, schema: Schema, checks: list[tuple[Callable[[Any], Any], str]]) -> Codec:
    """With what the schema of a type does not say of its values."""

    def read(value: Any, how: int) -> Any:
        made = base.read(value, how)
        for check, what in checks:
            try:
                is_fit = check(made)
            except TypeError:
                is_fit = False
            if not is_fit:
                raise Misfit(what)
        return made

    return dataclasses.replace(base, schema=schema, read=read if checks else base.read)
