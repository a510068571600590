"""A real server with tools of this process, called by each of its faces."""

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwire import Host, Result, ToolError, Toolwire
from toolwire._binary import LocalServer
from toolwire._tool import Tool

FACES = ["CallTool", "InvokeTool", "REST", "MCP"]
# Within which a call has its end, in seconds.
LIMIT = 8.0
# How a call ended: `data` and its data, or the code and the text of its error.
End = tuple[str, Any]


class Faces:
    def __init__(self, state: Path, tools: list[Tool], slots: int = 2) -> None:
        self.server = LocalServer(state, samples=False, http_port=0)
        self.host = Host(tools, server=self.server.url, token="", slots=slots, grace=1).__enter__()
        self.tools = Toolwire.connect(self.server.url, retries=0)
        self._by_face: dict[str, Callable[[str, str], End]] = {
            "CallTool": self._call, "InvokeTool": self._invoke, "REST": self._rest, "MCP": self._mcp,
        }

    def close(self) -> None:
        self.tools.close()
        self.host.__exit__()
        self.server.close()

    def call(self, face: str, tool: str, arguments: str = "{}") -> End:
        """Of a tool with the JSON text of its arguments."""
        return self._by_face[face](tool, arguments)

    def _call(self, tool: str, arguments: str) -> End:
        try:
            return "data", self.tools.call(tool, arguments, timeout=LIMIT).data
        except ToolError as error:
            return error.code, error.message

    def _invoke(self, tool: str, arguments: str) -> End:
        try:
            *_, last = self.tools.stream(tool, arguments, timeout=LIMIT)
        except ToolError as error:
            return error.code, error.message
        assert isinstance(last, Result)
        return "data", last.data

    def _rest(self, tool: str, arguments: str) -> End:
        path = f"/v1/tools/{tool}:call"
        answer = self._post(path, arguments, {"idempotency-key": str(uuid.uuid4())})
        return ("data", answer["data"]) if "data" in answer else (answer["code"], answer["detail"])

    def _mcp(self, tool: str, arguments: str) -> End:
        meta = json.dumps({"toolwire/request_id": str(uuid.uuid4())})
        parameters = f'{{"name": "{tool}", "arguments": {arguments}, "_meta": {meta}}}'
        body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {parameters}}}'
        answer = self._post("/mcp", body, {"accept": "application/json, text/event-stream"})
        result = answer["result"]
        if result["isError"]:
            return result["_meta"]["toolwire/error"]["code"], result["content"][0]["text"]
        return "data", result["structuredContent"]

    def _post(self, path: str, body: str, headers: dict[str, str]) -> Any:
        url = self.server.mcp.removesuffix("/mcp") + path
        request = urllib.request.Request(url, body.encode(), {"content-type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                text = answer.read()
        except urllib.error.HTTPError as refused:
            with refused:
                text = refused.read()
        # The event of a stream, where one answers.
        lines = text.decode().splitlines()
        data = [line.removeprefix("data:") for line in lines if line.startswith("data:")]
        return json.loads(data[-1] if data else text)
