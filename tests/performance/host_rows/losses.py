"""Hosts that are killed or stopped while they carry out calls."""

import collections
import signal
import time

from host_rows.common import Row, World, spread, until, within
from toolwire import Refused
from toolwire.errors import OutcomeUnknown, ToolError

MOVES, ENDS = 0.2, 10.2


def kill_hosts(rounds):
    """kill -9 of one of two hosts: what goes on elsewhere, and what ends."""
    moved, ended = {"look": [], "put": []}, []
    with World() as world:
        world.host(), world.host()
        for _ in range(rounds):
            calls, chunked = [], []
            # One of each at a time: the first ones go to the host with more idle slots, and a new one has fewer.
            for _ in range(5):
                calls += [call for tool in moved for call in world.watch(tool, seconds=1.5)]
                chunked += world.watch("look", seconds=1.5, chunk=True)
            victim, at = kill(world, calls[0].host)
            lost = [call for call in calls if call.host == victim]
            until(lambda lost=lost: all(len(call.begun) == 2 or call.end for call in lost))
            for call in calls + chunked:
                call.join()
            assert all(call.end == "data" for call in calls), [call.end for call in calls]
            for call in lost:
                moved[call.tool].append(call.begun[1][0] - at)
            # What has passed on a part is not begun again.
            lost = [call for call in chunked if call.host == victim]
            assert all(call.end == "UNAVAILABLE" for call in lost), [call.end for call in lost]
            ended += [call.ended - at for call in lost]
            world.host()
    yield within("kill -9: a read has begun elsewhere", MOVES, moved["look"])
    yield within("kill -9: an idempotent write has begun elsewhere", MOVES, moved["put"])
    yield within("kill -9: a read that has sent a chunk ends", MOVES, ended)


def kill(world, pid):
    """Kills a host; which, and when."""
    host = next(host for host in world.hosts if host.pid == pid)
    at = time.monotonic()
    host.kill()
    world.end(host)
    return pid, at


def kill_writers(rounds):
    """kill -9 during writes that may have been made or not."""
    taken, ends = [], collections.Counter()
    with World() as world:
        for _ in range(max(1, rounds // 5)):
            world.host(), world.host()
            calls = world.watch("act", 32, seconds=50)
            at = {kill(world, host.pid)[0]: time.monotonic() for host in [*world.hosts]}
            for call in calls:
                call.join()
                taken.append(call.ended - at[call.host])
                ends[call.end] += 1
    assert ends.keys() == {"OUTCOME_UNKNOWN"}, ends
    yield within("kill -9: another write ends with OUTCOME_UNKNOWN", ENDS, taken, "s", 1)


def stop_hosts(rounds):
    """SIGSTOP of a host during calls of at most 3 s, SIGCONT after 5 s."""
    ends, late, after, effects = collections.defaultdict(collections.Counter), [], collections.Counter(), 0
    with World() as world:
        world.host(), world.host()
        for _ in range(max(1, rounds // 5)):
            tools = [f"{tool}_briefly" for tool in ("look", "put", "act")]
            calls = [call for _ in range(6) for tool in tools for call in world.watch(tool, seconds=1)]
            victim = calls[0].host
            host, at = next(host for host in world.hosts if host.pid == victim), time.monotonic()
            host.send_signal(signal.SIGSTOP)
            lost = [call for call in calls if call.host == victim]
            for call in calls:
                call.join()
            late += [call.ended - call.begun[0][0] - 3 for call in lost]
            time.sleep(max(0, at + 5 - time.monotonic()))
            host.send_signal(signal.SIGCONT)
            for call in lost:
                ends[call.tool][call.end] += 1
            writes = [call for call in lost if call.tool != "look_briefly"]
            after.update(settle(world, call) for call in writes)
            made = collections.Counter(world.effects.read_text().split())
            assert all(made[call.request_id] == 1 for call in calls if call.tool == "act_briefly"), made
            effects += len([call for call in calls if call.tool == "act_briefly"])
    for tool, allowed in {"look": {"TIMEOUT", "data"}, "put": {"OUTCOME_UNKNOWN"}, "act": {"OUTCOME_UNKNOWN"}}.items():
        seen = ends[f"{tool}_briefly"]
        holds = bool(seen) and seen.keys() <= allowed
        yield Row(f"SIGSTOP: `{tool}` ends", " or ".join(sorted(allowed)), str(dict(seen)), holds)
    yield Row("SIGSTOP: an end, after the call's deadline", "≤ 200 ms", spread(late), max(late) <= MOVES)
    yield Row("SIGCONT: the same writes asked for again", "settled", str(dict(after)), after.keys() == {"data"})
    yield Row("SIGSTOP: effects of writes", "one each", f"{effects} of {effects}")


def settle(world, call):
    """What a repeat of a write ends with, once it is no longer unknown."""
    until_ = time.monotonic() + 3
    while True:
        try:
            world.tools.call(call.tool, call.arguments, request_id=call.request_id, timeout=10)
            return "data"
        except (OutcomeUnknown, ToolError, Refused) as error:
            if time.monotonic() > until_:
                return error.code
            time.sleep(0.05)
