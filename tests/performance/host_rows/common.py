"""What the measurements share: rows of the table, a server with its hosts, and calls that are watched."""

import contextlib
import statistics
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from tests.processes import Server, start_host
from toolwire import Refused, Toolwire
from toolwire.client import Accepted, Progress
from toolwire.errors import ToolError

HERE = Path(__file__).parent
LIMIT = 60.0


@dataclass
class Row:
    """A figure beside its goal. Without a goal it cannot be missed."""

    what: str
    goal: str
    seen: str
    holds: bool = True


def p99(values):
    ordered = sorted(values)
    return ordered[len(ordered) * 99 // 100]


def spread(values, unit="ms", scale=1000.0):
    """Median, p99 and the most of some seconds, and how many they are."""
    shown = (statistics.median(values), p99(values), max(values))
    return "p50 {:.1f} · p99 {:.1f} · most {:.1f} {} of {}".format(*(it * scale for it in shown), unit, len(values))


def within(what, goal, values, unit="ms", scale=1000.0):
    """A row of seconds whose p99 is bounded by the goal, in seconds."""
    return Row(what, f"p99 ≤ {goal * scale:g} {unit}", spread(values, unit, scale), p99(values) <= goal)


def until(holds, limit=LIMIT):
    """Waits for what other processes do, and returns it."""
    end = time.monotonic() + limit
    while not (found := holds()):
        assert time.monotonic() < end, "it never holds"
        time.sleep(0.002)
    return found


class World(contextlib.ExitStack):
    """A server, without users and samples unless it is configured, and hosts of tools.py."""

    def __init__(self, configuration="", slots=16, **variables):
        super().__init__()
        self.folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="toolwire-hosts-")))
        self.log = self.enter_context((self.folder / "hosts.log").open("w"))
        self.effects, self.slots, self.hosts = self.folder / "effects", slots, []
        file = self.folder / "toolwire.toml"
        file.write_text(configuration)
        flags = ["--config", str(file)] if configuration else ["--no-samples"]
        self.server = Server(self.folder, *flags, **variables)
        self.callback(self.server.kill)
        self.callback(lambda: [self.end(host) for host in self.hosts])
        self.tools = self.connect()

    def connect(self, token=None):
        return self.enter_context(Toolwire.connect(self.server.url, token, retries=0))

    def host(self, serves=True, **variables):
        """Another host; waits until it serves."""
        variables = {"TOOLWIRE_SERVER": self.server.url, **variables}
        host = start_host(HERE / "tools.py", str(self.slots), str(self.effects), log=self.log, **variables)
        self.hosts.append(host)
        if serves:
            line = host.stdout.readline()
            assert line.startswith("toolwire serves"), (line, (self.folder / "hosts.log").read_text())
        return host

    def end(self, host):
        host.kill()
        host.communicate()
        self.hosts = [it for it in self.hosts if it is not host]

    def watch(self, tool, count=1, tools=None, **arguments):
        """Calls under way, all of which their hosts have begun."""
        calls = [Watched(tools or self.tools, tool, arguments) for _ in range(count)]
        until(lambda: all(call.begun or not call.is_alive() for call in calls))
        assert all(call.begun for call in calls), [call.end for call in calls]
        return calls


class Watched(threading.Thread):
    """A call: which process began it when, and how it ended."""

    def __init__(self, tools, tool, arguments):
        super().__init__(daemon=True)
        self.tools, self.tool, self.arguments = tools, tool, arguments
        self.request_id, self.call_id = str(uuid.uuid4()), ""
        self.begun, self.end, self.ended = [], "", 0.0
        self.start()

    @property
    def host(self):
        """The process that carries it out."""
        return self.begun[-1][1]

    def run(self):
        try:
            for event in self.tools.stream(self.tool, self.arguments, request_id=self.request_id, timeout=LIMIT):
                if isinstance(event, Accepted):
                    self.call_id = event.call_id
                elif isinstance(event, Progress) and event.message.startswith("begun"):
                    self.begun.append((time.monotonic(), int(event.message.split()[1])))
            self.end = "data"
        except (ToolError, Refused) as error:
            self.end = error.code
        self.ended = time.monotonic()


def show(row):
    print(f"{'ok  ' if row.holds else 'MISS'} {row.what:58} {row.goal:24} {row.seen}", flush=True)
    return row


def note(text):
    print(f"     {text}", file=sys.stderr, flush=True)
