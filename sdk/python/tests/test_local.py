"""The server that a program starts for itself: `Toolwire.local()`, `serve()`, and how they end."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import toolwire
from tests.processes import is_alive, wait_until
from toolwire import Host, NotFound, Refused, Toolwire, __version__
from toolwire._binary import LocalServer, binary, main

HERE = Path(__file__).parent
LIMIT = 10.0
PROGRAM = '''
import time
from toolwire import Context, NotFound, serve, tool

@tool
def order_status(order_id: str) -> dict:
    """Where an order is."""
    return {"A-1": {"state": "sent"}}.get(order_id) or NotFound(f"no order {order_id}").throw()

@tool(write=True)
def slow(seconds: float) -> dict:
    time.sleep(seconds)
    return {"slept": seconds}

serve(SERVE)
'''


@pytest.fixture
def fake_binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "toolwire"
    version = f'[ "$1" = --version ] && exec echo "toolwire ${{FAKE_VERSION:-{__version__}}}"'
    path.write_text(f'#!/bin/sh\n{version}\nexec "{sys.executable}" -m tests.fake_binary "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("TOOLWIRE_BINARY", str(path))
    monkeypatch.setenv("PYTHONPATH", str(HERE.parent))
    return path


@pytest.fixture
def run(tmp_path: Path, fake_binary: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Runs a program like that of the page, with these arguments to `serve`."""
    started = []

    def run(serve: str = "", **environment: str) -> "subprocess.Popen[str]":
        (tmp_path / "tools.py").write_text(PROGRAM.replace("SERVE", serve))
        started.append(
            subprocess.Popen(
                [sys.executable, "tools.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, **environment},
            )
        )
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


def server_of(tmp_path: Path) -> Any:
    return json.loads((tmp_path / ".toolwire/state/fake.json").read_text())


def url_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    line = process.stdout.readline()
    assert line.startswith("toolwire serves 2 tools of local at http://127.0.0.1:"), (line, process.stderr)
    return line.split()[-1]


def status(order_id: str) -> dict[str, str]:
    return {"order": order_id} if order_id else NotFound("none").throw()


def test_a_program_has_a_server_of_its_own(fake_binary: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    with Toolwire.local(status, state=state) as tools:
        assert tools.call("status", {"order_id": "A-1"}).data == {"order": "A-1"}
        with pytest.raises(NotFound, match="none"):
            tools.call("status", {"order_id": ""})
        server = json.loads((state / "fake.json").read_text())
        assert server["arguments"] == [
            "serve", "--config", os.devnull, "--state", str(state), "--log=text", "--parent", str(os.getpid()),
            "--until-stdin-ends", "--listen=127.0.0.1:0", "--no-samples",
        ]
        assert server["lame_duck"] == "0s", "no balancer looks at it"
        assert is_alive(server["pid"])
    wait_until(lambda: not is_alive(server["pid"]), LIMIT)


def test_its_state_is_gone_at_the_end(fake_binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Toolwire.local(status):
        assert list(tmp_path.glob("toolwire-*/fake.json"))
    assert not list(tmp_path.glob("toolwire-*"))


def test_without_tools_there_is_nothing_to_serve(fake_binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolwire._hosting.REGISTRY", {})
    with pytest.raises(ValueError, match="there is no tool: decorate a function with @tool"):
        Toolwire.local()


@pytest.mark.parametrize(
    ("start", "given", "said"),
    [
        (Host, (status, status), r"a Host takes its tools as a list: Host\(\[first, second\]\)"),
        (Host, (status,), "a Host takes its tools as a list"), (Host, (5,), "a Host takes its tools as a list"),
        (Host, ([],), "there is no tool: of no list, all of the process are served"),
        (Host, (iter(()),), "there is no tool: of no list, all of the process are served"),
        (Host, (["status"],), r"@tool of str: it is no function, but 'status'$"),
        (Host, ("status",), r"@tool of str: it is no function, but 's'$"),
        (Host, ([status, [status]],), r"@tool of list: it is no function, but \[<.*\]; name each function by itself"),
        (toolwire.serve, ([status],), r".*; name each function by itself, as serve\(\*tools\) does$"),
        (Toolwire.local, ((status, status),), r"@tool of tuple: it is no function, .*; name each function by itself"),
    ],
)
def test_what_is_no_list_of_functions_is_refused_with_how_to_write_it(start: Any, given: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        start(*given)


def test_a_server_that_does_not_start_is_an_error(fake_binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_FAILS", "1")
    with pytest.raises(RuntimeError, match=r"the server did not start; it ended with 1: the state is in use$"):
        Toolwire.local(status)


def test_a_program_whose_server_does_not_start_ends_without_a_traceback(run: Callable[..., Any]) -> None:
    process = run(FAKE_FAILS="1")
    assert process.wait(LIMIT) == 1
    assert process.stderr.read() == (
        "error: the state is in use\nERROR toolwire: the server did not start; it ended with 1: the state is in use\n"
    )


def test_the_binary_is_the_package_s_or_the_named_one(
    fake_binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert binary() == fake_binary
    monkeypatch.setenv("FAKE_VERSION", "9.9.9")
    with pytest.raises(RuntimeError, match="they must be equal"):
        binary()
    monkeypatch.delenv("TOOLWIRE_BINARY")
    monkeypatch.setenv("PATH", f"{fake_binary.parent}:{os.environ['PATH']}")
    with pytest.raises(FileNotFoundError, match="holds no server"):
        binary()
    package = tmp_path / "package"
    (package / "_bin").mkdir(parents=True)
    (package / "_bin/toolwire").touch()
    monkeypatch.setattr("toolwire._binary.__file__", str(package / "_binary.py"))
    assert binary() == package / "_bin/toolwire"


def test_the_command_of_the_package_is_the_binary(fake_binary: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", f"from {main.__module__} import main; main()", "--version"], capture_output=True,
        text=True, check=True,
    )
    assert said.stdout.startswith("toolwire ")


def test_the_command_dev_of_the_package_takes_its_python(fake_binary: Path) -> None:
    fake_binary.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo toolwire {__version__} || echo "$@"\n')
    said = subprocess.run(
        [sys.executable, "-c", f"from {main.__module__} import main; main()", "dev", "tools.py"], capture_output=True,
        text=True, check=True,
    )
    assert said.stdout == f"dev --python {sys.executable} tools.py\n"


def test_one_command_serves_and_says_how_to_call(run: Callable[..., Any], tmp_path: Path) -> None:
    process = run()
    url = url_of(process)
    assert process.stdout.readline() == "  tools  order_status, slow\n"
    assert process.stdout.readline() == "  mcp    http://127.0.0.1:50080/mcp\n"
    assert process.stdout.readline() == "  page   http://127.0.0.1:50080/\n"
    assert process.stdout.readline() == "  log    .toolwire/state/server.log\n"
    assert process.stdout.readline() == f"  try    toolwire call order_status order_id=ORDER_ID --server {url}\n"
    with Toolwire.connect(url) as tools:
        assert tools.call("order_status", {"order_id": "A-1"}).data == {"state": "sent"}
    assert (tmp_path / ".toolwire/.gitignore").read_text() == "*\n"
    assert "--no-samples" in server_of(tmp_path)["arguments"]


def arguments_of(tmp_path: Path) -> list[str]:
    arguments: list[str] = server_of(tmp_path)["arguments"]
    return arguments[1:3] + [it for it in arguments if it.startswith(("--listen", "--http"))]


def test_settings_and_addresses_are_those_that_were_asked_for(
    run: Callable[..., Any], fake_binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toolwire.toml").write_text("[server]\n")
    free = ["--listen=127.0.0.1:0", "--http=127.0.0.1:0"]
    said = {"TOOLWIRE_CONFIG": "c.toml", "TOOLWIRE_LISTEN": "127.0.0.1:1", "TOOLWIRE_HTTP": "127.0.0.1:2"}
    for serve, environment, expected in [
        ("", {}, ["--config", os.devnull, *free]),
        ("config='toolwire.toml'", {}, ["--config", "toolwire.toml", *free]),
        ("", said, ["--config", "c.toml"]),
        ("config='a.toml', port=7, http_port=8", said,
         ["--config", "a.toml", "--listen=127.0.0.1:7", "--http=127.0.0.1:8"]),
    ]:
        process = run(serve, **environment)
        url_of(process)
        assert arguments_of(tmp_path) == expected
        process.kill()
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    state = tmp_path / ".toolwire/state"
    # What serves one program alone takes no address that others have.
    with Toolwire.local(status, state=state):
        assert arguments_of(tmp_path) == ["--config", "c.toml", "--listen=127.0.0.1:0"]
    with Toolwire.local(status, state=state, config=tmp_path / "b.toml"):
        assert arguments_of(tmp_path)[1] == str(tmp_path / "b.toml")
        assert server_of(tmp_path)["lame_duck"] == "", "the file may say it"


def test_a_log_that_is_too_long_is_emptied_while_its_server_runs(
    fake_binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("toolwire._binary.MOST_LOG", 1000)
    server = LocalServer(tmp_path, samples=False)
    with server.log.open("a") as log:
        for number in range(3):
            log.write(f"{'x' * 1000}\nshown {number}\n")
            log.flush()
            wait_until(lambda: server.log.stat().st_size == 0, LIMIT)
    server.close()
    assert [line for line in capfd.readouterr().err.splitlines() if line.startswith("shown")] == [
        "shown 0", "shown 1", "shown 2",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_program_and_its_server(
    run: Callable[..., Any], tmp_path: Path, number: signal.Signals
) -> None:
    process = run("grace=0.2")
    url_of(process)
    process.send_signal(number)
    assert process.wait(LIMIT) == 0
    said = f"toolwire ends on {number.name}: calls under way have 0.2 s, unless the next signal comes\n"
    assert process.stderr.read() == said
    wait_until(lambda: not is_alive(server_of(tmp_path)["pid"]), LIMIT / 2)


def test_a_killed_program_leaves_no_server(run: Callable[..., Any], tmp_path: Path) -> None:
    process = run()
    url_of(process)
    process.kill()
    wait_until(lambda: not is_alive(server_of(tmp_path)["pid"]), LIMIT / 2)


def test_the_program_ends_with_its_server(run: Callable[..., Any], tmp_path: Path) -> None:
    process = run()
    url_of(process)
    os.kill(server_of(tmp_path)["pid"], signal.SIGKILL)
    assert process.wait(LIMIT) == 1
    assert "the server has ended by SIGKILL" in process.stderr.read()


def test_the_same_file_joins_a_server_that_is_named(run: Callable[..., Any], fake_binary: Path, tmp_path: Path) -> None:
    with Toolwire.local(status) as tools:
        process = run("slots=2", TOOLWIRE_SERVER=tools.url, TOOLWIRE_HOST_TOKEN="t")
        assert url_of(process) == tools.url
    assert not (tmp_path / ".toolwire").exists()


def test_a_server_that_will_not_have_it_ends_the_program(run: Callable[..., Any], fake_binary: Path) -> None:
    from tests.fake_tools import FakeTools

    other = FakeTools()
    process = run(TOOLWIRE_SERVER=other.url)
    assert process.wait(LIMIT) == 1
    assert "UNIMPLEMENTED" in process.stderr.read()
    other.close()


def test_a_server_that_does_not_answer_is_named_with_what_to_do(run: Callable[..., Any], fake_binary: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("127.0.0.1", 0)) as gone:
        ports = [it.getsockname()[1] for it in (silent, gone)]
        gone.close()
        for port in ports:
            url = f"http://127.0.0.1:{port}"
            process = run("connect_timeout=0.5", TOOLWIRE_SERVER=url)
            assert process.wait(LIMIT) == 1
            said = process.stderr.read()
            assert said.startswith(f"toolwire joins the server at {url}: TOOLWIRE_SERVER is set. Without it, "), said
            assert f"no server answered at {url} within 0.5 s" in said
            assert "where it is unset, this program starts a server of its own" in said
            process = run(f"server='{url}', connect_timeout=0.5")
            assert process.wait(LIMIT) == 1
            assert process.stderr.read().startswith(f"toolwire joins the server at {url}\n")


def test_a_setting_that_is_wrong_ends_the_program_without_a_traceback(run: Callable[..., Any]) -> None:
    url = {"TOOLWIRE_SERVER": "http://127.0.0.1:1"}
    for wrong, said in [
        ({"TOOLWIRE_SERVER": "127.0.0.1:1"}, "TOOLWIRE_SERVER: '127.0.0.1:1' is not the URL of a server, such as http://1"),
        ({**url, "TOOLWIRE_HOST_TOKEN": "a\nb"}, "the token (TOOLWIRE_HOST_TOKEN, or token=…) contains '\\n': "),
    ]:
        process = run(**wrong)
        assert process.wait(LIMIT) == 1
        (line,) = process.stderr.read().splitlines()
        assert line.startswith(f"ERROR toolwire: {said}")


def test_a_client_of_a_server_that_is_gone_is_told(fake_binary: Path) -> None:
    with Toolwire.local(status) as tools:
        url = tools.url
    with Toolwire.connect(url, retries=0) as tools, pytest.raises(Refused) as refused:
        tools.call("status")
    assert refused.value.code == "UNAVAILABLE"
