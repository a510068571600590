"""The server that comes with the package: where its binary is, and a process of it that ends with this one."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from toolwire._fork import keep_from_children, let_go
from toolwire._target import Target
from toolwire._version import __version__

NAME = "toolwire.exe" if sys.platform == "win32" else "toolwire"
LISTENS = "toolwire listening on "
HTTP = "toolwire http on "
# Where modules are that nobody edits, and commands that start any program.
INSTALLED = {"site-packages", "dist-packages"}
FOREIGN = (sysconfig.get_path("stdlib") + os.sep, str(Path(__file__).parent) + os.sep)
USER_COMMANDS = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
COMMANDS = {
    Path(it).resolve() for it in (sysconfig.get_path("scripts"), USER_COMMANDS, os.path.dirname(sys.executable))
}
# A line of the server's log: its level, and what it says.
LOGGED = re.compile(r"\S+Z +(TRACE|DEBUG|INFO|WARN|ERROR) (.*)", re.DOTALL)
# From how many bytes on a log is emptied, and between two looks at it, in seconds.
MOST_LOG, LOG_EVERY = 10 * 1024 * 1024, 0.1


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
    path, arguments = str(binary()), sys.argv[1:]
    # Without a program the usage is shown, of which this is none.
    if arguments[:1] == ["dev"] and arguments[1:]:
        arguments[1:1] = ["--python", sys.executable]
    os.execv(path, [path, *arguments])


class LocalServer:
    """A server on this machine, by settings of its own. It watches this process, and ends however this one ends.

    state: the folder of its state, and of its log; what that warns of is on standard error too.
    config: its settings, a file; else what TOOLWIRE_CONFIG names; never what happens to be in the working directory.
    port: where it listens; 0 takes a free one.
    http_port: where clients of MCP find it; 0 takes a free one, and None serves none. What is 0 may be said by
        TOOLWIRE_LISTEN and TOOLWIRE_HTTP too, unless it serves this program alone.
    """

    def __init__(
        self, state: str | Path, *, samples: bool, config: str | Path | None = None, port: int = 0,
        http_port: int | None = None,
    ) -> None:
        # Has its exit code once it has ended; less than zero is a signal.
        self.ended: Future[int] = Future()
        self.log = Path(state) / "server.log"
        file = config or os.environ.get("TOOLWIRE_CONFIG") or os.devnull
        self.has_settings = file != os.devnull
        # The end of its input asks it to end, also where this process executes another program.
        command = [str(binary()), "serve", "--config", str(file), "--state", str(state), "--log=text"]
        command += ["--parent", str(os.getpid()), "--until-stdin-ends"]
        if http_port is None or port or not os.environ.get("TOOLWIRE_LISTEN"):
            command.append(f"--listen=127.0.0.1:{port}")
        if http_port or (http_port == 0 and not os.environ.get("TOOLWIRE_HTTP")):
            command.append(f"--http=127.0.0.1:{http_port}")
        environment = {**os.environ, **({"TOOLWIRE_HTTP": ""} if http_port is None else {})}
        if not self.has_settings:
            # No balancer looks whether it is about to end.
            environment.setdefault("TOOLWIRE_DRAIN_LAME_DUCK", "0s")
        # Its own file: what it says after the end of this process is kept too.
        with self.log.open("ab") as log:
            begin = log.tell()
            self._process = subprocess.Popen(
                command if samples else [*command, "--no-samples"], env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                # An interrupt from the terminal is for this process, which then ends the server.
                start_new_session=True,
            )
        self._threads: list[threading.Thread] = []
        self._is_closed = threading.Event()
        self._follow(lambda: self._show_log(begin))
        assert self._process.stdin
        assert self._process.stdout
        self._release = keep_from_children(functools.partial(let_go, [self._process.stdin.fileno()]))
        line = self._process.stdout.readline()
        if not line.startswith(LISTENS):
            self._process.stdout.close()
            self.close()
            said = self.log.read_bytes()[begin:].decode(errors="replace").rpartition("error: ")[2][-1000:].strip()
            raise RuntimeError(f"the server did not start; it ended {words_of(self._process.returncode)}: {said}")
        self.url = "http://" + line.removeprefix(LISTENS).strip()
        # Where clients of MCP find it.
        self.mcp = ""
        if http_port is not None:
            self.mcp = f"http://{self._process.stdout.readline().removeprefix(HTTP).strip()}/mcp"
        self._follow(self._drain)
        self._follow(lambda: self.ended.set_result(self._process.wait()))

    def target(self, token: str | None, token_name: str, token_file: str = "") -> Target:
        """How it is spoken to. Only settings that were asked for have users, whose tokens it takes."""
        if not self.has_settings:
            return Target(self.url)
        return Target.read(self.url, token, "", token_name, token_file=token_file)

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
        self._is_closed.set()
        for thread in self._threads:
            thread.join(1)

    def _follow(self, work: Callable[[], object]) -> None:
        self._threads.append(threading.Thread(target=work, name="toolwire-server", daemon=True))
        self._threads[-1].start()

    def _drain(self) -> None:
        assert self._process.stdout
        with self._process.stdout as output:
            for _ in output:
                pass

    def _show_log(self, begin: int) -> None:
        """Shows what people should read at once, as it comes, and empties a log that was shown and is too long."""
        with self.log.open("rb+") as log:
            log.seek(begin)
            line, is_over = b"", False
            while not is_over:
                # Looked at once more after its end.
                is_over = self._is_closed.wait(LOG_EVERY)
                while more := log.readline():
                    line += more
                    if line.endswith(b"\n"):
                        _show(line.decode(errors="replace"))
                        line = b""
                if log.tell() > MOST_LOG:
                    log.seek(0)
                    log.truncate()


def _show(line: str) -> None:
    """A line of the server's log that is a warning, or none of the log, on standard error."""
    level, words = found.groups() if (found := LOGGED.fullmatch(line)) else ("", line)
    if level in ("WARN", "ERROR"):
        # Without the module that says it.
        words = f"{level} toolwire server: {words.partition(': ')[2]}"
    if level in ("", "WARN", "ERROR"):
        sys.stderr.write(words)
        sys.stderr.flush()


def words_of(code: int) -> str:
    """How a process has ended, by its exit code."""
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with {code}"


@functools.cache
def is_installed(file: str) -> bool:
    """Whether it is of Python, of this package, or of others that were installed."""
    return os.path.abspath(file).startswith(FOREIGN) or not INSTALLED.isdisjoint(Path(file).parts)


def is_command(main: str) -> bool:
    """Whether a main file is that of an installed command, such as `uvicorn` or `python -m pytest`."""
    return is_installed(main) or Path(main).resolve().parent in COMMANDS


def state_beside(file: str | None) -> Path:
    """The state of a server that a file starts: in a folder beside it, which no repository takes in.

    Of a command such as `uvicorn`, and of a notebook, which has no file, it is in the working directory.
    """
    folder = Path.cwd() if not file or is_command(file) else Path(file).resolve().parent
    folder /= ".toolwire"
    state = folder / "state"
    state.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
    return state
