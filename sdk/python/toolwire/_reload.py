"""`python -m toolwire._reload FILE`, what `serve(reload=True)` and `toolwire dev` are: serves a program and its edits.

Each edit is served by a new process of the program, an edition, while the calls under way end in the one before it. One
that does not serve changes nothing. This process starts them, keeps the server if the program has its own, and an
edition that has imported what each of them needs and waits, so that an edit takes as long as the program's own imports.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolwire import _edition
from toolwire._binary import LocalServer, words_of
from toolwire._signals import Signals

# Between two looks at the files of a program, in seconds. An edit is over when the next one sees no other.
LOOK_EVERY = 0.1
# How many of them a program has to call `serve()`, before it is said that it has not.
MOST_LOOKS = 100
CHANNEL = "--channel="


class Process:
    """An edition, which waits, serves, or leaves."""

    def __init__(self, program: list[str], tell: Callable[[Any], object]) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "toolwire._reload", f"{CHANNEL}{theirs.fileno()}", *program]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], start_new_session=True)
        self.began = 0
        # As whom it joins, once it asks: server, token, its file, provider. Then whether it waits for the answer.
        self.identity: list[str] | None = None
        self.is_asking = False
        # Another edition was tried in its place, before it served.
        self.is_given_up = False
        # The registrations that it takes the tools of.
        self.replaces: list[tuple[list[str], dict[str, Any]]] = []
        threading.Thread(target=self._follow, args=(tell,), daemon=True).start()

    def begin(self, *, is_first: bool) -> None:
        self.began = time.time_ns()
        self.send(is_first=is_first)

    def send(self, **message: Any) -> None:
        with contextlib.suppress(OSError):
            self._channel.sendall(json.dumps(message).encode() + b"\n")

    def leave(self) -> None:
        """Ends it, if it serves after its calls."""
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)

    def _follow(self, tell: Callable[[Any], object]) -> None:
        # It may end before it has read all.
        with self._channel, self._channel.makefile("r") as lines, contextlib.suppress(OSError):
            for line in lines:
                tell((self, json.loads(line)))
        self.process.wait()
        tell((self, {"ended": True}))


class Program:
    """Its editions, its files and its server."""

    def __init__(self, program: list[str]) -> None:
        self._program = program
        self._files: dict[str, tuple[int, ...]] = {}
        self._has_changed = False
        self._looks = 0
        self._serving: Process | None = None
        self._trying: Process | None = None
        self._waiting: Process | None = None
        self._processes: list[Process] = []
        # By identity, the last of each: whose tools the server may have.
        self._registrations: list[tuple[list[str], dict[str, Any]]] = []
        self._server: LocalServer | None = None
        self._settings: dict[str, Any] = {}

    def run(self) -> int:
        """Until a signal, or the end of the server. Returns the exit status."""
        if self._program[0] != "-m":
            self._watch(os.path.abspath(self._program[0]), time.time_ns())
        with Signals() as signals:
            self._events = signals.events
            self._try()
            while True:
                try:
                    event = self._events.get(timeout=LOOK_EVERY)
                except queue.Empty:
                    self._look()
                    continue
                if not isinstance(event, tuple):
                    break
                self._handle(*event)
            is_signal = isinstance(event, signal.Signals)
            _say(f"ends on {event.name}" if is_signal else f"ends: the server has ended {words_of(event.result())}")
            for edition in self._processes:
                edition.leave()
                if edition is self._trying:
                    edition.process.terminate()
            for edition in self._processes:
                edition.process.wait()
            if self._server:
                self._server.close()
        return 0 if is_signal else 1

    def _start(self) -> Process:
        self._processes.append(Process(self._program, self._events.put))
        return self._processes[-1]

    def _try(self) -> None:
        """Has the next edition serve."""
        if self._trying:
            self._trying.is_given_up = True
            self._trying.process.terminate()
        self._trying, self._waiting = self._waiting or self._start(), None
        self._trying.begin(is_first=self._serving is None)
        self._looks = 0

    def _look(self) -> None:
        self._looks += 1
        if self._looks == MOST_LOOKS and self._trying and not self._trying.identity:
            _say("follows no edit of a program that does not call serve(), as this one has not yet. One with a Host is "
                 "reloaded by what runs it, such as uvicorn --reload: docs/OWN_TOOLS.md")
        changed = [file for file, known in self._files.items() if (now := _signature(file)) and now != known]
        for file in changed:
            self._files[file] = _signature(file) or ()
            # What it was compiled to counts as new if it is of the same second and size.
            with contextlib.suppress(OSError, NotImplementedError):
                Path(importlib.util.cache_from_source(file)).unlink()
        if not changed and self._has_changed:
            self._try()
        self._has_changed = bool(changed)

    def _watch(self, file: str, since: int) -> None:
        if file not in self._files:
            self._files[file] = _signature(file) or ()
            # It may have been edited while it was read.
            self._has_changed |= self._files[file][:1] > (since,)

    def _handle(self, edition: Process, message: dict[str, Any]) -> None:
        for file in message.get("files", []):
            self._watch(file, edition.began)
        if "server" in message:
            edition.send(**self._serve(message["server"]))
        if "joins" in message:
            edition.identity, edition.is_asking = message["joins"], True
        if "joined" in message and edition.identity:
            others = [it for it in self._registrations if it[0] != edition.identity]
            self._registrations = [*others, (edition.identity, message["joined"])]
        if "serves" in message and edition is self._trying:
            before, self._serving, self._trying = self._serving, edition, None
            self._registrations = [it for it in self._registrations if it not in edition.replaces]
            if before:
                _say(message["serves"])
                before.leave()
            edition.send(is_served=True)
            self._waiting = self._waiting or self._start()
        if "ended" in message:
            self._processes.remove(edition)
            ended = f"the program has ended {words_of(edition.process.returncode)}"
            if edition is self._waiting:
                self._waiting = None
            elif edition is self._trying:
                self._trying = None
                then = "what was served before is served on" if self._serving else "the next edit starts it again"
                never = "" if edition.process.returncode else " and has not called serve()"
                _say(f"does not serve this: {ended}{never}; {then}")
                self._waiting = self._waiting or self._start()
            elif edition is self._serving:
                self._serving = None
                _say(f"serves nothing: {ended}; the next edit starts it again")
        for asking in [it for it in self._processes if it.is_asking]:
            self._answer(asking)

    def _answer(self, edition: Process) -> None:
        """Says whose tools the edition replaces, once none that was given up may still join, or take out its own."""
        if edition is self._trying and any(it.is_given_up and it.identity for it in self._processes):
            return
        if edition is self._trying:
            edition.replaces = [it for it in self._registrations if it[0] != edition.identity]
        edition.is_asking = False
        edition.send(replaces=[registration for _, registration in edition.replaces])

    def _serve(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The server, as it was asked for first."""
        try:
            if not self._server:
                self._server, self._settings = LocalServer(**settings), settings
                self._server.ended.add_done_callback(self._events.put)
        except (OSError, RuntimeError) as error:
            return {"error": str(error)}
        server = self._server
        if changed := [f"{key}={value!r}" for key, value in settings.items() if value != self._settings[key]]:
            until = "until the program is stopped and started again"
            _say(f"keeps the server at {server.url} {until}, without {', '.join(changed)} of this edit")
        return {"url": server.url, "mcp": server.mcp, "log": str(server.log), "has_settings": server.has_settings}


def _signature(file: str) -> tuple[int, ...] | None:
    """What an edit changes. None of a file that is not there, as in the middle of an edit."""
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _say(words: str) -> None:
    print(f"toolwire {words}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    if arguments[0].startswith(CHANNEL):
        _edition.this = _edition.Edition(socket.socket(fileno=int(arguments[0].removeprefix(CHANNEL))))
        _edition.this.run(arguments[1:])
        return 0
    return Program(arguments).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
