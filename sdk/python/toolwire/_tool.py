"""`@tool`: what a function says of itself, as the offer of a tool."""

from __future__ import annotations

import functools
import inspect
import json
import math
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, get_args, get_origin, overload

from toolwire._codecs import ANY, ANYTHING, Codec
from toolwire._context import Context
from toolwire._docstring import read_docstring
from toolwire._forms import Schema
from toolwire._functions import check_function, fixed_names, origin_of, place_of, unwrap_awaitable, unwrap_stream
from toolwire._json import ENCODER, Misfit, Writer, fit, to_json
from toolwire._parameters import Parameters
from toolwire._schema import closed_object, codec, locate
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import tool_pb2
from toolwire._text import type_name
from toolwire.errors import InvalidArgument, Violation

if TYPE_CHECKING:
    from typing_extensions import Unpack

F = TypeVar("F", bound=Callable[..., Any])
Category = Literal["read", "write", "delete", "side_effect"]
Consequence = Literal["low", "medium", "high"]

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
ASYNC = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
# What a call of each category does to the world, unless `consequence` says it.
IMPACT: dict[Category, Consequence] = {"read": "low", "write": "medium", "side_effect": "medium", "delete": "high"}


class Options(TypedDict, total=False):
    """What `@tool` takes."""

    # Instead of the function's name and docstring.
    name: str
    title: str
    description: str
    # What a call may change; `write=True` is short for `category="write"`.
    write: bool
    category: Category
    # Its impact on the real world. Low for a read, high for a delete, else medium.
    consequence: Consequence
    # A person must approve each call, or each one unless all these arguments satisfy their JSON Schemas.
    confirm: bool
    approve_unless: Mapping[str, Schema]
    # A repeat with the same arguments changes nothing more.
    idempotent: bool
    # The bound on one execution, in seconds. 15 by default.
    timeout: float
    # For how many seconds the result of a read answers the same user again.
    cache: float
    # The result contains text that people outside wrote.
    untrusted: bool
    version: str
    tags: Iterable[str]
    # Lines for a system prompt on how to use the tool well.
    guidance: Iterable[str]
    # Instead of what the hints say. A parameter that no hint can read is what came, as JSON.
    input_schema: Schema
    output_schema: Schema


@dataclass(frozen=True)
class Tool:
    """A function that is offered."""

    function: Callable[..., Any]
    offer: host_pb2.Offer
    parameters: Parameters
    result: Codec
    # Whether the function returns no object, so that its value is put into one.
    wrapped: bool
    # Whether it is called on the loop: it says that it gives what is awaited. Others are called on a thread.
    is_async: bool
    # Whether what it returns may be an iterator.
    returns_iterable: bool
    # Of a generator: each value that it yields, which is sent ahead of the result.
    part: Codec | None = None
    # Whether its result is all that it has yielded.
    collects: bool = False

    @property
    def name(self) -> str:
        return self.offer.name

    @property
    def reads(self) -> bool:
        return self.offer.category == tool_pb2.TOOL_CATEGORY_READ

    def bind(self, arguments_json: str, context: Context | None) -> Callable[[], Any]:
        """The call of the function, with arguments as the server checked them, each exactly as it came."""
        parameters, given = self.parameters, json.loads(arguments_json or "{}", parse_constant=_refuse_constant)
        if not isinstance(given, dict):
            raise InvalidArgument(f"The arguments of {self.name} are no object.")
        arguments: dict[str, Any] = dict.fromkeys(parameters.nullable)
        for name, value in given.items():
            if name not in parameters.codecs:
                raise _invalid(name, Misfit(f"{self.name} has no such parameter"))
            if value is None and name in parameters.nullable:
                continue
            try:
                arguments[name] = parameters.codecs[name].decode(value)
            except Misfit as misfit:
                # A null is an argument that was left out.
                if value is not None or name in parameters.needed:
                    raise _invalid(name, misfit) from misfit
        for name in parameters.needed - arguments.keys():
            source = parameters.bound.get(name)
            what = f"{source}, which the call has none of" if source else f"`{name}`"
            raise InvalidArgument(f"{self.name} needs {what}")
        if parameters.context:
            arguments[parameters.context] = context
        return functools.partial(self.function, **arguments)

    def render_part(self, value: Any, to: Writer) -> dict[str, Any]:
        """What a generator yielded, as a chunk. Raises Misfit."""
        data = (self.part or ANYTHING).write(value, to, ANY)
        return data if type(data) is dict else {"result": data}

    def render(self, value: Any) -> str:
        """What the function returned, as the text of a JSON object. Raises Misfit of what is not carried exactly."""
        to = Writer.of_data()

        def write(value: Any) -> Any:
            return self.result.write(value, to, ANY)

        if value is None and not self.wrapped:
            return "{}"
        data = to.members([("result", value, write)]) if self.wrapped else write(value)
        if type(data) is not dict:
            raise Misfit(f"it returned a {type_name(value)}: say so by a hint, or return a dict")
        return fit(ENCODER.encode(data))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _invalid(name: str, misfit: Misfit) -> InvalidArgument:
    misfit.under(name)
    violation = Violation(misfit.pointer, "exact", misfit.what)
    return InvalidArgument(f"`{name}` cannot be read: {misfit}", violations=(violation,))


# All that was decorated, in order.
REGISTRY: dict[str, Tool] = {}


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(**options: Unpack[Options]) -> Callable[[F], F]: ...


def tool(function: F | None = None, /, **options: Unpack[Options]) -> F | Callable[[F], F]:
    """Offers a function as a tool, and leaves it as it is. Without options it is a read."""

    def register(function: F) -> F:
        made = make(function, **options)
        if known := REGISTRY.get(made.name):
            (name, file, line), (other, other_file, other_line) = place_of(known.function), place_of(function)
            # A module, or an edited cell of a notebook, may be read again.
            if name != other or (file == other_file and line != other_line):
                places = f"{name} ({file}:{line}) and {other} ({other_file}:{other_line})"
                raise ValueError(f"two tools are called {made.name}: {places}. Rename one, or use @tool(name=…)")
        REGISTRY[made.name] = made
        return function

    return register if function is None else register(function)


def make(function: Callable[..., Any], **options: Unpack[Options]) -> Tool:
    """The tool that a function is; raises TypeError or ValueError of one that cannot be offered."""
    # As callers outside of its class know it.
    function = function.__func__ if isinstance(function, staticmethod) else function
    origin = origin_of(function)
    # A partial has no name, and an object that is called has that of its type.
    named = str(getattr(function, "__name__", None) or getattr(origin, "__name__", ""))
    name = type(function).__name__ if named in ("", "__call__") else named
    try:
        with locate(f"@tool of {name}"):
            return _make(function, origin, name, options)
    except (TypeError, ValueError) as error:
        _, file, line = place_of(function)
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{error} ({file}:{line})") from None


def _make(function: Callable[..., Any], origin: Any, name: str, options: Options) -> Tool:
    check_function(function, origin)
    # A misspelt `confirm` would leave the function unguarded.
    if unknown := options.keys() - Options.__annotations__.keys():
        known = ", ".join(Options.__annotations__)
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}, only {known}")
    name = options.get("name") or name
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a tool: lower-case letters, digits and _, 64 at most")
    signature = inspect.signature(function).parameters
    words, parameter_words = read_docstring(inspect.getdoc(origin) or "", signature.keys())
    try:
        hints = typing.get_type_hints(origin, include_extras=True)
    except (AttributeError, NameError) as error:
        raise TypeError(f"its hints cannot be read: {error}") from error
    parameters, fixed = Parameters("input_schema" in options), fixed_names(function)
    for parameter in signature.values():
        if parameter.name in fixed:
            continue
        with locate(f"parameter {parameter.name}"):
            parameters.add(parameter, hints.get(parameter.name), parameter_words.get(parameter.name))
    category = _one_of(Category, options.get("category") or ("write" if options.get("write") else "read"))
    consequence = _one_of(Consequence, options.get("consequence") or IMPACT[category])
    # Nothing is an object without members.
    result, is_async = unwrap_awaitable(hints.get("return", type(None)))
    is_given, part, collects = "output_schema" in options, None, False
    with locate("the result"):
        if stream := unwrap_stream(result, function, origin):
            part, collects = codec(stream[0], output=True, is_given=is_given), stream[1] is None
            result = GenericAlias(list, stream[0]) if collects else stream[1]
        result_codec = codec(dict if result is type(None) else result, output=True, is_given=is_given)
    returned = _given("output_schema", options) if is_given else result_codec.schema
    wrapped = returned.get("type") != "object"
    offer = host_pb2.Offer(
        name=name, title=options.get("title"), description=options.get("description") or words,
        category=getattr(tool_pb2, f"TOOL_CATEGORY_{category.upper()}"),
        consequence_level=getattr(tool_pb2, f"CONSEQUENCE_LEVEL_{consequence.upper()}"),
        requires_confirmation=options.get("confirm"), idempotent=options.get("idempotent"),
        version=options.get("version"), tags=options.get("tags"), untrusted=options.get("untrusted"),
        guidance=options.get("guidance"), bind=parameters.bound,
        input_schema_json=to_json(_input_schema(parameters, options)),
        output_schema_json=to_json(closed_object({"result": returned}, ["result"]) if wrapped else returned),
    )
    if "approve_unless" in options:
        with locate("approve_unless"):
            offer.approve_unless = _conditions(options["approve_unless"], parameters)
    if "timeout" in options:
        offer.timeout.FromMilliseconds(_milliseconds("timeout", options["timeout"]))
    if "cache" in options:
        offer.cache.tier, offer.cache.scope = "request", "user"
        offer.cache.ttl.FromMilliseconds(_milliseconds("cache", options["cache"]))
    is_async = is_async or any(is_kind(it) for is_kind in ASYNC for it in (function, origin))
    returns_iterable = (get_origin(result) or result) is Iterable
    return Tool(function, offer, parameters, result_codec, wrapped, is_async, returns_iterable, part, collects)


def _conditions(conditions: Any, parameters: Parameters) -> str:
    """As text. A server would refuse what is wrong here too, but the function would then be missing there."""
    if not isinstance(conditions, Mapping) or not conditions:
        raise TypeError(f"it is a dict of parameters and their JSON Schemas, and not empty, not {conditions!r}")
    names = parameters.codecs.keys()
    for name, schema in conditions.items():
        if name not in names:
            known = f"; the parameters are {', '.join(names)}" if names else ""
            raise ValueError(f"there is no parameter {name!r}{known}")
        if not isinstance(schema, Mapping):
            raise TypeError(f"{name}: it is a JSON Schema as a dict, such as {{'maximum': 100}}, not {schema!r}")
    return to_json(conditions)


def _given(option: Literal["input_schema", "output_schema"], options: Options) -> Schema:
    if not isinstance(schema := options[option], Mapping):
        raise TypeError(f"{option} is a JSON Schema as a dict, not {schema!r}")
    return dict(schema)


def _input_schema(parameters: Parameters, options: Options) -> Schema:
    if not parameters.is_given:
        return closed_object(parameters.properties, parameters.required)
    schema = _given("input_schema", options)
    named, known = schema.get("properties", {}).keys(), parameters.properties.keys()
    if wrong := (named - known) or (parameters.needed - parameters.bound.keys() - named):
        does = "lacks" if wrong <= known else "has"
        raise ValueError(f"input_schema {does} {', '.join(sorted(wrong))}, and the parameters are {', '.join(known)}")
    return {"type": "object", **schema}


def _one_of(choice: Any, value: Any) -> Any:
    if value not in get_args(choice):
        raise ValueError(f"{value!r} is none of {', '.join(get_args(choice))}")
    return value


def _milliseconds(option: str, seconds: Any) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{option} is a number of seconds, not {seconds!r}")
    if not 0 <= seconds < math.inf:
        raise ValueError(f"{option} is a number of seconds from 0, not {seconds!r}")
    return round(seconds * 1000)
