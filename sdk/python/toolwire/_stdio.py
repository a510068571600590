"""Standard input and output of a program that a client of MCP started: they are the client's, and nothing else's."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolwire._binary import binary

if TYPE_CHECKING:
    from toolwire._hosting import Host


class Stdio:
    """Takes both from the program, whose functions then print to standard error, and read nothing.

    What comes after `--mcp` are options of `toolwire mcp`.
    """

    def __init__(self) -> None:
        self._ends = [os.dup(0), os.dup(1)]
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        # Also what was printed before and is not written yet.
        os.dup2(2, 1)
        sys.stdout.flush()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, host: Host, tell: Callable[[Any], object]) -> None:
        """Serves the client; tells when its input has ended."""
        environment = {**os.environ}
        if host.server and not host.server.has_settings:
            # Without users it takes none.
            environment.pop("TOOLWIRE_TOKEN", None)
        options = sys.argv[sys.argv.index("--mcp") + 1 :]
        self._process = process = subprocess.Popen(
            [str(binary()), "mcp", "--server", host.url, *options], stdin=self._ends[0], stdout=self._ends[1],
            env=environment,
        )
        for end in self._ends:
            os.close(end)
        threading.Thread(target=lambda: tell(process.wait()), name="toolwire-mcp", daemon=True).start()

    def stop(self) -> None:
        """Counts as the end of its input: what is under way has its answer."""
        if self._process:
            self._process.terminate()
