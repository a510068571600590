"""For LangChain and LangGraph: `create_agent(model, tools=langchain.tools(client, client.list_tools()))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.adapters import Client, answer, answer_blocking, check, extra
from toolwire.client import ToolInfo

with extra("langchain"):
    from langchain_core.tools import BaseTool


def tools(client: Client, listed: Iterable[ToolInfo] | None = None) -> list[BaseTool]:
    """Those that were listed, called by the client."""
    return [
        _Tool(name=it.name, description=it.description, args_schema=it.input_schema, client=client)
        for it in check(client, listed)
    ]


class _Tool(BaseTool):
    """Not a StructuredTool, which keeps arguments of the names `config`, `run_manager` and `callbacks` to itself."""

    # A Client; pydantic would look into its hint.
    client: Any

    def _run(self, /, *_: Any, **arguments: Any) -> str:
        return answer_blocking(self.client, self.name, arguments)

    async def _arun(self, /, *_: Any, **arguments: Any) -> str:
        return await answer(self.client, self.name, arguments)
