"""The host and the client against the real server, which TOOLWIRE_BINARY names; skipped without it."""

import asyncio
import math
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

from tests.processes import Server, children, is_alive, start_host, wait_until
from toolwire import Bind, ConfirmationRequired, Context, NotFound, Refused, Toolwire, tool
from toolwire._binary import LocalServer
from toolwire._tool import REGISTRY
from toolwire.client import Chunk, Progress, Result
from toolwire.errors import (
    ConfirmationDenied,
    InvalidArgument,
    OutcomeUnknown,
    ParseError,
    ResultTooLarge,
    ToolError,
    ToolTimeout,
)

BINARY = os.environ.get("TOOLWIRE_BINARY", "")
pytestmark = pytest.mark.skipif(not BINARY, reason="TOOLWIRE_BINARY names no server")
LIMIT = 10.0
LIMITED = {"amount": {"minimum": 0, "maximum": 100}}


class Effects:
    """What the tools did."""

    payments: list[float] = []  # noqa: RUF012
    stopped = threading.Event()


def order_status(order_id: str) -> dict[str, str]:
    """Where an order is."""
    return {"state": "sent"} if order_id == "A-1" else NotFound(f"no order {order_id}").throw()


def pay(amount: float | None = None, note: str = "") -> dict[str, Any]:
    """Pays."""
    Effects.payments.append(math.nan if amount is None else amount)
    return {"paid": amount}


def whose(account: Annotated[str, Bind("user.id")], other: str = "") -> dict[str, str]:
    return {"account": account, "other": other}


def of_task(task: Annotated[str, Bind("task_id")]) -> dict[str, str]:
    return {"task": task}


async def report(count: int, *, ctx: Context) -> dict[str, Any]:
    await ctx.progress("begun", 0.5)
    for number in range(count):
        await ctx.chunk({"number": number})
    return {"count": count, "request_id": ctx.request_id}


async def sleep(*, ctx: Context) -> dict[str, bool]:
    try:
        await ctx.progress("asleep")
        await asyncio.sleep(60)
    finally:
        Effects.stopped.set()
    return {"slept": True}


def large() -> dict[str, str]:
    return {"text": "a" * (4 << 20)}


def unfit() -> dict[str, Any]:
    return {"number": math.inf}


def break_write() -> dict[str, str]:
    raise RuntimeError("secret")


def break_read() -> dict[str, str]:
    raise RuntimeError("secret")


def optional_argument(number: int | None) -> dict[str, int | None]:
    return {"number": number}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolwire]:
    before = dict(REGISTRY)
    tool(write=True, approve_unless=LIMITED)(pay)
    tool(write=True)(break_write)
    functions: list[Callable[..., Any]] = [
        order_status, whose, of_task, report, sleep, large, unfit, break_read, optional_argument,
    ]
    state = tmp_path_factory.mktemp("state")
    with Toolwire.local(pay, break_write, *functions, state=state, slots=4) as connected:
        yield connected
    REGISTRY.clear()
    REGISTRY.update(before)


def test_nothing_but_the_tools_of_the_host_is_served(tools: Toolwire) -> None:
    listed = {it.name: it for it in tools.list_tools()}
    assert "pay" in listed
    assert "get_quotes" not in listed
    assert listed["pay"].category == "write"
    assert not listed["pay"].requires_confirmation
    assert listed["whose"].input_schema["properties"].keys() == {"other"}
    assert {it["name"] for it in tools.export("anthropic")} >= {"order_status", "pay"}


def test_a_call_and_its_errors(tools: Toolwire) -> None:
    assert tools.call("order_status", {"order_id": "A-1"}).data == {"state": "sent"}
    with pytest.raises(NotFound, match="no order B"):
        tools.call("order_status", {"order_id": "B"})
    with pytest.raises(InvalidArgument, match="order_id"):
        tools.call("order_status", {"orderid2": "A-1"})
    for failing, expected in [("break_read", ToolError), ("break_write", OutcomeUnknown)]:
        with pytest.raises(expected) as raised:
            tools.call(failing)
        assert "secret" not in str(raised.value)
        # The same call would be answered from the record.
        assert not raised.value.retryable
        said = f"{failing} failed; the log of its program says why, under call {raised.value.call_id}"
        assert said in str(raised.value)
    with pytest.raises(ResultTooLarge):
        tools.call("large")
    with pytest.raises(ParseError):
        tools.call("unfit")
    assert tools.call("optional_argument").data == {"number": None}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"amount": 100}, "done"), ({"amount": 0}, "done"), ({"amount": "50"}, "done"),
        ({"amount": 100.5}, "asks"), ({"amount": -1}, "asks"), ({}, "asks"), ({"amount": None}, "asks"),
        ({"amount": "250"}, "asks"), ({"amount": "NaN"}, "invalid"), ({"amout": 1}, "invalid"),
        ({"amount": 1, "amout": 1000}, "invalid"), ('{"amount": NaN}', "refused"), ('{"amount": 1e999}', "refused"),
    ],
)
def test_a_call_passes_only_within_its_conditions(tools: Toolwire, arguments: Any, expected: str) -> None:
    before, request_id = len(Effects.payments), str(uuid.uuid4())

    def call() -> Result:
        return tools.call("pay", arguments, request_id=request_id)

    if expected == "done":
        assert call().data == call().data
        assert len(Effects.payments) == before + 1
        return
    if expected == "asks":
        with pytest.raises(ConfirmationRequired, match="amount") as required:
            call()
        with pytest.raises(ConfirmationRequired):
            call()
        assert len(Effects.payments) == before
        tools.approve(required.value, tool="pay")
        assert call().data == call().data
        assert len(Effects.payments) == before + 1
        return
    with pytest.raises((InvalidArgument, Refused)):
        call()
    assert len(Effects.payments) == before


def test_what_is_denied_has_no_effect(tools: Toolwire) -> None:
    before, request_id = len(Effects.payments), str(uuid.uuid4())
    with pytest.raises(ConfirmationRequired) as required:
        tools.call("pay", {"amount": 250}, request_id=request_id)
    tools.deny(required.value, "too much")
    with pytest.raises(ConfirmationDenied, match="too much"):
        tools.call("pay", {"amount": 250}, request_id=request_id)
    assert len(Effects.payments) == before


def test_the_same_call_of_a_model_goes_on_once_it_is_decided(tools: Toolwire) -> None:
    def call() -> str:
        return tools.call_text("pay", {"amount": 251, "note": "by a model"})

    before = len(Effects.payments)
    for is_approved in (True, False):
        assert call() == call(), "one confirmation"
        (waiting,) = [it for it in tools.confirmations() if "251" in it.arguments_json]
        assert waiting.confirmation_id in call()
        (tools.approve if is_approved else tools.deny)(waiting.confirmation_id)
        assert ('"paid":251' if is_approved else "A person denied this call: No reason was given.") in call()
        assert len(Effects.payments) == before + 1


def test_bound_arguments_are_of_the_call_and_of_no_caller(tools: Toolwire) -> None:
    assert tools.call("whose", {"other": "x"}).data["account"] != ""
    with pytest.raises(InvalidArgument, match="account"):
        tools.call("whose", {"account": "mallory"})
    with pytest.raises(InvalidArgument, match="task_id"):
        tools.call("of_task")
    task = tools.tasks.create("Look at it")
    assert tools.call("of_task", task_id=task.task_id).data == {"task": task.task_id}


def test_a_stream_has_progress_chunks_and_the_result(tools: Toolwire) -> None:
    request_id = str(uuid.uuid4())
    events = [*tools.stream("report", {"count": 3}, request_id=request_id)]
    assert [it.data for it in events if isinstance(it, Chunk)] == [{"number": n} for n in range(3)]
    assert any(isinstance(it, Progress) and it.message == "begun" for it in events)
    last = events[-1]
    assert isinstance(last, Result)
    assert last.data == {"count": 3, "request_id": request_id}


def test_cancel_and_deadline_reach_the_function(tools: Toolwire) -> None:
    Effects.stopped.clear()
    events = tools.stream("sleep")
    for event in events:
        if isinstance(event, Progress):
            break
    began = time.monotonic()
    events.close()  # type: ignore[attr-defined]
    assert Effects.stopped.wait(LIMIT)
    assert time.monotonic() - began < LIMIT / 2
    Effects.stopped.clear()
    with pytest.raises((ToolTimeout, Refused)):
        tools.call("sleep", timeout=0.5)
    assert Effects.stopped.wait(LIMIT)


def test_calls_side_by_side_take_the_slots_that_there_are(tools: Toolwire) -> None:
    results: list[Any] = []

    def call() -> None:
        results.append(tools.call("report", {"count": 20}).data["count"])

    threads = [threading.Thread(target=call) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert results == [20] * 16


PROGRAM = '''
import os, sys, time
from toolwire import serve, tool
FOLDER = sys.argv[1]

def begin(kind):
    with open(f"{FOLDER}/{kind}", "a") as file:
        file.write(f"{os.getpid()}\\n")

@tool
def look(seconds: float) -> dict:
    """Looks."""
    begin("look")
    time.sleep(seconds)
    return {"pid": os.getpid()}

@tool(write=True)
def act(seconds: float) -> dict:
    """Acts."""
    begin("act")
    time.sleep(seconds)
    return {"pid": os.getpid()}

@tool(write=True, idempotent=True)
def put(seconds: float) -> dict:
    """Puts."""
    begin("put")
    time.sleep(seconds)
    return {"pid": os.getpid()}

serve(slots=2)
'''


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[tuple[Toolwire, Callable[[], "subprocess.Popen[str]"], Path]]:
    """A server, and what starts a host of its own process there."""
    (tmp_path / "hosts.py").write_text(PROGRAM)
    processes: list[subprocess.Popen[str]] = []
    state = tmp_path / "state"
    state.mkdir()
    server = LocalServer(state, samples=False)

    def start() -> "subprocess.Popen[str]":
        process = start_host(tmp_path / "hosts.py", str(tmp_path), TOOLWIRE_SERVER=server.url)
        processes.append(process)
        assert process.stdout
        assert process.stdout.readline().startswith("toolwire serves 3 tools")
        return process

    with Toolwire.connect(server.url, retries=0) as tools:
        yield tools, start, tmp_path
    for process in processes:
        process.kill()
        process.communicate()
    server.close()


def read_begun(folder: Path, kind: str) -> list[int]:
    file = folder / kind
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def kill_during(folder: Path, kind: str) -> None:
    """Kills the host that begins this call."""
    wait_until(lambda: read_begun(folder, kind), LIMIT)
    os.kill(read_begun(folder, kind)[0], signal.SIGKILL)


@pytest.mark.parametrize("kind", ["look", "put"])
def test_what_may_be_repeated_goes_on_elsewhere_when_its_host_is_killed(hosts: Any, kind: str) -> None:
    tools, start, folder = hosts
    start(), start()
    killer = threading.Thread(target=kill_during, args=(folder, kind))
    killer.start()
    answered = tools.call(kind, {"seconds": 0.5}, timeout=LIMIT)
    killer.join()
    first, second = read_begun(folder, kind)
    assert answered.data == {"pid": second}
    assert first != second


def test_a_write_whose_host_is_killed_is_unknown_and_never_made_twice(hosts: Any) -> None:
    tools, start, folder = hosts
    start(), start()
    request_id = str(uuid.uuid4())
    killer = threading.Thread(target=kill_during, args=(folder, "act"))
    killer.start()
    began = time.monotonic()
    with pytest.raises(OutcomeUnknown):
        tools.call("act", {"seconds": 5}, request_id=request_id, timeout=30)
    assert time.monotonic() - began < 12
    killer.join()
    with pytest.raises(OutcomeUnknown):
        tools.call("act", {"seconds": 5}, request_id=request_id, timeout=30)
    assert len(read_begun(folder, "act")) == 1


def test_without_a_host_a_tool_is_degraded_and_a_new_host_brings_it_back(hosts: Any) -> None:
    tools, start, _ = hosts
    first = start()
    assert tools.list_tools()[0].problem == ""
    first.kill()
    wait_until(lambda: tools.list_tools()[0].problem, LIMIT)
    with pytest.raises(ToolError, match="No host of `local` is connected") as failed:
        tools.call("look", {"seconds": 0}, timeout=1)
    assert failed.value.code == "UNAVAILABLE"
    start()
    assert tools.list_tools()[0].problem == ""
    assert tools.call("look", {"seconds": 0}).data["pid"]


REFUSED = """
from toolwire import serve, tool

@tool(write=True, approve_unless={"amount": {"maximun": 100}})
def look(amount: float) -> dict:
    '''Pays.'''
    return {}
%s
serve(provider="local")
"""
# Without it every tool of the program is refused, and with it one of two.
ANOTHER = "\n@tool\ndef pay(amount: float) -> dict:\n    return {}\n"


@pytest.mark.parametrize(("another", "reason"), [("", "CATALOGUE_REFUSED"), (ANOTHER, "CONDITION_REFUSED")])
def test_a_wrong_condition_ends_the_program_with_its_place(hosts: Any, another: str, reason: str) -> None:
    tools, start, folder = hosts
    first = start()
    (folder / "refused.py").write_text(REFUSED % another)
    for variables in ({"TOOLWIRE_SERVER": tools.url}, {}):
        refused = start_host(folder / "refused.py", log=subprocess.PIPE, **variables)
        _, said = refused.communicate(timeout=LIMIT)
        assert refused.returncode == 1
        assert f"ERROR toolwire: {reason}: " in said, said
        for words in ("look", "amount", "maximun", f"({folder}/refused.py:4)"):
            assert words in said, said
        if not another:
            assert tools.call("look", {"seconds": 0}).data["pid"] == first.pid, "it replaces nothing"


def test_the_host_keeps_the_protocol(hosts: Any) -> None:
    tools, _, _ = hosts
    example = Path(__file__).parent.parent.parent.parent / "examples/hosts/python/check.py"
    checked = [start_host(example, TOOLWIRE_SERVER=tools.url) for _ in range(2)]
    try:
        for host in checked:
            assert host.stdout
            assert host.stdout.readline().startswith("toolwire serves 7 tools")
        command = [BINARY, "host-check", "local", "--crash", "--server", tools.url]
        said = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert said.returncode == 0, said.stdout + said.stderr
        assert said.stdout.count("ok ") == 9
        # One host ended itself.
        assert sorted(host.poll() is None for host in checked) == [False, True]
    finally:
        for host in checked:
            host.kill()
            host.communicate()


CONFIGURATION = '''
[[auth.users]]
user_id = "riley"
token = "rileys-token-of-20-chars"
approve = ["*"]

[confirmations]
own_calls = true

[providers.shop]
kind = "host"
token_env = "SHOP_TOKEN"
tools = ["shop_*"]
at_least = "medium"
approve = ["shop_delete_*"]
conditions = { shop_refund = { amount = { maximum = 50 } } }
'''
SHOP = '''
from toolwire import serve, tool

@tool(write=True, consequence="low", approve_unless={"amount": {"minimum": 0}})
def shop_refund(amount: float) -> dict:
    """Pays money back."""
    return {"amount": amount}

@tool(write=True)
def shop_delete_order(order_id: str) -> dict:
    """Deletes an order."""
    return {"deleted": order_id}

@tool
def bank_balance() -> dict:
    """What is in the bank."""
    return {"balance": 0}

serve()
'''


def test_a_shared_server_takes_hosts_by_their_token_and_within_their_floor(tmp_path: Path) -> None:
    (tmp_path / "toolwire.toml").write_text(CONFIGURATION)
    (tmp_path / "shop.py").write_text(SHOP)
    host_token, user_token = "shops-token-of-20-chars!", "rileys-token-of-20-chars"
    server = Server(tmp_path, "--no-samples", "--config", str(tmp_path / "toolwire.toml"), SHOP_TOKEN=host_token)

    def start(token: str) -> "subprocess.Popen[str]":
        return start_host(
            tmp_path / "shop.py", log=subprocess.PIPE, TOOLWIRE_SERVER=server.url, TOOLWIRE_HOST_TOKEN=token
        )

    hosts = [start(host_token), start(user_token), start("wrong")]
    try:
        for refused in hosts[1:]:
            assert refused.wait(LIMIT) == 1
            assert refused.stderr
            assert "CREDENTIALS_REJECTED" in refused.stderr.read()
        assert hosts[0].stdout
        assert hosts[0].stdout.readline().startswith("toolwire serves 2 tools of shop at ")
        rejected = pytest.raises(Refused, match="CREDENTIALS_REJECTED")
        with Toolwire.connect(server.url, host_token, retries=0) as host, rejected:
            host.list_tools()
        with Toolwire.connect(server.url, user_token, retries=0) as tools:
            listed = {it.name: (it.consequence, it.requires_confirmation) for it in tools.list_tools()}
            own = listed.pop("read_result")
            assert own == ("low", False)
            assert listed == {"shop_delete_order": ("medium", True), "shop_refund": ("medium", False)}
            assert tools.call("shop_refund", {"amount": 50}).data == {"amount": 50}
            # The conditions of the offer and of the configuration must both hold.
            for amount in (-1, 51):
                with pytest.raises(ConfirmationRequired, match="amount"):
                    tools.call("shop_refund", {"amount": amount})
            with pytest.raises(ConfirmationRequired):
                tools.call("shop_delete_order", {"order_id": "A-1"})
    finally:
        server.kill()
        for process in hosts:
            process.kill()
            process.communicate()
    assert "bank_balance" not in listed


def shop_status(order_id: str) -> dict[str, str]:
    """Where an order is."""
    return {"state": "sent"}


def test_the_settings_of_a_folder_count_only_where_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toolwire.toml").write_text(CONFIGURATION)
    monkeypatch.chdir(tmp_path)
    with Toolwire.local(shop_status) as tools:
        assert tools.call("shop_status", {"order_id": "A-1"}).data == {"state": "sent"}
    for name, token in [("SHOP_TOKEN", "shop"), ("TOOLWIRE_HOST_TOKEN", "shop"), ("TOOLWIRE_TOKEN", "riley")]:
        monkeypatch.setenv(name, f"{token}s-token-of-20-chars")
    with Toolwire.local(shop_status, config="toolwire.toml") as tools:
        listed = {it.name: it for it in tools.list_tools()}
        assert listed["shop_status"].consequence == "medium"
        assert tools.call("shop_status", {"order_id": "A-1"}).data == {"state": "sent"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_program_serves_by_one_command_and_its_server_ends_with_it(tmp_path: Path, number: int) -> None:
    (tmp_path / "tools.py").write_text(SHOP)
    began = time.monotonic()
    program = start_host(tmp_path / "tools.py", log=subprocess.PIPE)
    assert program.stdout
    line = program.stdout.readline()
    assert line.startswith("toolwire serves 3 tools of local at http://127.0.0.1:"), line
    with Toolwire.connect(line.split()[-1], retries=0) as tools:
        assert tools.call("bank_balance").data == {"balance": 0}
    print(f"the first call was answered {time.monotonic() - began:.2f} s after the start")
    (server,) = children(program.pid)
    program.send_signal(number)
    wait_until(lambda: not is_alive(server), LIMIT / 2)
    program.communicate(timeout=LIMIT)
    assert program.returncode == (-9 if number == signal.SIGKILL else 0)
