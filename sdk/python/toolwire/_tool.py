"""`@tool`: what a function says of itself, as the offer of a tool."""

from __future__ import annotations

import functools
import inspect
import json
import math
import re
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import CodeType, FrameType, GenericAlias
from typing import Any, Literal, TypeVar, get_args, get_origin, overload

from toolwire._codecs import ANY, ANYTHING, Codec
from toolwire._context import Context
from toolwire._docstring import read_docstring
from toolwire._forms import Schema
from toolwire._functions import check_function, fixed_names, origin_of, place_of, unwrap_awaitable, unwrap_stream
from toolwire._json import ENCODER, Misfit, Writer, fit, to_json
from toolwire._log import log
from toolwire._parameters import Parameters
from toolwire._schema import closed_object, codec, locate
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import tool_pb2
from toolwire._text import type_name
from toolwire.errors import InvalidArgument, Violation

F = TypeVar("F", bound=Callable[..., Any])
Category = Literal["read", "write", "delete", "side_effect"]
Consequence = Literal["low", "medium", "high"]

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
ASYNC = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
# What a call of each category does to the world, unless `consequence` says it.
IMPACT: dict[Category, Consequence] = {"read": "low", "write": "medium", "side_effect": "medium", "delete": "high"}


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
    # Whether its result is all that it has yielded; where any may be, only if it returns nothing.
    collects: bool = False
    # Where it was said that it is a tool, and the code that said it.
    place: str = ""
    code: CodeType | None = None

    @property
    def name(self) -> str:
        return self.offer.name

    def is_of(self, function: Any) -> bool:
        """Whether it is the tool of a function. A method is another object each time; others may equal anything."""
        return self.function is function or bool(inspect.ismethod(function) and self.function == function)

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
    violation = Violation(misfit.pointer, misfit.rule, misfit.what)
    return InvalidArgument(f"`{name}` cannot be read: {misfit}", violations=(violation,))


# All that was decorated, in order: of each name one, but for those that `serve` refuses.
REGISTRY: dict[str, list[Tool]] = {}
# Those of each host that serves, by its identity.
SERVED: dict[int, list[Tool]] = {}


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *, name: str = "", title: str = "", description: str = "", write: bool = False, category: Category | None = None,
    consequence: Consequence | None = None, confirm: bool = False, approve_unless: Mapping[str, Schema] | None = None,
    idempotent: bool = False, timeout: float | None = None, cache: float | None = None, untrusted: bool = False,
    version: str = "", tags: Iterable[str] = (), guidance: Iterable[str] = (), input_schema: Schema | None = None,
    output_schema: Schema | None = None,
) -> Callable[[F], F]: ...


def tool(
    function: Any = None, /, *, name: str = "", title: str = "", description: str = "", write: bool = False,
    category: Category | None = None, consequence: Consequence | None = None, confirm: bool = False,
    approve_unless: Mapping[str, Schema] | None = None, idempotent: bool = False, timeout: float | None = None,
    cache: float | None = None, untrusted: bool = False, version: str = "", tags: Iterable[str] = (),
    guidance: Iterable[str] = (), input_schema: Schema | None = None, output_schema: Schema | None = None,
) -> Any:
    """Offers a function as a tool, and leaves it as it is. Without options it is a read.

    Args:
        name, title, description: Instead of the function's name and docstring.
        write: Short for `category="write"`.
        category: What a call may change.
        consequence: Its impact on the real world. Low for a read, high for a delete, else medium.
        confirm: A person must approve each call.
        approve_unless: … each one unless all these arguments satisfy their JSON Schemas.
        idempotent: A repeat with the same arguments changes nothing more.
        timeout: The bound on one execution, in seconds. 15 by default.
        cache: For how many seconds the result of a read answers the same user again.
        untrusted: The result contains text that people outside wrote.
        version, tags: Its version, and words to filter by.
        guidance: Lines for a system prompt on how to use the tool well.
        input_schema, output_schema: Instead of what the hints say. A parameter that no hint can read is what came.
    """
    options = {key: value for key, value in locals().items() if key != "function"}
    if function is not None:
        return _register(function, options, sys._getframe(1))
    return lambda function: _register(function, options, sys._getframe(1))


DEFAULTS = {it.name: it.default for it in inspect.signature(tool).parameters.values() if it.kind is it.KEYWORD_ONLY}


def _register(function: Any, options: dict[str, Any], caller: FrameType) -> Any:
    made = make(function, **options)
    place = made.place if inspect.isfunction(function) else f"{caller.f_code.co_filename}:{caller.f_lineno}"
    made = replace(made, place=place, code=caller.f_code)
    (name, _, line), beside = place_of(function), []
    for known in REGISTRY.get(made.name, []):
        other, _, other_line = place_of(known.function)
        # A module, or an edited cell of a notebook, may be read again.
        is_again = known.code is not made.code
        if name != other or (line != other_line and not is_again):
            raise ValueError(two_of_one_name(known, made))
        if is_again and any(it is known for tools in [*SERVED.values()] for it in tools):
            log.warning("%s is served as it was before: leave its Host, and open it again for this one", made.name)
        if not is_again and origin_of(known.function) is origin_of(function) and not known.is_of(function):
            beside.append(known)
    REGISTRY[made.name] = [*beside, made]
    return function


def two_of_one_name(one: Tool, other: Tool) -> str:
    places = [f"{place_of(it.function)[0]} ({it.place})" for it in (one, other)]
    of = ", of two objects" if places[0] == places[1] else ""
    return f"two tools are called {one.name}: {' and '.join(places)}{of}. Rename one, or use @tool(name=…)"


def make(function: Callable[..., Any], **options: Any) -> Tool:
    """The tool that a function is, by the options of `tool`. Raises TypeError or ValueError of what cannot be one."""
    # As callers outside of its class know it.
    function = function.__func__ if isinstance(function, staticmethod) else function
    origin = origin_of(function)
    # A partial has no name, and an object that is called has that of its type.
    named = str(getattr(function, "__name__", None) or getattr(origin, "__name__", ""))
    name = type(function).__name__ if named in ("", "__call__") else named
    _, file, line = place_of(function)
    with locate(f"@tool of {name}", f" ({file}:{line})" if line else ""):
        return _make(function, origin, name, {**DEFAULTS, **options})


def _make(function: Callable[..., Any], origin: Any, name: str, options: dict[str, Any]) -> Tool:
    check_function(function)
    name = options["name"] or name
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a tool: lower-case letters, digits and _, 64 at most")
    signature = inspect.signature(function).parameters
    words, parameter_words = read_docstring(inspect.getdoc(origin) or "", signature.keys())
    try:
        hints = typing.get_type_hints(origin, include_extras=True)
    except (AttributeError, NameError) as error:
        raise TypeError(f"its hints cannot be read: {error}") from error
    parameters, fixed = Parameters(options["input_schema"] is not None), fixed_names(function)
    for parameter in signature.values():
        if parameter.name in fixed:
            continue
        with locate(f"parameter {parameter.name}"):
            parameters.add(parameter, hints.get(parameter.name), parameter_words.get(parameter.name))
    category = _one_of(Category, options["category"] or ("write" if options["write"] else "read"))
    consequence = _one_of(Consequence, options["consequence"] or IMPACT[category])
    # Nothing is an object without members.
    result, is_async = unwrap_awaitable(hints.get("return", type(None)))
    is_given, part, collects = options["output_schema"] is not None, None, False
    with locate("the result"):
        if stream := unwrap_stream(result, function, origin):
            part, collects = codec(stream[0], output=True, is_given=is_given), stream[1] in (None, Any)
            result = stream[1] or GenericAlias(list, stream[0])
        result_codec = codec(dict if result is type(None) else result, output=True, is_given=is_given)
    returned = _given("output_schema", options) if is_given else result_codec.schema
    wrapped = returned.get("type") != "object"
    offer = host_pb2.Offer(
        name=name, title=options["title"], description=options["description"] or words,
        category=getattr(tool_pb2, f"TOOL_CATEGORY_{category.upper()}"),
        consequence_level=getattr(tool_pb2, f"CONSEQUENCE_LEVEL_{consequence.upper()}"),
        requires_confirmation=options["confirm"], idempotent=options["idempotent"],
        version=options["version"], tags=options["tags"], untrusted=options["untrusted"],
        guidance=options["guidance"], bind=parameters.bound,
        input_schema_json=to_json(_input_schema(parameters, options)),
        output_schema_json=to_json(closed_object({"result": returned}, ["result"]) if wrapped else returned),
    )
    if options["approve_unless"] is not None:
        with locate("approve_unless"):
            offer.approve_unless = _conditions(options["approve_unless"], parameters)
    if options["timeout"] is not None:
        offer.timeout.FromMilliseconds(_milliseconds("timeout", options["timeout"]))
    if options["cache"] is not None:
        offer.cache.tier, offer.cache.scope = "request", "user"
        offer.cache.ttl.FromMilliseconds(_milliseconds("cache", options["cache"]))
    is_async = is_async or any(is_kind(it) for is_kind in ASYNC for it in (function, origin))
    returns_iterable = (get_origin(result) or result) is Iterable
    place = ":".join(map(str, place_of(function)[1:]))
    return Tool(function, offer, parameters, result_codec, wrapped, is_async, returns_iterable, part, collects, place)


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


def _given(option: str, options: dict[str, Any]) -> Schema:
    if not isinstance(schema := options[option], Mapping):
        raise TypeError(f"{option} is a JSON Schema as a dict, not {schema!r}")
    return dict(schema)


def _input_schema(parameters: Parameters, options: dict[str, Any]) -> Schema:
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
