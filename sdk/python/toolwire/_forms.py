"""Types whose values JSON carries as texts, each of which is read back as the value that was written."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
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
MOMENT = rf"({DAY}[Tt][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}})(?:\.([0-9]+))?([Zz]|[+-][0-9]{{2}}:[0-9]{{2}})"
HEX = "[0-9a-fA-F]"
_H, _M, _S = "[0-9]{1,9}H", "[0-9]{1,9}M", r"[0-9]{1,9}(\.[0-9]{1,6})?S"
_CLOCK_PART = f"T({_H}({_M})?({_S})?|{_M}({_S})?|{_S})"
# What is read as a duration: with at least one part, and one behind its T. Patterns of JSON Schema look ahead nowhere.
SPANS = f"^-?P([0-9]{{1,9}}D({_CLOCK_PART})?|{_CLOCK_PART})$"


@dataclass(frozen=True)
class Form:
    """How values of a type are texts. What is returned has a schema of its own where it may be more than is taken."""

    what: str
    # That all of the texts match; `parse` raises ValueError of one that is no value all the same, or not exactly one.
    pattern: str
    parse: Callable[[str], Any]
    write: Callable[[Any], str]
    schema: Schema
    returned: Schema | None = None
    # What else is written so.
    also: tuple[type, ...] = ()

    def read(self, text: str) -> Any:
        if len(text) > self.schema.get("maxLength", len(text)) or not re.fullmatch(self.pattern, text):
            raise ValueError(f"it is no {self.what}")
        return self.parse(text)


def _parse_moment(text: str) -> datetime:
    """Before Python 3.11, `fromisoformat` takes six digits of a fraction, and no Z; from 3.13 on, midnight as 24:00."""
    at, fraction, zone = re.findall(MOMENT, text)[0]
    if at[11:13] > "23":
        raise ValueError("hour must be in 0..23")
    if fraction[6:].strip("0"):
        raise ValueError("a datetime has no parts of a microsecond")
    zone = "+00:00" if zone in "Zz" else zone
    return datetime.fromisoformat(f"{at.upper()}.{fraction[:6]:0<6}{zone}")


def _parse_time(text: str) -> time:
    """With or without its zone."""
    is_aware = re.search("[Zz+-]", text)
    at = _parse_moment(f"2000-01-01T{text}{'' if is_aware else 'Z'}")
    return at.timetz() if is_aware else at.time()


def _write_time(value: date | time) -> str:
    """Of a subclass too, such as `datetime` for `date`, which may have a finer form."""
    text = value.isoformat()
    if not re.fullmatch(CLOCK if isinstance(value, time) else f"{DAY}({TIME})?", text):
        raise Misfit(f"{text!r} is no date or time of ISO 8601")
    return text


def _write_integer(value: int) -> str:
    if abs(value) >= BEYOND_DIGITS:
        raise Misfit(f"an integer of more than {MOST_DIGITS} digits is not carried")
    return int.__repr__(int.__int__(value))


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


def _parse_duration(text: str) -> timedelta:
    sign, days, hours, minutes, seconds, fraction = (it or "0" for it in re.findall(DURATION, text)[0])
    made = timedelta(int(days), int(seconds), int(f"{fraction:0<6}"), 0, int(minutes), int(hours))
    return -made if sign == "-" else made


def _write_duration(value: timedelta) -> str:
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    seconds = f"{value.seconds % 60}.{value.microseconds:06}".rstrip("0").rstrip(".")
    parts = [(value.seconds // 3600, "H"), (value.seconds // 60 % 60, "M"), (seconds, "S")]
    clock = "".join(f"{count}{unit}" for count, unit in parts if count not in (0, "0"))
    day = f"{value.days}D" if value.days else ""
    return f"{sign}P{day}{'T' + clock if clock or not day else ''}{'' if clock or day else '0S'}"


def _parse_bytes(text: str) -> bytes:
    read = base64.b64decode(text, validate=True)
    if base64.b64encode(read).decode() != text:
        raise ValueError("its last bits are of no byte")
    return read


def _pattern(pattern: str, **others: Any) -> Schema:
    return {"type": "string", "pattern": pattern, **others}


def _format(name: str) -> Schema:
    return {"type": "string", "format": name}


BYTES: Schema = {"type": "string", "contentEncoding": "base64", "examples": ["aGk="]}
FORMS: dict[Any, Form] = {
    # A value of these hints may lack its zone, or be one of a subclass with a time: it is returned as it is.
    datetime: Form("time with its zone, such as 2026-01-31T12:00:00Z", MOMENT, _parse_moment, _write_time,
                   _format("date-time"), _pattern(f"^{DAY}{TIME}$")),
    date: Form("date such as 2026-01-31", DAY, date.fromisoformat, _write_time,
               _format("date"), _pattern(f"^{DAY}({TIME})?$")),
    time: Form("time of a day such as 12:00:00", CLOCK, _parse_time, _write_time,
               _pattern(CLOCK, examples=["12:00:00"])),
    timedelta: Form("duration such as P1DT2H30M or PT0.5S", f"{DURATION}(?<![PT])", _parse_duration, _write_duration,
                    _pattern(SPANS, examples=["PT1H30M"])),
    UUID: Form("UUID such as 00000000-0000-4000-8000-000000000000", f"{HEX}{{8}}(-{HEX}{{4}}){{3}}-{HEX}{{12}}", UUID,
               lambda value: str(UUID(int=value.int)), _format("uuid")),
    # `sum` of no decimals is the integer 0.
    Decimal: Form("decimal in digits, such as 149.99", DECIMAL, Decimal, _write_decimal,
                  _pattern(DECIMAL, maxLength=MOST_DIGITS), also=(int,)),
    bytes: Form("bytes in base64", "(?s:.*)", _parse_bytes, lambda value: base64.b64encode(value).decode(), BYTES),
    **{
        kind: Form("path", r"[^\0]+", kind, PurePath.__str__, {"type": "string", "minLength": 1})
        for kind in (Path, PurePath, PurePosixPath)
    },
}
LARGE = Form("integer in digits", INTEGER, int, _write_integer, _pattern(INTEGER, maxLength=MOST_DIGITS))
