"""The programs of examples/hosts/python."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.fake_tools import FakeTools
from toolwire._stubs.toolwire.v1 import result_pb2
from toolwire._stubs.toolwire.v1 import tool_service_pb2 as pb

SDK = Path(__file__).parent.parent
EXAMPLES = SDK.parent.parent / "examples/hosts/python"
TOOLS = [{"name": "order_status", "description": "Where an order is.", "input_schema": {"type": "object"}}]
USE = {"type": "tool_use", "id": "use_1", "name": "order_status", "input": {"order_id": "A-1"}}


class Model(BaseHTTPRequestHandler):
    """Anthropic's service: calls a tool first, and then says what it read."""

    requests: list[Any] = []  # noqa: RUF012

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.requests.append(request)
        last = request["messages"][-1]["content"]
        content = [USE] if isinstance(last, str) else [{"type": "text", "text": f"I read {last[0]['content']}"}]
        message = {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        body = json.dumps(message).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def run(*command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join([str(SDK), str(EXAMPLES)])
    # Without a server, even where there is one for other tests.
    inherited = {name: value for name, value in os.environ.items() if name != "TOOLWIRE_BINARY"}
    return subprocess.run(
        [sys.executable, *command], env={**inherited, "PYTHONPATH": path, **environment}, capture_output=True,
        text=True, timeout=30,
    )


def test_an_agent_of_twenty_lines_answers_by_calling_a_tool(model: str) -> None:
    pytest.importorskip("anthropic")
    program = EXAMPLES / "agent.py"
    assert len(program.read_text().splitlines()) <= 20
    fake = FakeTools()
    fake.answers["ExportTools"] = lambda _: pb.ExportToolsResponse(json=json.dumps(TOOLS))
    result = result_pb2.ToolResult(data_text='{"success":true,"data":{"state":"sent"}}')
    fake.answers["CallTool"] = lambda _: pb.CallToolResponse(result=result)
    said = run(
        str(program), "Where is order A-1?", TOOLWIRE_SERVER=fake.url, ANTHROPIC_BASE_URL=model, ANTHROPIC_API_KEY="k"
    )
    assert said.stdout == 'I read {"success":true,"data":{"state":"sent"}}\n', said.stderr
    assert Model.requests[0]["tools"] == TOOLS
    called = next(it for it in fake.requests if isinstance(it, pb.CallToolRequest))
    assert (called.tool, called.arguments_json) == ("order_status", '{"order_id":"A-1"}')
    fake.close()


def test_the_tools_of_the_examples_are_tried_without_a_server() -> None:
    tried = run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLES))
    assert "2 passed" in tried.stdout, tried.stdout


@pytest.mark.parametrize("module", ["tools", "database", "report"])
def test_every_example_has_tools_that_can_be_offered(module: str) -> None:
    said = run("-c", f"import {module}; from toolwire._tool import REGISTRY; print(*REGISTRY)")
    assert said.stdout.split(), said.stderr
