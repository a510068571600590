"""The parameters of a function: which a caller gives, in which form, and which a server fills in."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args, get_origin

from toolwire._bounds import Param
from toolwire._codecs import Codec
from toolwire._context import Context
from toolwire._forms import Schema
from toolwire._json import Misfit, to_json
from toolwire._pydantic import is_field
from toolwire._schema import codec, optional

Source = Literal["user.id", "user.email", "user.role", "task_id", "session_id", "call_id", "request_id"]


@dataclass(frozen=True)
class Bind:
    """An argument that the server fills in and no caller sends: `Annotated[str, Bind("user.id")]`."""

    source: Source


@dataclass
class Parameters:
    """What the parameters of a function are."""

    # Whether the author says their schema.
    is_given: bool = False
    # The one that takes the context. Empty: none does.
    context: str = ""
    codecs: dict[str, Codec] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    # Those that the function cannot do without, and those that are None if they are left out.
    needed: set[str] = field(default_factory=set)
    nullable: set[str] = field(default_factory=set)
    properties: dict[str, Schema] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)

    def add(self, parameter: inspect.Parameter, hint: Any, words: str | None) -> None:
        name = parameter.name
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError("it has no name that a caller could give: a decorator keeps those by functools.wraps")
        _check_words(parameter, hint)
        if hint is None and self.is_given and name not in ("self", "cls"):
            hint = Any
        if hint is None:
            is_method = name in ("self", "cls")
            way_out = "a method is no tool: decorate a function, or call tool(…)(object.method) of an object"
            raise TypeError(way_out if is_method else "it has no type hint")
        has_default, bare = parameter.default is not parameter.empty, optional(hint)
        if bare is Context:
            self.context = name
            return
        read = self.codecs[name] = codec(bare, is_given=self.is_given)
        is_needed = not has_default and bare == hint
        if is_needed:
            self.needed.add(name)
        elif not has_default or parameter.default is None:
            self.nullable.add(name)
        binds = [it for it in get_args(hint)[1:] if isinstance(it, Bind)] if get_origin(hint) is Annotated else []
        if not binds and any(isinstance(it, Bind) for it in _parts(hint)):
            raise TypeError("Bind stands within its type: write Annotated[str, Bind(…)], without a union around it")
        if binds:
            if read.schema.get("type") != "string":
                raise TypeError(f"{binds[0].source} is a text")
            self.bound[name] = binds[0].source
            return
        schema = dict(read.schema)
        if words and words != schema.get("description"):
            schema = {**schema, "description": f"{words} {schema.get('description', '')}".strip()}
        if is_needed:
            self.required.append(name)
        elif has_default and parameter.default is not None and not self.is_given:
            schema["default"] = self._default(parameter.default, read, codec(bare, is_strict=True))
        self.properties[name] = schema

    def _default(self, default: Any, read: Codec, strict: Codec) -> Any:
        try:
            written = read.encode(default)
            strict.decode(written)
        except Misfit as misfit:
            raise TypeError(f"the default {default!r} does not fit the type hint: {misfit}") from None
        return json.loads(to_json(written))


def _check_words(parameter: inspect.Parameter, hint: Any) -> None:
    """Refuses what is no value of a default, and what other frameworks would fill in."""
    default = parameter.default
    for it in (default, hint, *_parts(hint)):
        kind = it if isinstance(it, type) else type(it)
        if kind.__module__.split(".")[0] in ("fastapi", "starlette") and not is_field(it):
            of = "is filled in by FastAPI, for requests of HTTP alone"
            raise TypeError(f"{kind.__name__} {of}: a tool gets what it needs inside of its function")
    if isinstance(default, Bind | Param) or is_field(default):
        name = type(default).__name__.removesuffix("Info")
        value = getattr(default, "default", None)
        shown = f" = {value!r}" if isinstance(value, str | int | float) else ""
        bare = inspect.formatannotation(get_args(hint)[0] if get_origin(hint) is Annotated else hint)
        raise TypeError(f"{name} is no default: write {parameter.name}: Annotated[{bare}, {name}(…)]{shown}")


def _parts(hint: Any) -> Iterator[Any]:
    """All that a hint is made of."""
    for it in get_args(hint):
        yield it
        yield from _parts(it)
