"""Attacks a server while a caller goes about its business.

Usage: attack.py BINARY [--hold-ratios], with the stubs of tests/clients on PYTHONPATH. Each attack is described in
attacks.py, those on HTTP in web.py, those by what is checked in checks.py, those by large answers in large.py, those by
what is not read in unread.py, those on what users share in turns.py, open pages in consoles.py. While it goes on, a
caller in the background must not fail once; how long it waits is printed. On an otherwise idle machine --hold-ratios
demands the promised ratios of these waits too; a busy one says nothing of them. The server's memory stays bounded, its
descriptors and tasks come back to what they were, and a collector of telemetry that never answers does not stretch its
end.
"""

import sys
import tempfile
import time

import attacks
import checks
import consoles
import large
import turns
import unread
import web
from background import Background
from server import DRAIN_LIMIT, Server, token

CALM_TIME, MEASURED_TIME = 4, 2.5
MEMORY_LIMIT = 450
# What a server may keep after an attack: connections to its own state, threads that have not ended yet.
DESCRIPTORS_KEPT, TASKS_KEPT = 20, 20
SETTLE_LIMIT = 15


def p99(seconds):
    ordered = sorted(seconds)
    return ordered[len(ordered) * 99 // 100] if ordered else float("nan")


def taken(server):
    """What attacks take: descriptors, and tasks of the runtime."""
    return server.descriptors(), server.metric("toolwire_tasks")


def settled(server, baseline):
    """Waits until descriptors and tasks are what they were; what they are, whether they are or not."""
    until = time.monotonic() + SETTLE_LIMIT
    while True:
        now = taken(server)
        kept = [now[0] - baseline[0], now[1] - baseline[1]]
        if (kept[0] <= DESCRIPTORS_KEPT and kept[1] <= TASKS_KEPT) or time.monotonic() > until:
            return now, kept[0] <= DESCRIPTORS_KEPT and kept[1] <= TASKS_KEPT
        time.sleep(0.2)


def one(server, background, attack, calm, holds_ratios):
    """Carries an attack out; the row of the table, and what is wrong."""
    problems = []
    server.peak = 0
    background.phase(writes=attack is not attacks.full_disk)
    running = attack(server)
    try:
        next(running)
        if getattr(attack, "is_measured_once_open", False):
            background.phase()
        time.sleep(getattr(attack, "measured_time", MEASURED_TIME))
        seconds, failures = background.figures()
        next(running, None)
    except (AssertionError, OSError) as error:
        seconds, failures = background.figures()
        problems.append(f"{type(error).__name__}: {error}")
        server.reads_log.set()
        server.free_disk()
    if failures:
        problems.append(f"{len(failures)} of {len(seconds)} calls of the background failed, such as {failures[0]}")
    if not seconds:
        problems.append("no call of the background was answered")
    most = getattr(attack, "most_times_calm", None)
    if holds_ratios and most and seconds and p99(seconds) > most * calm:
        problems.append(f"others wait {p99(seconds) / calm:.1f} times as long as in peace; at most {most} is promised")
    if server.peak > getattr(attack, "memory_limit", MEMORY_LIMIT):
        problems.append(f"{server.peak:.0f} MiB resident")
    return (len(seconds), len(failures), p99(seconds), server.peak), problems


def row(name, calls, failures, wait, calm, peak):
    print(f"{name:44} {calls:6} {failures:9} {wait * 1000:9.1f} {wait / calm:7.1f} {peak:9.0f}", flush=True)


def all_of(server):
    yield from attacks.ALL + web.ALL + checks.ALL + unread.ALL + turns.ALL + consoles.ALL
    # What is to be listed is made after the others, which are held to the memory of a server without it.
    yield from large.found(server)


def main(binary, holds_ratios):
    problems, began = [], time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        server = Server(binary, directory)
        background = Background(server.address, token("demo"))
        try:
            time.sleep(1)
            server.peak = 0
            background.phase()
            time.sleep(CALM_TIME)
            seconds, failures = background.figures()
            calm, baseline = p99(seconds), taken(server)
            print(f"{'attack':44} {'calls':>6} {'failures':>9} {'p99 ms':>9} {'x calm':>7} {'peak MiB':>9}")
            row("none", len(seconds), len(failures), calm, calm, server.peak)
            for attack in all_of(server):
                (calls, failed, wait, peak), found = one(server, background, attack, calm, holds_ratios)
                row(attack.__name__, calls, failed, wait, calm, peak)
                problems += [f"{attack.__name__}: {problem}" for problem in found]
                # The next one's connections must not be refused for those of this one that the server has yet to close.
                settled(server, baseline)
            now, is_settled = settled(server, baseline)
            print(f"descriptors and tasks: {baseline} before, {now} after")
            if not is_settled:
                problems.append(f"descriptors and tasks: {baseline} before, {now} after")
            background.stop()
            ended = server.end()
            print(f"ended {ended:.1f} s after SIGTERM, beside a collector that never answers")
            if ended > DRAIN_LIMIT + 1:
                problems.append(f"the end took {ended:.1f} s; {DRAIN_LIMIT} s are promised")
        finally:
            background.stop()
            if server.process.poll() is None:
                server.kill()
        print(f"{time.monotonic() - began:.0f} s in all")
        if problems:
            print("\n".join(["", *problems, "", "the server's log ends:", server.log_tail()]), file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--hold-ratios" in sys.argv[2:]))
