"""The server that comes with the package: where its binary is, and a process of it that ends with this one."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import IO

from toolwire._fork import keep_from_children, let_go
from toolwire._target import Target
from toolwire._version import __version__

NAME = "toolwire.exe" if sys.platform == "win32" else "toolwire"
LISTENS = "toolwire listening on "
HTTP = "toolwire http on "


def binary() -> Path:
    """The binary inside the package, else the one that TOOLWIRE_BINARY names: never what happens to be on PATH."""
    packaged = Path(__file__).parent / "_bin" / NAME
    if packaged.exists():
        return packaged
    named = os.environ.get("TOOLWIRE_BINARY")
    if not named:
        raise FileNotFoundError("this package holds no server: take a wheel of toolwire, or set TOOLWIRE_BINARY")
    words = subprocess.run([named, "--version"], capture_output=True, text=True, check=True).stdout.split()
    if words[-1:] != [__version__]:
        raise RuntimeError(f"{named} is of version {words[-1:]}, and this package of {__version__}: they must be equal")
    return Path(named)


def main() -> None:
    """The command `toolwire` of the package."""
    path = str(binary())
    os.execv(path, [path, *sys.argv[1:]])


class LocalServer:
    """A server on this machine, by settings of its own. It watches this process, and ends however this one ends.

    config: its settings, a file; else what TOOLWIRE_CONFIG names; never what happens to be in the working directory.
    port: where it listens; 0 takes a free one.
    http_port: where clients of MCP find it; 0 takes a free one, and None serves none. What is 0 may be said by
        TOOLWIRE_LISTEN and TOOLWIRE_HTTP too, unless it serves this program alone.
    """

    def __init__(
        self, state: Path | None, *, samples: bool, config: str | Path | None = None, port: int = 0,
        http_port: int | None = None,
    ) -> None:
        # Has its exit code once it has ended; less than zero is a signal.
        self.ended: Future[int] = Future()
        self._temporary = tempfile.TemporaryDirectory(prefix="toolwire-") if state is None else None
        state = state or Path(self._temporary.name if self._temporary else "")
        file = config or os.environ.get("TOOLWIRE_CONFIG") or os.devnull
        self._has_settings = file != os.devnull
        # The end of its input asks it to end, also where this process executes another program.
        command = [str(binary()), "serve", "--config", str(file), "--state", str(state)]
        command += ["--parent", str(os.getpid()), "--until-stdin-ends"]
        if http_port is None or port or not os.environ.get("TOOLWIRE_LISTEN"):
            command.append(f"--listen=127.0.0.1:{port}")
        if http_port or (http_port == 0 and not os.environ.get("TOOLWIRE_HTTP")):
            command.append(f"--http=127.0.0.1:{http_port}")
        environment = {**os.environ, **({"TOOLWIRE_HTTP": ""} if http_port is None else {})}
        if not self._has_settings:
            # No balancer looks whether it is about to end.
            environment.setdefault("TOOLWIRE_DRAIN_LAME_DUCK", "0s")
        self._process = subprocess.Popen(
            command if samples else [*command, "--no-samples"], env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            # An interrupt from the terminal is for this process, which then ends the server.
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._release = keep_from_children(functools.partial(let_go, [self._process.stdin.fileno()]))
        line = self._process.stdout.readline()
        if not line.startswith(LISTENS):
            self._process.stdout.close()
            self.close()
            raise RuntimeError(f"the server did not start; it ended {words_of(self._process.returncode)}")
        self.url = "http://" + line.removeprefix(LISTENS).strip()
        # Where clients of MCP find it.
        self.mcp = ""
        if http_port is not None:
            self.mcp = f"http://{self._process.stdout.readline().removeprefix(HTTP).strip()}/mcp"
        threading.Thread(target=_drain, args=(self._process.stdout,), daemon=True).start()
        threading.Thread(target=self._wait, daemon=True).start()

    def target(self, token: str | None, token_name: str) -> Target:
        """How it is spoken to. Only settings that were asked for have users, whose tokens it takes."""
        return Target.read(self.url, token, "", token_name) if self._has_settings else Target(self.url)

    def _wait(self) -> None:
        self.ended.set_result(self._process.wait())

    def close(self) -> None:
        """Ends it: at once if it does not end by itself."""
        assert self._process.stdin
        self._release()
        self._process.stdin.close()
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._temporary:
            self._temporary.cleanup()


def _drain(output: IO[str]) -> None:
    with output:
        for _ in output:
            pass


def words_of(code: int) -> str:
    """How a process has ended, by its exit code."""
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"


def state_beside(file: str | None) -> Path:
    """The state of a server that a file starts: in a folder beside it, which no repository takes in."""
    folder = (Path(file).resolve().parent if file else Path.cwd()) / ".toolwire"
    state = folder / "state"
    state.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
    return state
