"""For the OpenAI Agents SDK: `Agent(…, tools=openai_agents.tools(client, client.list_tools()))`."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from toolwire.adapters import Client, answer, check, extra
from toolwire.client import ToolInfo

with extra("openai-agents"):
    from agents import FunctionTool


def tools(client: Client, listed: Iterable[ToolInfo] | None = None) -> list[FunctionTool]:
    """Those that were listed, called by the client."""
    return [
        FunctionTool(
            name=it.name, description=it.description, params_json_schema=it.input_schema, strict_json_schema=False,
            on_invoke_tool=functools.partial(_call, client, it.name),
        )
        for it in check(client, listed)
    ]


async def _call(client: Client, tool: str, _: Any, arguments: str) -> str:
    return await answer(client, tool, arguments or "{}")
