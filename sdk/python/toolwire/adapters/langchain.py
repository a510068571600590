"""For LangChain and LangGraph: `create_agent(model, tools=langchain.tools(client, client.list_tools()))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.tools import BaseTool

from toolwire.adapters import Client, answer, answer_blocking
from toolwire.client import ToolInfo


def tools(client: Client, listed: Iterable[ToolInfo]) -> list[BaseTool]:
    """Those that were listed, called by the client."""
    return [
        _Tool(name=it.name, description=it.description, args_schema=it.input_schema, client=client) for it in listed
    ]


class _Tool(BaseTool):
    """Not a StructuredTool, which keeps arguments of the names `config`, `run_manager` and `callbacks` to itself."""

    # A Client; pydantic would look into its hint.
    client: Any

    def _run(self, /, *_: Any, **arguments: Any) -> str:
        return answer_blocking(self.client, self.name, arguments)

    async def _arun(self, /, *_: Any, **arguments: Any) -> str:
        return await answer(self.client, self.name, arguments)
