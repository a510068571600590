"""Types whose values JSON carries as texts, each of which is read back as the value that was written."""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path, PurePath, PurePosixPath
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
CLOCK = r"^[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})?$"
DURATION = r"(-?)P(?:([0-9]{1,9})D)?(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})(?:\.([0-9]{1,6}))?S)?)?"
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
    if len(text) > MOST_DIGITS or not re.fullmatch(INTEGER, text):
        raise ValueError("it is no integer in digits")
    return int(text)


def _write_integer(value: int) -> str:
    if abs(value) >= BEYOND_DIGITS:
        raise Misfit(f"an integer of more than {MOST_DIGITS} digits is not carried")
    return int.__repr__(int.__int__(value))


def _read_decimal(text: str) -> Decimal:
    if len(text) > MOST_DIGITS or not re.fullmatch(DECIMAL, text):
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


def _read_time(text: str) -> time:
    """With or without its zone."""
    if not re.fullmatch(CLOCK, text):
        raise ValueError("it is no time of a day such as 12:00:00")
    is_aware = re.search("[Zz+-]", text)
    at = _read_datetime(f"2000-01-01T{text}{'' if is_aware else 'Z'}").timetz()
    return at if is_aware else at.replace(tzinfo=None)


def _write_time(value: time) -> str:
    text = value.isoformat()
    if not re.fullmatch(CLOCK, text):
        raise Misfit(f"{text!r} is no time of a day")
    return text


def _read_duration(text: str) -> timedelta:
    found = re.fullmatch(DURATION, text)
    if not found or text[-1] in "PT":
        raise ValueError("it is no duration such as P1DT2H30M or PT0.5S")
    days, hours, minutes, seconds = (int(it or 0) for it in found.group(2, 3, 4, 5))
    microseconds = int((found[6] or "0").ljust(6, "0"))
    made = timedelta(days, seconds, microseconds, 0, minutes, hours)
    return -made if found[1] else made


def _write_duration(value: timedelta) -> str:
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    seconds = f"{value.seconds % 60}.{value.microseconds:06}".rstrip("0").rstrip(".")
    parts = [(value.seconds // 3600, "H"), (value.seconds // 60 % 60, "M"), (seconds, "S")]
    clock = "".join(f"{count}{unit}" for count, unit in parts if count not in (0, "0"))
    day = f"{value.days}D" if value.days else ""
    return f"{sign}P{day}{'T' + clock if clock or not day else ''}{'' if clock or day else '0S'}"


def _read_bytes(text: str) -> bytes:
    read = base64.b64decode(text, validate=True)
    if base64.b64encode(read).decode() != text:
        raise ValueError("its last bits are of no byte")
    return read


def _read_path(text: str, kind: type[PurePath] = Path) -> PurePath:
    if not text or "\0" in text:
        raise ValueError("it is no path")
    return kind(text)


BYTES: Schema = {"type": "string", "contentEncoding": "base64", "examples": ["aGk="]}
TIME_OF_DAY: Schema = {"type": "string", "pattern": CLOCK, "examples": ["12:00:00"]}
SPAN: Schema = {"type": "string", "pattern": f"^{DURATION}$", "examples": ["PT1H30M"]}
TEXT: Schema = {"type": "string", "minLength": 1}

FORMS: dict[Any, Form] = {
    # A value of these hints may lack its zone, or be one of a subclass with a time: it is returned as it is.
    datetime: Form(_text("date-time"), {"type": "string", "pattern": f"^{DAY}{TIME}$"}, _read_datetime, _write_date),
    date: Form(_text("date"), {"type": "string", "pattern": f"^{DAY}({TIME})?$"}, _read_date, _write_date),
    time: Form(TIME_OF_DAY, TIME_OF_DAY, _read_time, _write_time),
    timedelta: Form(SPAN, SPAN, _read_duration, _write_duration),
    UUID: Form(_text("uuid"), _text("uuid"), _read_uuid, lambda value: str(UUID(int=value.int))),
    # `sum` of no decimals is the integer 0.
    Decimal: Form(_pattern(DECIMAL), _pattern(DECIMAL), _read_decimal, _write_decimal, (int,)),
    bytes: Form(BYTES, BYTES, _read_bytes, lambda value: base64.b64encode(value).decode()),
    **{
        kind: Form(TEXT, TEXT, functools.partial(_read_path, kind=kind), PurePath.__str__)
        for kind in (Path, PurePath, PurePosixPath)
    },
}
LARGE = Form(_pattern(INTEGER), _pattern(INTEGER), _read_integer, _write_integer)
