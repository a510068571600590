"""Objects with fields, read from JSON and written to it by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolwire._codecs import ANY, EXACT, Codec, read_at
from toolwire._forms import Schema
from toolwire._json import Misfit, Writer, fields_of
from toolwire._log import log
from toolwire._text import readable
from toolwire.errors import ToolError


def is_typed_dict(kind: Any) -> bool:
    """Whether it is a TypedDict, of `typing` or of `typing_extensions`."""
    return type(kind).__name__ == "_TypedDictMeta"


@dataclass(frozen=True)
class Member:
    """A field of an object: what it is called in Python, and whether it must be there."""

    attribute: str
    hint: Any
    is_needed: bool


def record(
    kind: type, fields: Mapping[str, tuple[Member, Codec]], schema: Schema, *, output: bool, is_open: bool = False
) -> Codec:
    """Of an object with fields, which is made by their names."""
    required, is_dict = set(schema["required"]), is_typed_dict(kind)
    names = {member.attribute: name for name, (member, _) in fields.items()}

    def read(value: Any, how: int) -> Any:
        if type(value) is not dict:
            raise Misfit("it is no object")
        others = set() if is_open else value.keys() - fields.keys()
        if other := others or (required - value.keys()):
            does = "lacks" if other <= required else "has"
            raise Misfit(f"it {does} {', '.join(sorted(other))[:100]}, and is no {kind.__qualname__}")
        if how == EXACT and len(value) < len(fields):
            raise Misfit(f"it lacks members of {kind.__qualname__}")
        given = {
            name: read_at(name, fields[name][1].read, it, how) if name in fields else it for name, it in value.items()
        }
        return make(kind, given)

    def write(value: Any, to: Writer, how: int) -> Any:
        is_object = not is_dict and isinstance(value, kind)
        is_own = is_object or (is_dict and isinstance(value, Mapping) and required <= value.keys())
        if how < ANY and not is_own:
            raise Misfit(f"it is no {kind.__qualname__}")
        if is_object:
            # A subclass may have further fields, and what is returned fields that no caller gives. Of pydantic's models
            # only the declared ones are written, as pydantic does, and those that no field is.
            own = getattr(value, "__pydantic_extra__", None) or () if is_open else ()
            known = own if hasattr(kind, "__pydantic_fields__") else (fields_of(type(value)) or {}).values()
            further = [it for it in known if it not in names and (output or is_open)]
            items = [(names.get(it, it), getattr(value, it)) for it in (*names, *further)]
        elif isinstance(value, Mapping):
            items = [*value.items()]
        else:
            return to.plain(value)
        return to.members((name, it, _member(fields.get(name), to, how)) for name, it in items)

    is_hashable = kind.__hash__ is not None
    if issubclass(kind, tuple):
        is_hashable = all(codec.is_hashable for _, codec in fields.values())
    return Codec(schema, read, write, is_hashable)


def make(kind: Any, given: dict[str, Any]) -> Any:
    """The value that has these fields. Raises Misfit if the type takes them not."""
    try:
        return kind(**given)
    except ToolError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise invalid(kind.__qualname__, error) from error
    except Exception as error:
        log.exception("%s cannot be made of its fields", kind.__qualname__)
        raise Misfit(f"it is no {kind.__qualname__}") from error


def invalid(name: str, error: Exception) -> Misfit:
    """Why a value is none of a type, and where, if pydantic says so."""
    try:
        first = error.errors(include_url=False)[0]  # type: ignore[attr-defined]
        misfit = Misfit(f"it is no {name}: {readable(first['msg'], 200)}")
        for key in reversed(first["loc"]):
            misfit.under(key)
    except (AttributeError, LookupError, TypeError):
        return Misfit(f"it is no {name}: {readable(error, 200)}")
    return misfit


def _member(field: tuple[Member, Codec] | None, to: Writer, how: int) -> Callable[[Any], Any]:
    return (lambda it: field[1].write(it, to, how)) if field else to.plain
