"""Programs whose tools fork: their children are not the program, and do not keep it or its server alive.

Against the real server, which TOOLWIRE_BINARY names; skipped without it.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import children, environment, is_alive, start_host, wait_for_line, wait_until
from toolwire import Refused, Toolwire
from toolwire.errors import ToolError

BINARY = os.environ.get("TOOLWIRE_BINARY", "")
pytestmark = pytest.mark.skipif(not BINARY, reason="TOOLWIRE_BINARY names no server")
LIMIT = 10.0
PROGRAM = '''
import asyncio, json, multiprocessing, os, signal, subprocess, sys, time
from concurrent.futures import ProcessPoolExecutor
from toolwire import Toolwire, serve, tool
from toolwire._fork import sockets_to

fork = multiprocessing.get_context("fork")

@tool
def end_children(count: int) -> list[int]:
    """Ends children of its own, each as soon as it is there."""
    ended = []
    for number in range(count):
        child = fork.Process(target=time.sleep, args=(60,))
        child.start()
        if number % 2:
            time.sleep(0.01)
        child.terminate()
        child.join(5)
        ended.append(child.exitcode or 0)
    return ended

def double(x):
    return x * 2

pools = []

@tool
def pooled(x: int, seconds: float = 0) -> dict:
    pools or pools.append(ProcessPoolExecutor(2, mp_context=fork))
    pools[0].submit(time.sleep, seconds).result()
    return {"x": pools[0].submit(double, x).result(), "workers": list(pools[0]._processes)}

@tool
def leave_child() -> dict:
    """Leaves a child that stays."""
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    return {"pid": pid}

@tool
def hang(seconds: float = 60) -> dict:
    """Has a child that stays, and hangs."""
    pid = os.fork()
    if pid == 0:
        time.sleep(600)
    print("hangs", pid, file=sys.stderr, flush=True)
    time.sleep(seconds)
    return {"pid": pid}

@tool(write=True)
def store(seconds: float) -> dict:
    """Hangs."""
    print("hangs", file=sys.stderr, flush=True)
    time.sleep(seconds)
    return {}

def status(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

@tool
def come_back(how: str) -> dict:
    """Has a child that does not end itself."""
    pid = os.fork()
    if pid:
        return {"status": status(pid)}
    if how == "raise":
        raise ValueError("of a child")
    if how == "exit":
        sys.exit(7)
    return {"child": True}

@tool
async def come_back_async() -> dict:
    pid = os.fork()
    if pid:
        return {"status": await asyncio.get_running_loop().run_in_executor(None, status, pid)}
    return {"child": True}

@tool
def inherited(port: int) -> dict:
    """What a child has of the program."""
    reading, writing = os.pipe()
    server = {("127.0.0.1", port)}
    of_program = len(sockets_to(server))
    pid = os.fork()
    if pid == 0:
        numbers = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
        said = [[str(signal.getsignal(it)) for it in numbers], [int(it) for it in signal.pthread_sigmask(0, [])]]
        try:
            Toolwire.connect("http://127.0.0.1:1").call("x")
        except RuntimeError as error:
            said += [str(error), of_program, len(sockets_to(server))]
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    status(pid)
    with os.fdopen(reading) as file:
        text = file.read()
    code = "import signal; print(signal.getsignal(15), signal.pthread_sigmask(0, []))"
    executed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    return {"forked": text, "executed": executed, "mask": [int(it) for it in signal.pthread_sigmask(0, [])]}

serve(SERVE)
print("goodbye", flush=True)
'''

# The output of a process is a pipe, and always there.
Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Runs the program with these arguments to `serve`, in a group of its own with its children."""
    started: list[subprocess.Popen[str]] = []

    def run(serve: str = "", **variables: str) -> "subprocess.Popen[str]":
        (tmp_path / "tools.py").write_text(PROGRAM.replace("SERVE", serve))
        started.append(
            subprocess.Popen(
                [sys.executable, "tools.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=environment(**variables), start_new_session=True,
            )
        )
        return started[-1]

    yield run
    for process in started:
        # Those that the program has left hold its output open.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def url_of(process: Any) -> str:
    line = process.stdout.readline()
    assert line.startswith("toolwire serves "), line
    return str(line.split()[-1])


def server_of(process: "subprocess.Popen[str]") -> int:
    """Its server: the child that is another program."""
    return next(it for it in children(process.pid) if "serve" in Path(f"/proc/{it}/cmdline").read_text().split("\0"))


class Calling(threading.Thread):
    """A call under way."""

    def __init__(self, url: str, tool: str, arguments: dict[str, Any]) -> None:
        super().__init__()
        self._call = url, tool, arguments
        self.end: Any = None
        self.start()

    def run(self) -> None:
        url, tool, arguments = self._call
        with Toolwire.connect(url, retries=0) as tools:
            try:
                self.end = tools.call(tool, arguments).data
            except (ToolError, Refused) as error:
                self.end = error


def test_a_tool_ends_its_children_and_nothing_else(run: Run) -> None:
    process = run()
    with Toolwire.connect(url_of(process), retries=0) as tools:
        for _ in range(4):
            assert tools.call("end_children", {"count": 8}).data == {"result": [-signal.SIGTERM] * 8}
    assert process.poll() is None


def test_a_child_has_nothing_of_the_programs_signals_and_connections(run: Run) -> None:
    process = run()
    url = url_of(process)
    with Toolwire.connect(url, retries=0) as tools:
        said = tools.call("inherited", {"port": int(url.rpartition(":")[2])}).data
    handlers, mask, refused, of_program, of_child = json.loads(said["forked"])
    # Else a server that others share would see the end of the program only after a keepalive.
    assert of_program > 0
    assert of_child == 0
    assert handlers[0] == handlers[2] == str(signal.SIG_DFL), handlers
    assert "default_int_handler" in handlers[1], handlers
    assert mask == []
    assert "start it by spawn" in refused
    assert said["executed"] == "0 set()\n" or said["executed"] == f"{signal.SIG_DFL} set()\n"
    assert said["mask"] == []


@pytest.mark.parametrize(("how", "status"), [("return", 1), ("raise", 1), ("exit", 7)])
def test_a_child_that_comes_back_from_its_function_is_ended(run: Run, how: str, status: int) -> None:
    process = run()
    with Toolwire.connect(url_of(process), retries=0) as tools:
        for _ in range(3):
            assert tools.call("come_back", {"how": how}, timeout=LIMIT).data == {"status": status}
            assert tools.call("come_back_async", timeout=LIMIT).data == {"status": 1}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_program_with_a_pool_drains_at_a_signal(run: Run, number: signal.Signals) -> None:
    process = run()
    url = url_of(process)
    with Toolwire.connect(url, retries=0) as tools:
        assert tools.call("pooled", {"x": 2}).data["x"] == 4
    server, call = server_of(process), Calling(url, "pooled", {"x": 3, "seconds": 1})
    wait_until(lambda: workers_are_busy(process, server), LIMIT)
    process.send_signal(number)
    call.join(LIMIT)
    assert call.end["x"] == 6
    assert process.wait(LIMIT) == 0
    assert process.stdout.read().endswith("goodbye\n")
    said = process.stderr.read()
    assert f"toolwire ends on {number.name}: calls under way have 25 s" in said, said
    assert not is_alive(server)


def workers_are_busy(process: "subprocess.Popen[str]", server: int) -> bool:
    """Whether one sleeps."""
    workers = [it for it in children(process.pid) if it != server]
    return any("nanosleep" in Path(f"/proc/{it}/wchan").read_text() for it in workers)


def test_the_second_signal_ends_the_program_at_once_and_its_server_too(run: Run) -> None:
    process = run()
    url = url_of(process)
    server, call = server_of(process), Calling(url, "hang", {})
    wait_for_line(process.stderr, "hangs")
    process.send_signal(signal.SIGTERM)
    wait_for_line(process.stderr, "toolwire ends on SIGTERM")
    # Not this one: service managers send it too.
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    assert process.wait(LIMIT) == -signal.SIGINT
    wait_until(lambda: not is_alive(server), 3)
    call.join(LIMIT)
    # Of the server that ends, or of the connection to it.
    assert call.end.code == "UNAVAILABLE"


@pytest.mark.parametrize(("tool", "code"), [("hang", "CANCELLED"), ("store", "OUTCOME_UNKNOWN")])
def test_a_call_that_does_not_end_has_an_outcome_and_does_not_hold_up_the_end_of_the_program(
    run: Run, tool: str, code: str
) -> None:
    process = run("grace=0.2")
    call = Calling(url_of(process), tool, {"seconds": 600})
    wait_for_line(process.stderr, "hangs")
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT) == 0
    call.join(LIMIT)
    assert isinstance(call.end, ToolError), call.end
    assert call.end.code == code
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    assert "1 call outlasted the 0.2 s at the end" in process.stderr.read()


@pytest.mark.parametrize("tool", ["pooled", "leave_child"])
def test_the_server_of_a_killed_program_ends_though_children_live_on(run: Run, tool: str) -> None:
    process = run()
    with Toolwire.connect(url_of(process), retries=0) as tools:
        left = tools.call(tool, {"x": 1} if tool == "pooled" else {}).data
    server = server_of(process)
    process.kill()
    process.wait()
    wait_until(lambda: not is_alive(server), 3)
    assert any(is_alive(pid) for pid in left.get("workers", [left.get("pid")])), left


def test_a_program_whose_server_ends_says_so(run: Run) -> None:
    process = run()
    url_of(process)
    server = server_of(process)
    os.kill(server, signal.SIGKILL)
    assert process.wait(LIMIT) == 1
    assert "the server has ended by SIGKILL" in process.stderr.read()


def test_clients_alone_keep_grpc_s_handlers_of_fork() -> None:
    code = """
import os, sys, toolwire
assert 'grpc' not in sys.modules, 'imported too early'
toolwire.Toolwire.connect('http://127.0.0.1:1').close()
assert 'grpc' in sys.modules and 'GRPC_ENABLE_FORK_SUPPORT' not in os.environ
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=environment())


def test_a_program_that_imports_grpc_first_is_warned_when_it_forks(tmp_path: Path) -> None:
    program = tmp_path / "tools.py"
    program.write_text("import grpc\n" + PROGRAM.replace("SERVE", ""))
    with (tmp_path / "log").open("w+") as log:
        process = start_host(program, log=log)
        with Toolwire.connect(url_of(process), retries=0) as tools:
            tools.call("come_back", {"how": "exit"})
        process.terminate()
        process.communicate()
        log.seek(0)
        assert "GRPC_ENABLE_FORK_SUPPORT=false" in log.read()
