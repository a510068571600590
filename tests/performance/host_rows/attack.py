"""What others see of a host that does what it should not, and of callers that read nothing."""

import threading
import time
from pathlib import Path

from host_rows.common import HERE, Row, World, note, p99, until
from tests.processes import start_host
from tests.raw import CONFIGURATION, HOST_TOKENS, USER_TOKEN
from toolwire import Refused
from toolwire.client import Chunk
from toolwire.errors import ToolError

CALM_TIME, ATTACK_TIME = 3.0, 4.0
# What each reader is sent: more than buffers on the way hold.
READERS, CHUNKS, CHUNK = 20, 400, 50_000
TIMES_CALM = 2.0
# Of the whole server, in MiB, as under the other attacks (tests/attack).
MEMORY = 450
OTHERS = {"echo": {"text": "a"}, "get_quotes": {"symbol": "AMD"}}
ATTACKS = [
    "others_names", "large_offers", "new_catalogues", "schema_bombs", "large_results", "deep_results",
    "progress_flood", "others_calls", "silent_slots", "empty_offers",
]


class Others:
    """Calls of some tools, each from a connection of its own, all the time."""

    def __init__(self, world, calls, token=None):
        self.calls, self.seconds, self.failures, self._is_over = calls, {}, [], threading.Event()
        threads = [threading.Thread(target=self._call, args=(world.connect(token), tool)) for tool in calls]
        for thread in threads:
            thread.start()
        world.callback(lambda: [self._is_over.set(), *(thread.join() for thread in threads)])

    def _call(self, tools, tool):
        while not self._is_over.wait(0.003):
            began = time.perf_counter()
            try:
                tools.call(tool, self.calls[tool], timeout=10)
            except (ToolError, Refused) as error:
                self.failures.append(f"{tool}: {error.code} {error}")
            self.seconds.setdefault(tool, []).append(time.perf_counter() - began)

    def measure(self, seconds):
        """The p99 of each tool while this time passes."""
        self.seconds = {}
        time.sleep(seconds)
        until(lambda: self.seconds.keys() == self.calls.keys())
        return {tool: p99(seconds) for tool, seconds in self.seconds.items()}

    def row(self, what, calm, during, peak):
        """Whether others waited at most twice as long, without a failure, in bounded memory."""
        ratios = {tool: during[tool] / calm[tool] for tool in self.calls}
        waits = ", ".join(
            f"{tool} {calm[tool] * 1000:.1f} → {during[tool] * 1000:.1f} ms, × {ratios[tool]:.1f}" for tool in ratios
        )
        holds = max(ratios.values()) <= TIMES_CALM and not self.failures and peak <= MEMORY
        seen = f"{waits}; {len(self.failures)} failed; {peak:.0f} MiB"
        for failure in self.failures[:3]:
            note(failure)
        self.failures.clear()
        return Row(what, f"p99 ≤ {TIMES_CALM:g} × calm", seen, holds)


def run_attacks(_):
    """Each attack by a process of its own, beside what was calm right before it."""
    with World(configuration=CONFIGURATION, **HOST_TOKENS) as world:
        world.host(TOOLWIRE_HOST_TOKEN=HOST_TOKENS["GOOD_TOKEN"])
        others = Others(world, OTHERS, USER_TOKEN)
        others.measure(1)
        for name in ATTACKS:
            yield attack(world, others, name, "idle")
            # For comparison: a part of it is that the attacker has no processors of its own.
            row = attack(world, others, name, "nice")
            yield Row(f"… the attacker at nice 19, {row.what.split(', ')[1]}", "", row.seen)


def attack(world, others, name, priority):
    calm = others.measure(CALM_TIME)
    reset_peak(world.server.process.pid)
    attacker = start_host(HERE / "malicious.py", name, world.server.url, priority, log=world.log)
    # Its imports are not the attack.
    attacker.stdout.readline()
    during = others.measure(ATTACK_TIME)
    assert attacker.poll() is None, f"{name} ended: {(world.folder / 'hosts.log').read_text()[-2000:]}"
    most = peak(world.server.process.pid)
    attacker.kill()
    times = (attacker.communicate()[0].split() or ["0"])[-1]
    return others.row(f"{name.replace('_', ' ')}, {times} times", calm, during, most)


def stall_readers(_):
    """Callers of a host's streams that read nothing, each on a connection of its own, and then everything."""
    with World(configuration=CONFIGURATION, slots=READERS + 8, **HOST_TOKENS) as world:
        world.host(TOOLWIRE_HOST_TOKEN=HOST_TOKENS["GOOD_TOKEN"])
        others = Others(world, OTHERS, USER_TOKEN)
        others.measure(1)
        calm = others.measure(CALM_TIME)
        reset_peak(world.server.process.pid)
        arguments = {"count": CHUNKS, "size": CHUNK}
        streams = [world.connect(USER_TOKEN).stream("pour", arguments, timeout=120) for _ in range(READERS)]
        for stream in streams:
            next(stream)
        # The host, one thread of Python, makes chunks for all of them at once, until what is on the way is full.
        first = others.measure(1)
        has_failed = bool(others.failures)
        seen = others.row("", calm, first, 0).seen
        yield Row(f"{READERS} callers of its streams, the first second", "none fails", seen, not has_failed)
        during = others.measure(ATTACK_TIME)
        yield others.row("… read nothing, the next four", calm, during, peak(world.server.process.pid))
        numbers = [[event.data["number"] for event in stream if isinstance(event, Chunk)] for stream in streams]
    came = sum(it == list(range(CHUNKS)) for it in numbers)
    yield Row("… and then read all that was sent, in order", "all", f"{came} of {READERS}", came == READERS)


def reset_peak(pid):
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def peak(pid):
    """The most MiB that were resident since it was reset."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
