"""Clients that `toolwire generate python` writes, of a real server's tools. Skipped without TOOLWIRE_BINARY."""

import asyncio
import dataclasses
import importlib.util
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest

from tests.processes import SDK
from toolwire import AsyncToolwire, ConfirmationRequired, Context, Host, NotFound, Toolwire, tool
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._tool import REGISTRY, Tool, make
from toolwire.errors import InvalidArgument

BINARY = os.environ.get("TOOLWIRE_BINARY", "")
pytestmark = pytest.mark.skipif(not BINARY, reason="TOOLWIRE_BINARY names no server")


class Line(TypedDict):
    sku: str
    count: int


def order(order_id: str, speed: Literal["slow", "fast"] = "slow", lines: list[Line] | None = None) -> dict[str, Any]:
    """An order."""
    return {"id": order_id, "speed": speed, "lines": lines} if order_id else NotFound("no order").throw()


def pay(amount: float, timeout: int, *, ctx: Context) -> dict[str, Any]:
    """Pays."""
    return {"paid": amount, "timeout": timeout, "request": ctx.request_id, "task": ctx.task_id}


@pytest.fixture(scope="module")
def tools() -> Iterator[Toolwire]:
    before = dict(REGISTRY)
    tool(write=True, approve_unless={"amount": {"maximum": 100}}, tags=["money"])(pay)
    with Toolwire.local(pay, order) as connected:
        yield connected
    REGISTRY.clear()
    REGISTRY.update(before)


def generate(url: str, file: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [BINARY, "generate", "python", "--server", url, "--out", str(file), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def load(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_types(file: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={file.parent}", "--config-file"]
    command += [str(SDK / "pyproject.toml"), str(file)]
    checked = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(SDK)})
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_methods_call_the_tools(tools: Toolwire, tmp_path: Path) -> None:
    file = tmp_path / "shop_tools.py"
    assert generate(tools.url, file).returncode == 0
    module = load(file)
    typed = module.Tools(tools)
    assert typed.order(order_id="A-1") == {"id": "A-1", "speed": "slow", "lines": None}
    lines = [{"sku": "x", "count": 2}]
    assert typed.order(order_id="A-1", speed="fast", lines=lines, timeout=5)["lines"] == lines
    with pytest.raises(NotFound):
        typed.order(order_id="")
    with pytest.raises(InvalidArgument):
        typed.order(order_id="A-1", speed="never")
    with pytest.raises(TypeError):
        typed.order("A-1")
    task = tools.tasks.create("Pay").task_id
    paid = typed.pay(amount=5, timeout_=3, task_id=task)
    assert (paid["paid"], paid["timeout"], paid["task"]) == (5, 3, task)
    with pytest.raises(ConfirmationRequired) as required:
        typed.pay(amount=500, timeout_=3)
    tools.approve(required.value)
    assert typed.pay(amount=500, timeout_=3, request_id=required.value.request_id)["paid"] == 500

    async def gather() -> list[Any]:
        async with AsyncToolwire.connect(tools.url) as client:
            of_loop = module.AsyncTools(client)
            return await asyncio.gather(*(of_loop.order(order_id=str(number)) for number in range(1, 9)))

    assert [it["id"] for it in asyncio.run(gather())] == [str(number) for number in range(1, 9)]


def test_a_module_is_checked_and_written_again_where_it_is_stale(tools: Toolwire, tmp_path: Path) -> None:
    file = tmp_path / "money.py"
    assert generate(tools.url, file, "--tag", "money").returncode == 0
    assert "def order(" not in file.read_text()
    assert generate(tools.url, file, "--tag", "money", "--check").returncode == 0
    stale = generate(tools.url, file, "--check")
    assert stale.returncode == 1
    assert "is stale from line 1 on" in stale.stderr
    file.write_text("mine\n")
    assert generate(tools.url, file).returncode == 1
    assert file.read_text() == "mine\n"
    assert generate(tools.url, file, "--force").returncode == 0
    check_types(file)


WORDS = ['"""', "\\", "*/", "a\nb", "\u202e", "\r", "\x0c", 'ends"', "# type: ignore", "'''", "{x}", "\u2028", "\x00"]
NAMES = [
    "a", "class", "class_", "self", "request_id", "timeout", "cast", "list", "str", "Any", "None", "__x", "_x", "a-b",
    "1st", "größe", "ﬁ", "fi", "import", "type", "Tools", "print", "arguments", "orderId", "a b", "\n", '"', "async",
]


def random_schema(chance: random.Random, depth: int = 0) -> dict[str, Any]:
    kinds = ["string", "integer", "number", "boolean", "enum", "array", "object", "union", "map", "null"]
    kind = "object" if depth == 0 else chance.choice(kinds if depth < 4 else kinds[:5])
    schema: dict[str, Any] = {"description": " ".join(chance.choices(WORDS, k=3))}
    if kind == "enum":
        schema["enum"] = chance.sample([*WORDS, "", "a"], 3)
    elif kind == "union":
        schema["anyOf"] = [random_schema(chance, depth + 1), {"type": "null"}]
    elif kind == "array":
        schema |= {"type": kind, "items": random_schema(chance, depth + 1), "maxItems": 9}
    elif kind == "map":
        schema |= {"type": "object", "additionalProperties": random_schema(chance, depth + 1)}
    elif kind == "object":
        members = {name: random_schema(chance, depth + 1) for name in chance.sample(NAMES, chance.randint(0, 9))}
        required = [name for name in members if chance.random() < 0.5]
        schema |= {"type": kind, "properties": members, "required": required, "additionalProperties": False}
    else:
        schema["type"] = kind
    return schema


def any_tool(name: str, **schemas: Any) -> Tool:
    """A tool that no function is: its schemas and words are any."""
    made = make(order, name=name)
    offer = host_pb2.Offer()
    offer.CopyFrom(made.offer)
    offer.description = " ".join(WORDS).replace("\x00", "")
    for part, schema in schemas.items():
        setattr(offer, f"{part}_json", json.dumps(schema))
    return dataclasses.replace(made, offer=offer)


def test_whatever_tools_are_called_and_take_the_module_is_read_and_typed(tools: Toolwire, tmp_path: Path) -> None:
    chance = random.Random(50)
    names = ["class", "import", "list", "str", "print", "cast", "self", "none", "any", "tools", "async_tools", "a_b"]
    offered = [
        any_tool(f"{name}{end}", input_schema=random_schema(chance), output_schema=random_schema(chance))
        for name in names for end in ("", "_", "2")
    ]
    wide = {f"p{number}": {"type": "string"} for number in range(300)}
    offered.append(any_tool("wide", input_schema={"type": "object", "properties": wide, "additionalProperties": False}))
    with Host(offered, server=tools.url, slots=1, grace=1):
        served = {it.name for it in tools.list_tools()} & {it.name for it in offered}
        assert len(served) > len(offered) / 2, "what a server refuses proves nothing"
        file, again = tmp_path / "hostile_tools.py", tmp_path / "again.py"
        assert generate(tools.url, file).returncode == 0
        assert generate(tools.url, again).returncode == 0
        assert file.read_bytes() == again.read_bytes()
        module = load(file)
        for client in (module.Tools, module.AsyncTools):
            methods = [name for name in vars(client) if not name.startswith("_")]
            assert len(methods) == len(tools.list_tools())
        check_types(file)
