"""Programs that join one server without tokens: which has the name of a provider. Skipped without TOOLWIRE_BINARY."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.processes import Server, start_host, wait_until
from toolwire import Toolwire

pytestmark = pytest.mark.skipif("TOOLWIRE_BINARY" not in os.environ, reason="TOOLWIRE_BINARY names no server")
LIMIT = 20.0
PROGRAM = """
import os, sys
from toolwire import serve, tool

@tool
def {name}() -> dict:
    '''Says which process answers.'''
    return {{"pid": os.getpid()}}

serve(slots=2, provider=sys.argv[1] if sys.argv[1:] else "")
"""
Process = subprocess.Popen[str]


@pytest.fixture
def joined(tmp_path: Path) -> Iterator[tuple[Toolwire, Callable[..., Process]]]:
    """A server, and what starts a program there: `start("a", "shop")` is of a file, whose tool has its name."""
    server, started = Server(tmp_path, "--no-samples"), list[Process]()

    def start(name: str, *arguments: str) -> Process:
        file = tmp_path / f"{name}.py"
        file.write_text(PROGRAM.format(name=name))
        log = (tmp_path / f"{name}.log").open("a")
        started.append(start_host(file, *arguments, log=log, TOOLWIRE_SERVER=server.url))
        log.close()
        return started[-1]

    with Toolwire.connect(server.url, retries=0) as tools:
        yield tools, start
    for process in started:
        end(process)
    server.kill()


def end(process: Process) -> None:
    process.kill()
    process.wait()
    assert process.stdout
    process.stdout.close()


def serves(process: Process) -> str:
    """Its first line, which names the provider."""
    assert process.stdout
    line = process.stdout.readline()
    assert line.startswith("toolwire serves 1 tool of "), line
    return line.split()[5]


def names(tools: Toolwire) -> list[str]:
    return [it.name for it in tools.list_tools() if it.name != "read_result"]


def test_a_second_program_is_refused_by_name_and_a_copy_is_not(
    joined: tuple[Toolwire, Callable[..., Process]], tmp_path: Path
) -> None:
    tools, start = joined
    first, copy = start("one"), start("one")
    assert (serves(first), serves(copy)) == ("local", "local")
    second = start("two")
    assert second.wait(LIMIT) == 1
    said = (tmp_path / "two.log").read_text()
    for words in ("PROVIDER_HELD", f"{tmp_path}/one.py of ", 'serve(provider="NAME")', 'serve(provider="local")'):
        assert words in said, said
    assert names(tools) == ["one"]
    # After a crash it comes back, and meanwhile nobody takes its place.
    for process in (first, copy):
        end(process)
    assert start("two").wait(LIMIT) == 1
    assert "which was lost" in (tmp_path / "two.log").read_text()
    again = start("one")
    assert serves(again) == "local"
    assert tools.call("one").data == {"pid": again.pid}
    again.send_signal(signal.SIGTERM)
    assert again.wait(LIMIT) == 0
    assert serves(start("two")) == "local"
    assert names(tools) == ["two"]


def test_a_program_that_says_its_name_has_it_or_takes_it_over(
    joined: tuple[Toolwire, Callable[..., Process]], tmp_path: Path
) -> None:
    tools, start = joined
    first = start("one")
    assert serves(first) == "local"
    assert serves(start("three", "shop")) == "shop"
    assert names(tools) == ["one", "three"]
    second = start("two", "local")
    assert serves(second) == "local"
    assert names(tools) == ["three", "two"]
    log = tmp_path / "one.log"
    wait_until(lambda: "another version of local's tools is in service" in log.read_text(), LIMIT)
    wait_until(lambda: "and it waits: PROVIDER_HELD: " in log.read_text(), LIMIT)
    second.send_signal(signal.SIGTERM)
    assert second.wait(LIMIT) == 0
    wait_until(lambda: "the tools of this program are served again" in log.read_text(), LIMIT)
    assert tools.call("one").data == {"pid": first.pid}
    wrong = start("four", "Not a name")
    assert wrong.wait(LIMIT) == 1
    assert "WRONG_PROVIDER: a host without a token may not be `Not a name`" in (tmp_path / "four.log").read_text()
