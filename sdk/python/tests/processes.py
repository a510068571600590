"""Processes that tests and measurements start and kill: servers, hosts, and whether they are gone."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

SDK = Path(__file__).parent.parent


def environment(**changes: str) -> dict[str, str]:
    """That of a program which imports this tree's SDK. Of the settings only the binary is passed on."""
    base = {name: value for name, value in os.environ.items() if not name.startswith("TOOLWIRE_")}
    return {**base, "TOOLWIRE_BINARY": os.environ["TOOLWIRE_BINARY"], "PYTHONPATH": str(SDK), **changes}


class Server:
    """The one of TOOLWIRE_BINARY, with its state and its log in a folder. It can be killed and started again."""

    def __init__(self, folder: Path, *flags: str, **variables: str) -> None:
        self._address, self._variables = "127.0.0.1:0", variables
        self._command = [os.environ["TOOLWIRE_BINARY"], "serve", "--state", str(folder / "state"), *flags]
        self.log = folder / "server.log"
        (folder / "state").mkdir(parents=True, exist_ok=True)
        self.start()

    def start(self) -> None:
        with self.log.open("a") as log:
            self.process: subprocess.Popen[str] = subprocess.Popen(
                [*self._command, "--listen", self._address], stdout=subprocess.PIPE, stderr=log, text=True,
                env=environment(**self._variables),
            )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line.startswith("toolwire listening on "), (line, self.log.read_text()[-2000:])
        # The same address after a restart.
        self._address = line.removeprefix("toolwire listening on ").strip()

    @property
    def url(self) -> str:
        return f"http://{self._address}"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def start_host(
    program: Path, *arguments: str, log: IO[Any] | int | None = None, **variables: str
) -> "subprocess.Popen[str]":
    """A host that joins the server of TOOLWIRE_SERVER, or starts its own. Its first line says that it serves."""
    return subprocess.Popen(
        [sys.executable, str(program), *arguments], stdout=subprocess.PIPE, stderr=log, text=True, cwd=program.parent,
        env=environment(**variables),
    )


def children(pid: int) -> list[int]:
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [int(line) for line in listed.stdout.split()]


def wait_until(holds: Callable[[], Any], within: float) -> None:
    """Waits for what another process does."""
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end, "it never holds"
        time.sleep(0.01)


def wait_for_line(output: IO[str], words: str) -> None:
    """Reads a process's output until a line has these words."""
    lines = []
    while line := output.readline():
        if words in line:
            return
        lines.append(line)
    raise AssertionError(lines)


def is_alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    # A zombie has ended, and waits for its parent.
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
