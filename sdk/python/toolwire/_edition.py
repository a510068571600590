"""An edition of a program that is served again after each edit: what runs in the process of one. See `_reload`."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import runpy
import select
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire._binary import LocalServer, is_installed
from toolwire._fork import import_grpc, keep_from_children, let_go
from toolwire._registration import LOCAL, Registration
from toolwire._target import Target

if TYPE_CHECKING:
    from toolwire._hosting import Host

# Between two looks of an edition at what it has imported, in seconds.
IMPORTS_EVERY = 0.5

# What this process is, if it is one.
this: Edition | None = None


class Edition:
    """That of this process, by its channel to the process that started it."""

    def __init__(self, channel: socket.socket) -> None:
        channel.set_inheritable(False)
        self._channel, self._lines = channel, channel.makefile("r")
        self.is_first = True
        # Messages are of more than one thread.
        self._sending = threading.Lock()
        self._reported: set[str] = set()

    def run(self, program: list[str]) -> None:
        """Waits until it is wanted, and runs the program."""
        # Before it is: this takes longer than all else.
        import_grpc()
        import toolwire._host  # noqa: F401

        if not (line := self._lines.readline()):
            return
        self.is_first = json.loads(line)["is_first"]
        # What a module was compiled to may be older than an edit of the same second.
        sys.dont_write_bytecode = True
        is_module = program[0] == "-m"
        sys.argv[:] = program[is_module:]
        try:
            if is_module:
                runpy.run_module(program[1], run_name="__main__", alter_sys=True)
            else:
                sys.path[0] = str(Path(program[0]).resolve().parent)
                runpy.run_path(program[0], run_name="__main__")
        except Exception as error:
            trace = error.__traceback__
            while trace and not _is_own(trace.tb_frame.f_code.co_filename):
                trace = trace.tb_next
            traceback.print_exception(error.with_traceback(trace))
            found = [frame.filename for frame in traceback.extract_tb(trace)]
            if isinstance(error, SyntaxError):
                found.append(error.filename or "")
            if isinstance(error, ModuleNotFoundError) and error.name:
                # It may be written next.
                found.append(f"{os.path.join(sys.path[0], *error.name.split('.'))}.py")
            self._report(found)
            sys.exit(1)
        finally:
            self._report()

    def take(self, host: Host) -> None:
        """Has the host serve at the server of all editions, in the place of the one before."""
        host.succession = self
        if not host.target:
            host.make_server = functools.partial(self._ask, **host.make_server.keywords)
        # That another version is in service, and then this one again, is what is wanted here.
        ends = ("; this program waits", "are served again at %s")
        logging.getLogger("toolwire").addFilter(lambda record: not str(record.msg).endswith(ends))
        keep_from_children(functools.partial(let_go, [self._channel.fileno()]))

    def ask_replaced(self, target: Target, provider: str) -> list[Registration]:
        """The registrations under other names, as soon as each edition that was given up and asked too has ended."""
        name = provider or ("" if target.has_token else LOCAL)
        self._send(joins=[target.url, target.token, target.token_file, name])
        answer = json.loads(self._lines.readline() or '{"replaces": []}')
        return [Registration.from_json(it) for it in answer["replaces"]]

    def note_joined(self, registration: Registration) -> None:
        """For the editions after this one."""
        self._send(joined=registration.to_json())

    def tell_served(self, words: str, settle: Callable[[], object], leave: Callable[[], object]) -> None:
        """Says that this edition serves, and what. It settles once it is the one that serves, and leaves after that.

        One that was given up meanwhile has no answer: the tools that it took out come back when it leaves.
        """

        def follow() -> None:
            # Its peer may end without having read all.
            with contextlib.suppress(OSError):
                while True:
                    while not select.select([self._channel], [], [], IMPORTS_EVERY)[0]:
                        self._report()
                    if not self._lines.readline():
                        break
                    settle()
            leave()

        self._report()
        self._send(serves=words)
        threading.Thread(target=follow, name="toolwire-edition", daemon=True).start()

    def _report(self, more: Iterable[str] = ()) -> None:
        """Says which files of its own the program consists of."""
        modules = [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
        files = {os.path.abspath(it) for it in (*modules, *more) if isinstance(it, str) and _is_own(it)}
        if new := files - self._reported:
            self._reported |= new
            self._send(files=sorted(new))

    def _ask(self, **options: Any) -> LocalServer:
        self._send(server=options)
        answer = json.loads(self._lines.readline() or '{"error": "this edition is not wanted any more"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return SharedServer(**answer)

    def _send(self, **message: Any) -> None:
        with self._sending, contextlib.suppress(OSError):
            self._channel.sendall(json.dumps(message, default=str).encode() + b"\n")


class SharedServer(LocalServer):
    """The server that the editions of a program have in common, for one of them."""

    def __init__(self, url: str, mcp: str, log: str, has_settings: bool) -> None:
        self.url, self.mcp, self.log, self.has_settings = url, mcp, Path(log), has_settings
        # Whoever started it sees how it ends.
        self.ended: Future[int] = Future()

    def close(self) -> None:
        """Leaves it to the others."""


def _is_own(file: str) -> bool:
    """Whether somebody may edit it."""
    return file.endswith(".py") and not is_installed(file)


def start_again() -> None:
    """Has this process start editions of its program instead. Does not return."""
    main: Any = sys.modules["__main__"]
    if not getattr(main, "__file__", None) or threading.current_thread() is not threading.main_thread():
        raise RuntimeError("reload starts a program again: it needs one in a file, and the main thread of it")
    named = ["-m", main.__spec__.name.removesuffix(".__main__")] if main.__spec__ else [sys.argv[0]]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "toolwire._reload", *named, *sys.argv[1:]])
