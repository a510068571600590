"""What each promise is held to, beside what was seen."""

import statistics
import time
from dataclasses import dataclass


@dataclass
class Row:
    """A figure beside its goal. Without a goal it cannot be missed."""

    what: str
    goal: str
    seen: str
    holds: bool = True


def none_of(what, found, of):
    """A row of failures, which there may be none of."""
    shown = f"{len(found)} of {of:,}" + (f", such as {found[0]}" if found else "")
    return Row(what, "0", shown, not found)


def p99(values):
    ordered = sorted(values)
    return ordered[len(ordered) * 99 // 100]


def within(what, goal, seconds, is_held):
    """A row of seconds whose p99 is bounded by the goal, in seconds, unless it is only shown."""
    shown = (statistics.median(seconds), p99(seconds), max(seconds))
    seen = "p50 {:.0f} · p99 {:.0f} · most {:.0f} ms of {}".format(*(it * 1000 for it in shown), len(seconds))
    return Row(what, f"p99 ≤ {goal * 1000:g} ms", seen, not is_held or p99(seconds) <= goal)


def until(holds, limit=60):
    """Waits for what other processes do, and returns it."""
    end = time.monotonic() + limit
    while not (found := holds()):
        assert time.monotonic() < end, f"it never holds: {holds}"
        time.sleep(0.005)
    return found
