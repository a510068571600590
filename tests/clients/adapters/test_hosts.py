"""Hosts where authors have them: in the lifespan of a FastAPI service, in cells of a notebook, behind a client of MCP."""

import asyncio
import contextlib
import os
import sys
import threading
from pathlib import Path

import fastapi
import httpx
import mcp
import nbclient
import nbformat
import uvicorn
from mcp.client.stdio import StdioServerParameters, stdio_client

from toolwire import AsyncToolwire, Host

SDK = Path(__file__).parents[3] / "sdk/python"
LIMIT = 60


def service(state):
    """One whose tool uses what belongs to the loop of the service, as a pool of connections does."""
    # Tests of one process leave hosts to it.
    orders, others = asyncio.Queue(), threading.enumerate()

    async def take_order(table: int) -> dict[str, int]:
        orders.put_nowait(table)
        return {"table": table}

    @contextlib.asynccontextmanager
    async def lifespan(app):
        async with Host([take_order], state=state) as host:
            app.state.url = host.url
            yield
        app.state.threads = [it.name for it in threading.enumerate() if it not in others and it.name.startswith("toolwire")]

    app = fastapi.FastAPI(lifespan=lifespan)

    @app.get("/next")
    async def next_order():
        return {"table": await orders.get()}

    return app


def test_a_service_serves_tools_while_it_lives(tmp_path):
    async def run():
        app = service(tmp_path)
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
        serving = asyncio.create_task(server.serve())
        while not server.started:
            assert not serving.done()
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        async with (
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=LIMIT, trust_env=False) as http,
            AsyncToolwire.connect(app.state.url) as tools,
        ):
            # It waits for what the tool puts: both are on one loop.
            waiting = asyncio.create_task(http.get("/next"))
            await asyncio.sleep(0)
            assert (await tools.call("take_order", {"table": 7})).data == {"table": 7}
            assert (await waiting).json() == {"table": 7}
        server.should_exit = True
        await asyncio.wait_for(serving, LIMIT)
        assert app.state.threads == []

    asyncio.run(run())


CELLS = [
    """
import asyncio
from toolwire import AsyncToolwire, Host, Toolwire, serve_async, tool

@tool
def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}

@tool
async def loop_of() -> dict[str, bool]:
    return {"same": asyncio.get_running_loop() is LOOP}

LOOP = asyncio.get_running_loop()
""",
    """
async with Host([add, loop_of]) as host:
    with Toolwire.connect(host.url) as tools:
        print(tools.call("add", {"a": 1, "b": 2}).data)
    async with AsyncToolwire.connect(host.url) as tools:
        print((await tools.call("loop_of")).data)
""",
    # Served on while other cells run, and an edited cell replaces its tool.
    """
host = Host()
await host.__aenter__()
""",
    """
with Toolwire.connect(host.url) as tools:
    print(tools.call("add", {"a": 1, "b": 4}).data)
await host.__aexit__()
""",
    """
@tool
def add(a: int, b: int) -> dict[str, int]:
    return {"sum": 100 * (a + b)}

async with AsyncToolwire.local() as tools:
    print((await tools.call("add", {"a": 1, "b": 2})).data)
""",
    """
serving = asyncio.create_task(serve_async())
await asyncio.sleep(0)
serving.cancel()
try:
    await serving
except asyncio.CancelledError:
    print("left")
""",
]


def test_cells_of_a_notebook_serve_and_call(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(SDK))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(it) for it in CELLS])
    kernel = {"name": "python3", "display_name": "python3", "language": "python"}
    book.metadata["kernelspec"] = kernel
    client = nbclient.NotebookClient(book, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute()
    said = [[it.text.strip() for it in cell.outputs if it.get("name") == "stdout"] for cell in book.cells]
    assert said == [[], ["{'sum': 3}\n{'same': True}"], [], ["{'sum': 5}"], ["{'sum': 300}"], ["left"]]
    assert (tmp_path / ".toolwire/state/server.log").exists()


PROGRAM = """
from toolwire import Context, serve, tool

print("this is not MCP")

@tool
async def add(a: int, b: int, *, ctx: Context) -> dict[str, int]:
    print("nor is this")
    await ctx.progress("adding", 0.5)
    return {"sum": a + b}

serve()
"""


def test_a_client_of_mcp_starts_a_program(tmp_path):
    program = tmp_path / "tools.py"
    program.write_text(PROGRAM)
    variables = {"PYTHONPATH": str(SDK), "TOOLWIRE_BINARY": os.environ["TOOLWIRE_BINARY"]}
    server = StdioServerParameters(command=sys.executable, args=[str(program), "--mcp"], env=variables)
    problems = []

    async def handle(message):
        if isinstance(message, Exception):
            problems.append(message)

    async def run():
        async with stdio_client(server) as (read, write):
            async with mcp.ClientSession(read, write, message_handler=handle) as session:
                await session.initialize()
                assert "add" in [it.name for it in (await session.list_tools()).tools]
                done = await session.call_tool("add", {"a": 1, "b": 2})
                assert done.structured_content == {"sum": 3}

    asyncio.run(asyncio.wait_for(run(), LIMIT))
    assert problems == [], "nothing else is on its output"
