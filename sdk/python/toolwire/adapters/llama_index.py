"""For LlamaIndex: `FunctionAgent(tools=llama_index.tools(client, client.list_tools()), …)`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolwire.adapters import Client, answer, answer_blocking, check, extra
from toolwire.client import ToolInfo

with extra("llama-index"):
    from llama_index.core.tools import ToolMetadata, ToolOutput
    from llama_index.core.tools.types import AsyncBaseTool


def tools(client: Client, listed: Iterable[ToolInfo] | None = None) -> list[AsyncBaseTool]:
    """Those that were listed, called by the client."""
    return [_Tool(client, it) for it in check(client, listed)]


class _Metadata(ToolMetadata):
    """With the schema as the server says it, where LlamaIndex has one of a class."""

    def __init__(self, info: ToolInfo) -> None:
        super().__init__(info.description, info.name)
        self._schema = info.input_schema

    def get_parameters_dict(self) -> dict[str, Any]:
        return self._schema

    def to_openai_tool(self, skip_length_check: bool = True) -> dict[str, Any]:
        declared: dict[str, Any] = super().to_openai_tool(skip_length_check=True)
        return declared


class _Tool(AsyncBaseTool):
    def __init__(self, client: Client, info: ToolInfo) -> None:
        self._client, self._metadata = client, _Metadata(info)

    @property
    def metadata(self) -> ToolMetadata:
        return self._metadata

    def call(self, /, *_: Any, **arguments: Any) -> ToolOutput:
        return self._output(arguments, answer_blocking(self._client, self._metadata.get_name(), arguments))

    async def acall(self, /, *_: Any, **arguments: Any) -> ToolOutput:
        return self._output(arguments, await answer(self._client, self._metadata.get_name(), arguments))

    def _output(self, arguments: dict[str, Any], text: str) -> ToolOutput:
        return ToolOutput(tool_name=self._metadata.get_name(), content=text, raw_input=arguments, raw_output=text)
