"""Hosts of each kind and servers, killed, stopped or edited at any moment: no write is made twice, none is lost unsaid.

FAULT_ROUNDS are 20 by default, FAULT_SEED draws the moments; TOOLWIRE_BINARY names the server, without which all is
skipped.
"""

import os
import random
import signal
import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import Server, start_host
from toolwire import OutcomeUnknown, Refused, Toolwire
from toolwire.errors import ToolError

BINARY = os.environ.get("TOOLWIRE_BINARY", "")
pytestmark = pytest.mark.skipif(not BINARY, reason="TOOLWIRE_BINARY names no server")
ROUNDS = int(os.environ.get("FAULT_ROUNDS", "20"))
SEED = int(os.environ.get("FAULT_SEED", "0")) or random.randrange(1, 2**32)
CALLERS, CALLS = 8, 4
# Within which every call has its end, killed or not.
LIMIT = 60.0
PROGRAM = '''
import asyncio, os, sys, time
from toolwire import Context, serve, serve_async, tool

def effect(ctx):
    with open(sys.argv[1], "a") as file:
        file.write(f"{ctx.request_id}\\n")
    time.sleep(0.03)
    return {"pid": os.getpid()}

@tool(write=True, timeout=2)
def act(ctx: Context) -> dict:
    """Acts."""
    return effect(ctx)

@tool(timeout=2)
def look(ctx: Context) -> dict:
    """Looks."""
    time.sleep(0.03)
    return {"pid": os.getpid()}

if sys.argv[2] == "serve_async":
    asyncio.run(serve_async(slots=4))
serve(slots=4, reload=sys.argv[2] == "reload")
'''
# How the program serves in each of its processes.
KINDS = ["serve", "serve_async", "reload"]


class World:
    """A server, a host of each kind, and what happened."""

    def __init__(self, folder: Path) -> None:
        self.effects, self.program = folder / "effects", folder / "host.py"
        self.effects.touch()
        self.program.write_text(PROGRAM)
        self.server, self.log = Server(folder, "--no-samples"), (folder / "hosts.log").open("w")
        self.hosts = [self.start_host(kind) for kind in KINDS]

    def start_host(self, kind: str) -> "subprocess.Popen[str]":
        return start_host(self.program, str(self.effects), kind, log=self.log, TOOLWIRE_SERVER=self.server.url)

    def harm(self, what: str, draw: random.Random) -> None:
        if what == "stop":
            # Longer than a call may take.
            stopped = self.hosts[draw.randrange(len(self.hosts))]
            stopped.send_signal(signal.SIGSTOP)
            time.sleep(2.5)
            stopped.send_signal(signal.SIGCONT)
        elif what == "server":
            self.server.kill()
            self.server.start()
        elif what == "edit":
            self.program.write_text(f"{self.program.read_text()}# Edited.\n")
        else:
            index = draw.randrange(len(self.hosts))
            self.hosts[index].kill()
            self.hosts[index].communicate()
            self.hosts[index] = self.start_host(KINDS[index])

    def close(self) -> None:
        self.server.kill()
        for host in self.hosts:
            host.kill()
            host.communicate()
        self.log.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


class Caller(threading.Thread):
    """Makes calls, each again under its identifier until it has an end."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url, self.slowest = url, 0.0
        self.ends: dict[str, str] = {}
        self.failed: list[str] = []

    def run(self) -> None:
        with Toolwire.connect(self.url, retries=0) as tools:
            for number in range(CALLS):
                request_id, began = str(uuid.uuid4()), time.monotonic()
                tool = "look" if number % 4 == 3 else "act"
                end = self.end_of(tools, tool, request_id, began)
                self.slowest = max(self.slowest, time.monotonic() - began)
                if tool == "act":
                    self.ends[request_id] = end
                elif end != "data":
                    self.failed.append(f"a read ended with {end}")

    def end_of(self, tools: Toolwire, tool: str, request_id: str, began: float) -> str:
        while time.monotonic() - began < LIMIT:
            try:
                tools.call(tool, request_id=request_id, timeout=10)
                return "data"
            except OutcomeUnknown:
                return "unknown"
            except (ToolError, Refused) as error:
                if not (error.retryable or isinstance(error, Refused)):
                    self.failed.append(f"{tool}: {error.code} {error}")
                    return "failed"
                time.sleep(0.05)
        self.failed.append(f"{tool} has no end")
        return "none"


def test_no_write_is_made_twice_and_none_is_lost_whatever_is_killed(world: World) -> None:
    draw, slowest = random.Random(SEED), 0.0
    ends: dict[str, str] = {}
    failed: list[str] = []
    print(f"FAULT_SEED={SEED}")
    for number in range(ROUNDS):
        callers = [Caller(world.server.url) for _ in range(CALLERS)]
        for caller in callers:
            caller.start()
        time.sleep(draw.uniform(0, 0.25))
        world.harm(("host", "server", "edit", "server", "stop")[number % 5], draw)
        for caller in callers:
            caller.join(LIMIT + 10)
            ends |= caller.ends
            failed += caller.failed
            slowest = max(slowest, caller.slowest)
    effects = Counter(world.effects.read_text().split())
    assert not failed, (SEED, failed)
    assert all(count == 1 for count in effects.values()), (SEED, effects.most_common(3))
    lost = [it for it, end in ends.items() if end == "data" and it not in effects]
    assert not lost, (SEED, lost)
    unsaid = [it for it in effects if ends.get(it, "none") not in ("data", "unknown")]
    assert not unsaid, (SEED, unsaid)
    print(f"{ROUNDS} rounds, {len(ends)} writes: {Counter(ends.values())}, slowest {slowest:.1f} s")
