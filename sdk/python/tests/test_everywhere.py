"""A Host wherever a program runs: in a loop, in a thread, in processes that edits replace, behind a client of MCP."""

import asyncio
import contextlib
import functools
import gc
import inspect
import json
import os
import pydoc
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Server, environment, is_alive, start_host, wait_for_line, wait_until
from toolwire import AsyncToolwire, Host, Refused, Toolwire, ToolwireError, serve, serve_async, tool
from toolwire._fork import _held
from toolwire._tool import make
from toolwire.adapters import answer

BINARY = os.environ.get("TOOLWIRE_BINARY", "")
pytestmark = [pytest.mark.skipif(not BINARY, reason="TOOLWIRE_BINARY names no server"), pytest.mark.anyio]
# Within which whatever a test waits for happens, in seconds.
LIMIT = 20.0


def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}


async def which_thread() -> dict[str, int]:
    return {"thread": threading.get_ident()}


class Gate:
    """A coroutine that waits to be let through."""

    def __init__(self) -> None:
        self.begun, self.opened, self.end = asyncio.Event(), asyncio.Event(), ""

    async def wait(self) -> dict[str, bool]:
        self.begun.set()
        try:
            await self.opened.wait()
        except asyncio.CancelledError:
            self.end = "cancelled"
            raise
        self.end = "done"
        return {"done": True}


async def test_coroutines_have_the_loop_of_the_block_and_a_blocked_loop_holds_up_no_function(tmp_path: Path) -> None:
    async with Host([add, which_thread], state=tmp_path) as host:
        async with AsyncToolwire.connect(host.url) as tools:
            assert (await tools.call("which_thread")).data == {"thread": threading.get_ident()}
        # As a cell of a notebook does it, which knows nothing of loops.
        with Toolwire.connect(host.url) as blocking:
            assert blocking.call("add", {"a": 1, "b": 2}).data == {"sum": 3}


async def test_calls_under_way_end_in_the_grace_after_the_block(tmp_path: Path) -> None:
    gate = Gate()
    async with Host([gate.wait], state=tmp_path) as host:
        tools = AsyncToolwire.connect(host.url)
        call = asyncio.create_task(tools.call("wait", timeout=LIMIT))
        await gate.begun.wait()
        asyncio.get_running_loop().call_later(0.2, gate.opened.set)
    assert gate.end == "done"
    assert (await call).data == {"done": True}
    await tools.close()


async def test_who_is_cancelled_while_calls_end_ends_them_now(tmp_path: Path) -> None:
    gate, left = Gate(), asyncio.Event()

    async def run() -> None:
        async with Host([gate.wait], state=tmp_path, grace=600) as host, AsyncToolwire.connect(host.url) as tools:
            call = asyncio.create_task(tools.call("wait", timeout=LIMIT))
            await gate.begun.wait()
            left.set()
            call.add_done_callback(lambda it: it.exception())

    running = asyncio.create_task(run())
    await left.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, LIMIT)
    assert gate.end == "cancelled"


async def test_served_in_a_task_it_ends_with_the_task(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        task = asyncio.create_task(serve_async(add))
        while not said or " at http" not in said[0]:
            await asyncio.sleep(0.01)
            said += [it for it in capfd.readouterr().out.splitlines() if it]
            assert not task.done(), task
        async with AsyncToolwire.connect(said[0].split()[-1]) as tools:
            assert (await tools.call("add", {"a": 1, "b": 2})).data == {"sum": 3}
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, LIMIT)


async def test_a_server_that_is_not_there_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    before = threading.active_count()
    with pytest.raises(Refused, match="no server answered at"):
        await Host([add], server=f"http://127.0.0.1:{port}", connect_timeout=0.2).__aenter__()
    # Whoever is cancelled while it joins leaves too.
    joining = asyncio.create_task(Host([add], server=f"http://127.0.0.1:{port}").__aenter__())
    await asyncio.sleep(0.1)
    joining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await joining
    gc.collect()
    assert [it.name for it in threading.enumerate() if it.name.startswith("toolwire")] == []
    assert threading.active_count() <= before + 1, "gRPC has one of its own"


def test_a_function_that_changes_while_it_is_served_is_warned_of_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    registry: dict[str, Any] = {}
    for module in ("_tool", "_hosting"):
        monkeypatch.setattr(f"toolwire.{module}.REGISTRY", registry)

    def run_cell(name: str) -> Any:
        cell: dict[str, Any] = {"tool": tool, "__name__": "__main__"}
        exec(compile(f"@tool\ndef {name}() -> dict:\n    'A sum.'\n", "cell", "exec", dont_inherit=True), cell)
        return cell[name]

    with Host([run_cell("total")], state=tmp_path):
        for name in ("other", "other", "total", "total"):
            run_cell(name)
        said = "total is served as it was before: leave its Host, and open it again for this one"
        assert [it.message for it in caplog.records] == [said]
    run_cell("total")
    assert len(caplog.records) == 1


def test_a_host_outside_of_its_block_says_so(tmp_path: Path) -> None:
    host = Host([add], state=tmp_path)
    reads: list[Callable[[], str]] = [lambda: host.url, lambda: host.mcp]
    for read in reads:
        with pytest.raises(RuntimeError, match="at the start of its block"):
            read()
    with host:
        assert host.mcp
        assert host.url
    assert Host([add], server="http://127.0.0.1:1").mcp == ""


async def test_a_loop_that_is_held_up_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SystemExit):
        serve(add, server="no URL")
    assert caplog.records[0].message.endswith("in a notebook, use Host or serve_async()")


async def test_no_end_of_a_call_comes_to_a_loop_that_is_closed(tmp_path: Path) -> None:
    # It would be raised on whichever loop takes gRPC's events, such as that of the program.
    raised: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: raised.append(context))

    async def go_on_calling(tools: AsyncToolwire) -> None:
        while True:
            await tools.list_tools()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with Host([add], state=tmp_path) as host, AsyncToolwire.connect(host.url) as tools:
            calling = asyncio.create_task(go_on_calling(tools))
            for number in range(10):
                other = Host([add], server=f"http://127.0.0.1:{silent.getsockname()[1]}")
                joining = asyncio.create_task(other.__aenter__())
                await asyncio.sleep(0.05 + number * 0.01)
                joining.cancel()
                await asyncio.wait([joining])
            await asyncio.sleep(0.1)
            calling.cancel()
            await asyncio.wait([calling])
    assert raised == []


async def test_a_server_that_ends_is_told_to_who_waits(tmp_path: Path) -> None:
    async with Host([add], state=tmp_path) as host:
        assert host.server
        os.kill(host.server._process.pid, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="the server has ended by SIGKILL"):
            await asyncio.wait_for(host.wait(), LIMIT)


async def test_a_host_serves_once(tmp_path: Path) -> None:
    host = Host([add], state=tmp_path)
    with host:
        pass
    with pytest.raises(RuntimeError, match="serves once"):
        await host.__aenter__()


# In a process of its own: what other tests have left is not counted.
LEAKS = """
import asyncio, gc, os, tempfile, threading, time
from toolwire import AsyncToolwire, Host, Toolwire

def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}

async def subtract(a: int, b: int) -> dict[str, int]:
    return {"sum": a - b}

def call(tools):
    assert tools.call("add", {"a": 1, "b": 2}).data == {"sum": 3}

async def once(state):
    async with Host([add, subtract], state=state) as host, AsyncToolwire.connect(host.url) as tools:
        assert (await tools.call("subtract", {"a": 1, "b": 2})).data == {"sum": -1}
        assert (await tools.call("add", {"a": 1, "b": 2})).data == {"sum": 3}
    async with AsyncToolwire.local(add) as tools:
        assert (await tools.call("add", {"a": 1, "b": 2})).data == {"sum": 3}
    with Toolwire.local(add) as tools:
        call(tools)

def count():
    gc.collect()
    return len(os.listdir("/proc/self/fd")), sorted(it.name for it in threading.enumerate())

before = count()
with tempfile.TemporaryDirectory() as state:
    for _ in range(4):
        asyncio.run(once(state))
# gRPC closes what it had by and by, and keeps two descriptors.
end = time.monotonic() + 20
while (after := count())[0] > before[0] + 2 or after[1] != before[1]:
    assert time.monotonic() < end, (before, after)
    time.sleep(0.01)
"""


def test_nothing_is_left_of_hosts_that_have_ended() -> None:
    ended = subprocess.run([sys.executable, "-c", LEAKS], capture_output=True, text=True, env=environment())
    assert ended.returncode == 0, ended


async def test_an_async_client_that_is_dropped_is_forgotten(tmp_path: Path) -> None:
    async with AsyncToolwire.local(add, state=tmp_path) as tools:
        before = len(_held)
        other = AsyncToolwire.connect(tools.url)
        await other.list_tools()
        assert len(_held) == before + 1
        del other
        gc.collect()
        assert len(_held) == before


async def test_a_local_server_starts_beside_what_the_loop_does(tmp_path: Path) -> None:
    gaps: list[float] = []

    async def tick() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.001)
            gaps.append(time.monotonic() - before)

    ticking = asyncio.create_task(tick())
    async with AsyncToolwire.local(add, state=tmp_path) as tools:
        started = len(gaps)
        assert (await tools.call("add", {"a": 1, "b": 2})).data == {"sum": 3}
    ticking.cancel()
    assert started > 10, "the loop goes on while the server starts"


def test_a_program_serves_in_a_thread(tmp_path: Path) -> None:
    program = tmp_path / "tools.py"
    program.write_text(
        "import threading\nfrom toolwire import serve\n\n"
        "def add(a: int, b: int) -> dict[str, int]:\n    return {'sum': a + b}\n\n"
        "threading.Thread(target=serve, args=(add,), daemon=True).start()\ninput()\n"
    )
    process = subprocess.Popen(
        [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stdout
    assert process.stdin
    with process, Toolwire.connect(process.stdout.readline().split()[-1]) as tools:
        assert tools.call("add", {"a": 1, "b": 2}).data == {"sum": 3}
        process.stdin.write("\n")
        process.stdin.close()
        assert process.wait(LIMIT) == 0


EDITED = """
import time
from toolwire import Context, serve, tool
from parts import NAME

@tool
def which() -> dict:
    return {"code": "first", "name": NAME}

@tool(timeout=60)
def slow(ctx: Context) -> dict:
    ctx.progress("begun")
    while not ctx.cancelled and not GO.exists():
        time.sleep(0.01)
    return {"code": "first", "name": NAME}

from pathlib import Path
GO = Path(__file__).parent / "go"
serve(reload=True, grace=20)
"""


class Edited:
    """A program that is edited while it serves."""

    def __init__(self, folder: Path, *, start: list[str] | None = None, **variables: str) -> None:
        self.program, self.parts, self.log = folder / "tools.py", folder / "parts.py", folder / "log"
        self.program.write_text(EDITED)
        self.parts.write_text("NAME = 'a'\n")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*(start or [sys.executable]), str(self.program)], stdout=subprocess.PIPE, stderr=log, text=True,
                cwd=folder, env=environment(**variables),
            )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert " at http" in line, (line, self.log.read_text())
        self.tools = Toolwire.connect(line.split()[-1])

    def edit(self, file: Path, before: str, after: str) -> None:
        file.write_text(file.read_text().replace(before, after))

    def serves(self, **data: str) -> None:
        wait_until(lambda: self._which() == data, LIMIT)

    def _which(self) -> Any:
        try:
            return self.tools.call("which").data
        except ToolwireError as error:
            return error

    def says(self, words: str, times: int = 1) -> None:
        wait_until(lambda: self.log.read_text().count(words) == times, LIMIT)

    def close(self) -> None:
        self.tools.close()
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def edited(tmp_path: Path) -> Iterator[Edited]:
    made = Edited(tmp_path)
    yield made
    made.close()


def test_an_edit_is_served_and_calls_under_way_end_in_the_code_before(edited: Edited, tmp_path: Path) -> None:
    edited.serves(code="first", name="a")
    events = edited.tools.stream("slow", timeout=60)
    next(events)
    next(events)
    edited.edit(edited.program, '"first"', '"second"')
    edited.serves(code="second", name="a")
    (tmp_path / "go").touch()
    assert [*events][-1].data == {"code": "first", "name": "a"}  # type: ignore[union-attr]
    # A module of the program, in the same second and of the same size.
    edited.edit(edited.parts, "'a'", "'b'")
    edited.serves(code="second", name="b")
    edited.edit(edited.program, "def which() ->", "def which(more: int = 0) ->")
    edited.says("serves the edit", 3)
    edited.serves(code="second", name="b")
    edited.process.send_signal(signal.SIGTERM)
    assert edited.process.wait(LIMIT) == 0


def test_an_edit_that_does_not_serve_is_said_and_changes_nothing(edited: Edited, tmp_path: Path) -> None:
    edited.serves(code="first", name="a")
    edited.edit(edited.parts, "'a'", "'b")
    edited.says("does not serve this: the program has ended with 1; what was served before is served on")
    assert "SyntaxError" in edited.log.read_text()
    assert "runpy" not in edited.log.read_text()
    edited.serves(code="first", name="a")
    edited.edit(edited.parts, "'b", "'c'")
    edited.serves(code="first", name="c")
    # A module that is written after what imports it, and one that has never been read.
    edited.edit(edited.program, "import time", "import time, added")
    edited.says("No module named 'added'")
    (tmp_path / "added.py").write_text("x = (\n")
    edited.says("was never closed")
    (tmp_path / "added.py").write_text("x = 1\n")
    edited.edit(edited.program, '"first"', '"second"')
    edited.serves(code="second", name="c")


def test_nothing_outlives_a_program_that_reloads(edited: Edited) -> None:
    edited.edit(edited.parts, "'a'", "'b'")
    edited.serves(code="first", name="b")
    family = family_of(edited.process.pid)
    assert len(family) > 3
    edited.process.kill()
    edited.process.wait()
    wait_until(lambda: not any(map(is_alive, family)), LIMIT)


def family_of(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [process]
    for parent in found:
        found += [pid for pid, of in pairs if of == parent]
    return found


def test_the_command_dev_is_the_same_and_a_named_server_too(tmp_path: Path) -> None:
    (tmp_path / "program").mkdir()
    start = [BINARY, "dev", "--python", sys.executable]
    with contextlib.ExitStack() as stack:
        server = Server(tmp_path, "--no-samples")
        stack.callback(server.kill)
        edited = Edited(tmp_path / "program", start=start, TOOLWIRE_SERVER=server.url)
        stack.callback(edited.close)
        edited.edit(edited.program, "serve(reload=True, grace=20)", "serve(grace=19)")
        edited.says("serves the edit")
        edited.edit(edited.parts, "'a'", "'b'")
        edited.serves(code="first", name="b")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("print('done')", "the program has ended with 0 and has not called serve(); the next edit starts it again"),
        ("import time\ntime.sleep(60)", "follows no edit of a program that does not call serve(), as this one"),
    ],
)
def test_a_program_that_never_serves_is_said_to_be_none_that_edits_are_served_of(
    tmp_path: Path, program: str, said: str
) -> None:
    (tmp_path / "tools.py").write_text(program)
    start = "import sys\nfrom toolwire import _reload\n_reload.MOST_LOOKS = 3\nsys.exit(_reload.main(['tools.py']))"
    with subprocess.Popen(
        [sys.executable, "-c", start], stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment()
    ) as process:
        assert process.stderr
        wait_for_line(process.stderr, said)
        process.terminate()
        assert process.wait(LIMIT) == 0


SPOKEN = """
import os
from toolwire import serve, tool

print("printed before")

@tool
def add(a: int, b: int) -> dict[str, int]:
    print("printed within")
    os.system("echo printed by another program")
    return {"sum": a + b}

@tool
def read() -> dict[str, str]:
    try:
        return {"read": input()}
    except EOFError:
        return {"read": "nothing"}

serve()
"""


class Client:
    """Of MCP, line by line: what else there is on standard output is seen."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process, self._number = process, 0

    def ask(self, method: str, **parameters: Any) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        while (answer := json.loads(self._process.stdout.readline())).get("id") != self._number:
            pass
        return answer["result"]


def test_a_program_speaks_mcp_and_prints_to_standard_error(tmp_path: Path) -> None:
    program = tmp_path / "tools.py"
    program.write_text(SPOKEN)
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, str(program), "--mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            text=True, env=environment(PYTHONUNBUFFERED=""),
        )
    with process:
        client = Client(process)
        hello = {"name": "test", "version": "1"}
        client.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=hello)
        assert {"add", "read"} <= {it["name"] for it in client.ask("tools/list")["tools"]}
        call = functools.partial(client.ask, "tools/call")
        assert call(name="add", arguments={"a": 1, "b": 2})["structuredContent"] == {"sum": 3}
        assert call(name="read", arguments={})["structuredContent"] == {"read": "nothing"}
        assert process.stdin
        process.stdin.close()
        assert process.wait(LIMIT) == 0
    said = (tmp_path / "log").read_text()
    for line in ("printed before", "printed within", "printed by another program", "toolwire serves 2 tools"):
        assert line in said
    assert "toolwire ends on" not in said


def test_the_log_of_the_server_is_a_file_and_its_warnings_are_words(tmp_path: Path) -> None:
    program = tmp_path / "tools.py"
    program.write_text(
        "from toolwire import serve\n\ndef add(a: int, b: int) -> dict[str, int]:\n    return {'sum': a + b}\n\n"
        "serve(add)\n"
    )
    with (tmp_path / "log").open("w") as log:
        process = start_host(program, log=log, OTEL_TRACES_SAMPLER="sometimes")
    assert process.stdout
    lines = [process.stdout.readline() for _ in range(5)]
    process.terminate()
    process.communicate()
    assert lines[4] == "  log    .toolwire/state/server.log\n"
    kept = (tmp_path / ".toolwire/state/server.log").read_text()
    assert "INFO" in kept
    said = (tmp_path / "log").read_text()
    assert "INFO" not in said
    warnings = [line.partition(": ")[2] for line in said.splitlines() if line.startswith("WARN toolwire server: ")]
    assert warnings
    assert [it.split(": ", 1)[1] for it in kept.splitlines() if " WARN " in it] == warnings


@pytest.mark.parametrize(
    "shown",
    [
        tool, serve, serve_async, Host, Toolwire.call, Toolwire.stream, Toolwire.call_text, Toolwire.connect,
        Toolwire.local, Toolwire.list_tools, AsyncToolwire.call, AsyncToolwire.stream, AsyncToolwire.local,
    ],
)
def test_help_shows_every_option(shown: Any) -> None:
    parameters = inspect.signature(shown).parameters.values()
    assert not [it for it in parameters if it.kind is it.VAR_KEYWORD]
    said = pydoc.render_doc(shown, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    assert [it.name for it in parameters if it.kind is it.KEYWORD_ONLY]
    assert all(it.name in said for it in parameters)


async def test_an_agent_that_awaits_a_blocking_client_takes_no_thread_of_others() -> None:
    asyncio.get_running_loop().set_default_executor(busy := ThreadPoolExecutor(1))
    taken = threading.Event()
    busy.submit(taken.wait, LIMIT)

    class Client(Toolwire):
        def __init__(self) -> None:
            pass

        def call_text(self, tool: str, *_: Any, **__: Any) -> str:
            return tool

    try:
        assert await asyncio.wait_for(answer(Client(), "add", {}), LIMIT) == "add"
    finally:
        taken.set()


class Shop:
    def order(self, order_id: str) -> dict[str, str]:
        return {"order": order_id}


def test_two_tools_of_one_name_are_refused_with_both_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    registry: dict[str, Any] = {}
    monkeypatch.setattr("toolwire._tool.REGISTRY", registry)
    monkeypatch.setattr("toolwire._hosting.REGISTRY", registry)
    place = rf"\S+Shop.order \(\S+{Path(__file__).name}:\d+\)"
    one, other = Shop(), Shop()
    tool(one.order)
    tool(other.order)
    for start in (serve, Toolwire.local, Host):
        with pytest.raises(ValueError, match=rf"two tools are called order: {place} and {place}\. Rename"):
            start()
    refused: list[Callable[[], Any]] = [lambda: Host([one.order, other.order]), lambda: Host([add, make(add)])]
    registry.clear()
    for make_host in refused:
        with pytest.raises(ValueError, match=r"two tools are called \w+: .* and .*, of two objects"):
            make_host()
    # The same object again is one offer, as is a module that is read again.
    for _ in range(2):
        tool(one.order)
    assert [it.function for it in Host(state=tmp_path).tools] == [one.order]
