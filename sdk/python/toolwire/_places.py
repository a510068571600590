"""The functions of tools that a server refused: where they are."""

from __future__ import annotations

from collections.abc import Mapping

from toolwire._functions import place_of
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._tool import Tool
from toolwire.errors import Refused, refusal


def check_conditions(welcome: host_pb2.Welcome, tools: Mapping[str, Tool]) -> None:
    """Raises Refused of a wrong `approve_unless`: a program that went on would lack the tool that it guards."""
    for verdict in welcome.verdicts:
        for problem in verdict.problems:
            _, of_conditions, argument = problem.pointer.partition("/approve_unless")
            if of_conditions and verdict.state == host_pb2.VERDICT_STATE_REFUSED and verdict.tool in tools:
                name = argument.strip("/") or "all of it"
                text = f"@tool of {verdict.tool}: approve_unless: {name}: {problem.description}"
                raise refusal("FAILED_PRECONDITION", f"{text} {_place(tools, verdict.tool)}", "CONDITION_REFUSED")


def with_places(refused: Refused, tools: Mapping[str, Tool]) -> Refused:
    """The same refusal, which names the functions of the tools that it speaks of."""
    named = [name for name in tools if f"{name}: /" in refused.message]
    if not named:
        return refused
    places = ", ".join(f"{name} {_place(tools, name)}" for name in named[:10])
    return refusal(refused.status, f"{refused.message}. Of these are {places}", refused.reason, refused.retry_after)


def _place(tools: Mapping[str, Tool], name: str) -> str:
    _, file, line = place_of(tools[name].function)
    return f"({file}:{line})"
