"""What stands beside a type in `Annotated`: bounds on its values, and words."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
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
    "multiple_of": (lambda by, it: not it % by, "a multiple of", dict.fromkeys(NUMBERS, "multipleOf")),
    "min_length": (lambda least, it: len(it) >= least, "of a length of at least",
                   {"text": "minLength", "array": "minItems", "object": "minProperties"}),
    "max_length": (lambda most, it: len(it) <= most, "of a length of at most",
                   {"text": "maxLength", "array": "maxItems", "object": "maxProperties"}),
    "pattern": (lambda pattern, it: re.search(pattern, str(it)), "of the pattern", {"text": "pattern"}),
}
# Those of `Param` that have names of their own.
BOUNDS |= {"minimum": BOUNDS["ge"], "maximum": BOUNDS["le"]}
for name in ("min", "max"):
    BOUNDS[f"{name}_items"] = (*BOUNDS[f"{name}_length"][:2], {"array": f"{name}Items"})


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
        self.words = {"description": description, **({"examples": examples} if examples else {})}
        self.as_text = as_text
        self.minimum, self.maximum, self.pattern = minimum, maximum, pattern
        self.min_length, self.max_length, self.min_items, self.max_items = min_length, max_length, min_items, max_items


def flatten(words: Iterable[Any]) -> Iterator[Any]:
    """Each word apart: a `Field` of pydantic, or an `Interval`, has several."""
    for word in words:
        yield word
        if hasattr(word, "__is_annotated_types_grouped_metadata__"):
            yield from word
        elif isinstance(parts := getattr(word, "metadata", None), list):
            yield from flatten(parts)


def constrain(base: Codec, words: Iterable[Any], *, is_branch: bool = False, is_strict: bool = False) -> Codec:
    """With bounds: by the schema where it has a keyword for them, else by a check.

    is_strict: by a check of the JSON too, as of a default, which no server checks.
    """
    schema, checks = dict(base.schema), list[tuple[Callable[[Any], Any], str, bool]]()
    form = str(schema.get("type"))
    for word in words:
        # `Param` is of the JSON, and all others of the value, of which a text may be the form.
        is_text = form == "string" and (isinstance(word, Param) or base.read is READS[str])
        kind = "text" if is_text else form
        if type(word).__name__ == "Predicate":
            checks.append((word.func, f"it does not satisfy {inspect.formatannotation(word.func)}", False))
        for name, (check, what, keywords) in BOUNDS.items():
            bound = getattr(word, name, None)
            if bound is None or isinstance(word, str) or (name, bound) == ("min_length", 0):
                continue
            keyword = keywords.get(kind)
            if kind in KINDS and not keyword and not is_branch:
                others = ", ".join(it for it, (*_, kinds) in BOUNDS.items() if kind in kinds)
                raise Misfit(f"`{name}` bounds no {kind}{others and f'; {others} do'}")
            if kind not in KINDS or (keyword and is_strict):
                checks.append((functools.partial(_holds, check, bound), f"it is not {what} {bound}", bool(keyword)))
            if keyword:
                schema[keyword] = getattr(bound, "pattern", bound if type(bound) in (int, float, str) else float(bound))
            elif kind not in KINDS:
                schema["description"] = f"{schema.get('description', '')} {what.capitalize()} {bound}.".strip()
    return _check(base, schema, checks)


def describe(base: Codec, words: Iterable[Any]) -> Codec:
    schema, described = base.schema, [base.schema.get("description")]
    for word in words:
        stated = dict(word.words) if isinstance(word, Param) else pydantic.words(word)
        said = word if isinstance(word, str) else getattr(word, "documentation", None)
        described.append(stated.pop("description", said))
        if "examples" in stated:
            stated["examples"] = [base.encode(example) for example in stated["examples"]]
        schema = {**schema, **stated}
    if any(described):
        schema = {**schema, "description": " ".join(filter(None, described))}
    return dataclasses.replace(base, schema=schema)


def _holds(check: Callable[[Any, Any], Any], *values: Any) -> Any:
    """Of a bound and a value, where a float is the decimal that it is written as."""
    return check(*(Decimal(repr(it)) if type(it) is float else it for it in values))


def _check(base: Codec, schema: Schema, checks: list[tuple[Callable[[Any], Any], str, bool]]) -> Codec:
    """With what the schema of a type does not say of its values, or says of their JSON."""

    def read(value: Any, how: int) -> Any:
        made = base.read(value, how)
        for check, what, is_of_json in checks:
            try:
                is_fit = check(value if is_of_json else made)
            except (TypeError, re.error):
                # A pattern may be none of Python's.
                is_fit = is_of_json
            if not is_fit:
                raise Misfit(what)
        return made

    return dataclasses.replace(base, schema=schema, read=read if checks else base.read)
