"""Types whose values JSON carries as texts, each of which is read back as the value that was written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

from toolwire._json import Misfit

Schema = dict[str, Any]

# What Python reads as an integer at most, by default.
MOST_DIGITS = 4300
BEYOND_DIGITS = 10**MOST_DIGITS
INTEGER = r"^(0|-?[1-9][0-9]*)$"
DECIMAL = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
TIME = r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([+-][0-9:.]+)?"
MOMENT = re.compile(
    rf"({DAY})[Tt]([0-9]{{2}}):([0-9]{{2}}):([0-9]{{2}})(?:\.([0-9]+))?(?:([Zz])|([+-])([0-9]{{2}}):([0-9]{{2}}))"
)


@dataclass(frozen=True)
class Form:
    """How values of a type are texts. What is returned has a schema of its own where it may be more than is taken."""

    schema: Schema
    returned: Schema
    # Raises ValueError of a text that is no value, or not exactly one.
    read: Callable[[str], Any]
    write: Callable[[Any], str]
    # What else is written so.
    also: tuple[type, ...] = ()


def _text(format: str) -> Schema:
    return {"type": "string", "format": format}


def _pattern(pattern: str) -> Schema:
    return {"type": "string", "pattern": pattern, "maxLength": MOST_DIGITS}


def _read_date(text: str) -> date:
    if not re.fullmatch(DAY, text):
        raise ValueError("it is no date such as 2026-01-31")
    return date.fromisoformat(text)


def _read_datetime(text: str) -> datetime:
    """A time of RFC 3339, which `fromisoformat` knows from Python 3.11 on, and cuts at microseconds."""
    found = MOMENT.fullmatch(text)
    if not found:
        raise ValueError("it is no time with its zone, such as 2026-01-31T12:00:00Z")
    day, hour, minute, second, fraction, utc, sign, hours, minutes = found.groups()
    if fraction and fraction[6:].strip("0"):
        raise ValueError("a datetime has no parts of a microsecond")
    zone = timezone.utc
    if not utc:
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        zone = timezone(-offset if sign == "-" else offset)
    at = date.fromisoformat(day)
    microsecond = int((fraction or "0")[:6].ljust(6, "0"))
    return datetime(at.year, at.month, at.day, int(hour), int(minute), int(second), microsecond, zone)


def _write_date(value: date) -> str:
    """Of a subclass too, such as `datetime`, which may have a finer form."""
    text = value.isoformat()
    if not re.fullmatch(f"{DAY}({TIME})?", text):
        raise Misfit(f"{text!r} is no date or time of ISO 8601")
    return text


def _read_uuid(text: str) -> UUID:
    read = UUID(text)
    if str(read) != text.lower():
        raise ValueError("it is no UUID such as 00000000-0000-4000-8000-000000000000")
    return read


def _read_integer(text: str) -> int:
    if len(text) > MOST_DIGITS or not re.fullmatch(INTEGER[1:-1], text):
        raise ValueError("it is no integer in digits")
    return int(text)


def _write_integer(value: int) -> str:
    if abs(value) >= BEYOND_DIGITS:
        raise Misfit(f"an integer of more than {MOST_DIGITS} digits is not carried")
    return int.__repr__(int.__int__(value))


def _read_decimal(text: str) -> Decimal:
    if len(text) > MOST_DIGITS or not re.fullmatch(DECIMAL[1:-1], text):
        raise ValueError("it is no decimal in digits, such as 149.99")
    return Decimal(text)


def _write_decimal(value: Decimal | int) -> str:
    if isinstance(value, int):
        return _write_integer(value)
    if not value.is_finite():
        raise Misfit(f"{value} is no decimal in digits")
    # Its exponent may stand for any number of zeros.
    is_short = value.adjusted() < MOST_DIGITS and int(value.as_tuple().exponent) > -MOST_DIGITS
    text = format(value, "f") if is_short else ""
    if not 0 < len(text) <= MOST_DIGITS:
        raise Misfit(f"a decimal of more than {MOST_DIGITS} digits is not carried")
    return text


FORMS: dict[Any, Form] = {
    # A value of these hints may lack its zone, or be one of a subclass with a time: it is returned as it is.
    datetime: Form(_text("date-time"), {"type": "string", "pattern": f"^{DAY}{TIME}$"}, _read_datetime, _write_date),
    date: Form(_text("date"), {"type": "string", "pattern": f"^{DAY}({TIME})?$"}, _read_date, _write_date),
    UUID: Form(_text("uuid"), _text("uuid"), _read_uuid, lambda value: str(UUID(int=value.int))),
    # `sum` of no decimals is the integer 0.
    Decimal: Form(_pattern(DECIMAL), _pattern(DECIMAL), _read_decimal, _write_decimal, (int,)),
}
LARGE = Form(_pattern(INTEGER), _pattern(INTEGER), _read_integer, _write_integer)
