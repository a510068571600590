"""`@tool`: what a function says of itself, as the offer of a tool."""

from __future__ import annotations

import functools
import inspect
import json
import re
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, TypeVar, get_args, get_origin, overload

from toolwire._context import Context
from toolwire._schema import Decode, Schema, closed, codec, fits, locate, optional, to_json
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import tool_pb2
from toolwire.errors import InvalidArgument

if TYPE_CHECKING:
    from typing_extensions import Unpack

F = TypeVar("F", bound=Callable[..., Any])
Category = Literal["read", "write", "delete", "side_effect"]
Consequence = Literal["low", "medium", "high"]
Source = Literal["user.id", "user.email", "user.role", "task_id", "session_id", "call_id", "request_id"]

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
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


@dataclass(frozen=True)
class Bind:
    """An argument that the server fills in and no caller sends: `Annotated[str, Bind("user.id")]`."""

    source: Source


@dataclass(frozen=True)
class Tool:
    """A function that is offered."""

    function: Callable[..., Any]
    offer: host_pb2.Offer
    parameters: Parameters
    # Whether the function returns no object, so that its value is put into one.
    wrapped: bool
    is_async: bool

    @property
    def name(self) -> str:
        return self.offer.name

    @property
    def reads(self) -> bool:
        return self.offer.category == tool_pb2.TOOL_CATEGORY_READ

    def bind(self, arguments_json: str, context: Context | None) -> Callable[[], Any]:
        """The call of the function, with arguments as the server checked them."""
        parameters = self.parameters
        arguments: dict[str, Any] = dict.fromkeys(parameters.nullable)
        for name, value in json.loads(arguments_json or "{}").items():
            decode = parameters.decoders.get(name)
            try:
                # A null is an argument that was left out.
                arguments[name] = value if decode is None or value is None else decode(value)
            except (KeyError, TypeError, ValueError) as error:
                raise InvalidArgument(f"`{name}` cannot be read: {error}") from error
        for name in parameters.needed - arguments.keys():
            raise InvalidArgument(f"{self.name} needs {parameters.bound[name]}, which the call has none of")
        if parameters.context:
            arguments[parameters.context] = context
        return functools.partial(self.function, **arguments)

    def render(self, value: Any) -> str:
        """What the function returned, as the text of a JSON object."""
        text = to_json({"result": value} if self.wrapped else {} if value is None else value)
        if not text.startswith("{"):
            raise TypeError(f"{self.name} returned a {type(value).__name__}: say so by a hint, or return a dict")
        return text


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
            (name, file, line), (other, other_file, other_line) = _place(known.function), _place(function)
            # A module, or an edited cell of a notebook, may be read again.
            if name != other or (file == other_file and line != other_line):
                places = f"{name} ({file}:{line}) and {other} ({other_file}:{other_line})"
                raise ValueError(f"two tools are called {made.name}: {places}. Rename one, or use @tool(name=…)")
        REGISTRY[made.name] = made
        return function

    return register if function is None else register(function)


def _place(function: Callable[..., Any]) -> tuple[str, str, int]:
    """Its name, file and line."""
    code = inspect.unwrap(function).__code__
    return f"{function.__module__}.{function.__qualname__}", code.co_filename, code.co_firstlineno


def make(function: Callable[..., Any], **options: Unpack[Options]) -> Tool:
    """The tool that a function is; raises TypeError or ValueError of one that cannot be offered."""
    with locate(f"@tool of {function.__name__}"):
        return _make(function, options)


def _make(function: Callable[..., Any], options: Options) -> Tool:
    # A misspelt `confirm` would leave the function unguarded.
    if unknown := options.keys() - Options.__annotations__.keys():
        known = ", ".join(Options.__annotations__)
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}, only {known}")
    name = options.get("name") or function.__name__
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a tool: lower-case letters, digits and _, 64 at most")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError("it is a generator: send parts with `Context.chunk`, and return the result")
    words, parameter_words = read_docstring(inspect.getdoc(function) or "")
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = Parameters()
    for parameter in inspect.signature(function).parameters.values():
        with locate(f"parameter {parameter.name}"):
            parameters.add(parameter, hints.get(parameter.name), parameter_words.get(parameter.name))
    category = _one_of(Category, options.get("category") or ("write" if options.get("write") else "read"))
    consequence = _one_of(Consequence, options.get("consequence") or IMPACT[category])
    # Nothing is an object without members.
    result = hints.get("return", type(None))
    with locate("the result"):
        returned = {"type": "object"} if result is type(None) else codec(result, output=True).schema
    wrapped = returned.get("type") != "object"
    offer = host_pb2.Offer(
        name=name, title=options.get("title"), description=options.get("description") or words,
        category=getattr(tool_pb2, f"TOOL_CATEGORY_{category.upper()}"),
        consequence_level=getattr(tool_pb2, f"CONSEQUENCE_LEVEL_{consequence.upper()}"),
        requires_confirmation=options.get("confirm"), idempotent=options.get("idempotent"),
        version=options.get("version"), tags=options.get("tags"), untrusted=options.get("untrusted"),
        guidance=options.get("guidance"), bind=parameters.bound,
        input_schema_json=to_json(closed(parameters.properties, parameters.required)),
        output_schema_json=to_json(closed({"result": returned}, ["result"]) if wrapped else returned),
    )
    if "approve_unless" in options:
        offer.approve_unless = to_json(options["approve_unless"])
    if "timeout" in options:
        offer.timeout.FromMilliseconds(_milliseconds("timeout", options["timeout"]))
    if "cache" in options:
        offer.cache.tier, offer.cache.scope = "request", "user"
        offer.cache.ttl.FromMilliseconds(_milliseconds("cache", options["cache"]))
    return Tool(function, offer, parameters, wrapped, inspect.iscoroutinefunction(function))


def _one_of(choice: Any, value: Any) -> Any:
    if value not in get_args(choice):
        raise ValueError(f"{value!r} is none of {', '.join(get_args(choice))}")
    return value


def _milliseconds(option: str, seconds: Any) -> int:
    if not isinstance(seconds, int | float):
        raise TypeError(f"{option} is a number of seconds, not {seconds!r}")
    return round(seconds * 1000)


@dataclass
class Parameters:
    """What the parameters of a function are."""

    # The one that takes the context. Empty: none does.
    context: str = ""
    decoders: dict[str, Decode | None] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    # The bound ones that the function cannot do without, and those that are None if they are left out.
    needed: set[str] = field(default_factory=set)
    nullable: set[str] = field(default_factory=set)
    properties: dict[str, Schema] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)

    def add(self, parameter: inspect.Parameter, hint: Any, words: str | None) -> None:
        name = parameter.name
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError("it has no name that a caller could give")
        if hint is None:
            is_method = name in ("self", "cls")
            raise TypeError("a method is no tool: decorate a function" if is_method else "it has no type hint")
        if hint is Context:
            self.context = name
            return
        read = codec(optional(hint))
        self.decoders[name] = read.decode
        binds = [it for it in get_args(hint)[1:] if isinstance(it, Bind)] if get_origin(hint) is Annotated else []
        is_needed = parameter.default is parameter.empty and optional(hint) == hint
        if parameter.default is parameter.empty and not is_needed:
            self.nullable.add(name)
        if binds:
            self.bound[name] = binds[0].source
            if is_needed:
                self.needed.add(name)
            return
        schema = {"description": words, **read.schema} if words else dict(read.schema)
        if is_needed:
            self.required.append(name)
        elif parameter.default not in (None, parameter.empty):
            schema["default"] = json.loads(to_json(parameter.default))
            if not fits(schema["default"], schema):
                raise TypeError(f"the default {parameter.default!r} does not fit the type hint")
        self.properties[name] = schema


SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?|Notes?):\s*$", re.MULTILINE)
ENTRY = re.compile(r"^(\s+)\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


def read_docstring(doc: str) -> tuple[str, dict[str, str]]:
    """The words of a docstring, and those of its parameters, as Google writes them."""
    head, *sections = SECTION.split(doc)
    parameters: dict[str, str] = {}
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        if title in ("Args", "Arguments", "Parameters"):
            parameters |= _entries(body)
    return "\n\n".join(" ".join(it.split()) for it in re.split(r"\n\s*\n", head.strip())), parameters


def _entries(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name, depth = "", 0
    for line in filter(str.strip, body.splitlines()):
        entry = ENTRY.match(line)
        if entry and (not name or len(entry[1]) <= depth):
            name, depth = entry[2], len(entry[1])
            found[name] = entry[3]
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
