"""What all parts share: the instant of the recording, the trading calendar, seeded chance, and compact JSON.

Chance uses only `random()` and plain arithmetic, so that every platform gives the same bytes.
"""

import json
import random
from datetime import date, datetime, timedelta, timezone

SEED = "toolwire-research-1"
RECORDED_AT = datetime(2026, 1, 16, 10, 0, 0, tzinfo=timezone.utc)
TODAY = RECORDED_AT.date()
IST = timezone(timedelta(hours=5, minutes=30))

# Days on which the exchange was closed, weekends aside.
HOLIDAYS = {
    date.fromisoformat(day)
    for day in """
    2024-01-22 2024-01-26 2024-03-08 2024-03-25 2024-03-29 2024-04-11 2024-04-17 2024-05-01 2024-05-20
    2024-06-17 2024-07-17 2024-08-15 2024-10-02 2024-11-01 2024-11-15 2024-11-20 2024-12-25
    2025-02-26 2025-03-14 2025-03-31 2025-04-10 2025-04-14 2025-04-18 2025-05-01 2025-08-15 2025-08-27
    2025-10-02 2025-10-21 2025-10-22 2025-11-05 2025-12-25
    2026-01-15
    """.split()
}

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
WEEKDAYS = "Mon Tue Wed Thu Fri Sat Sun".split()


def chance(*parts):
    """A source of chance of its own for each purpose, so that one change does not move everything else."""
    return random.Random("/".join([SEED, *map(str, parts)]))


def noise(rng):
    """About normal, with mean 0 and deviation 1."""
    return (rng.random() + rng.random() + rng.random() + rng.random() - 2.0) * 1.7320508


def trading_days(first=date(2024, 1, 16), last=TODAY):
    days, day = [], first
    while day <= last:
        if day.weekday() < 5 and day not in HOLIDAYS:
            days.append(day)
        day += timedelta(days=1)
    return days


def before(**ago):
    return RECORDED_AT - timedelta(**ago)


def epoch(moment):
    return int(moment.timestamp())


def iso(moment):
    """As Discourse writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.second * 16 + 7:03d}Z"


def rfc822(moment, zone=timezone.utc, zone_name="GMT"):
    """As feeds write it; the names of days and months do not depend on the locale."""
    at = moment.astimezone(zone)
    return (
        f"{WEEKDAYS[at.weekday()]}, {at.day:02d} {MONTHS[at.month - 1]} {at.year} "
        f"{at.hour:02d}:{at.minute:02d}:{at.second:02d} {zone_name}"
    )


def nse_date(day, upper=True):
    name = MONTHS[day.month - 1]
    return f"{day.day:02d}-{name.upper() if upper else name}-{day.year}"


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def indian(number):
    """Digits grouped as in India: 12,34,567."""
    text = str(number)
    whole, dot, fraction = text.partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    head, tail = whole[:-3], whole[-3:]
    groups = [tail]
    while head:
        groups.insert(0, head[-2:])
        head = head[:-2]
    return sign + ",".join(groups) + dot + fraction


def slug(title):
    words = "".join(c.lower() if c.isalnum() and c.isascii() else " " for c in title).split()
    return "-".join(words)
