"""Texts of anything: what a program raised or said, in UTF-8 and of bounded length. Nothing here raises."""

from __future__ import annotations

import inspect
from typing import Any


def readable(value: Any, most: int) -> str:
    """Its words, of at most so many bytes, whatever it is and however its `__str__` ends."""
    try:
        if isinstance(value, bytes | bytearray):
            return cut(bytes(value[:most]).decode(errors="replace"), most)
        # The text of a subclass of `str` may say another than it holds.
        return cut(value if type(value) is str else str.__str__(str(value)), most)
    except BaseException:
        return cut(f"an unreadable {type_name(value)}", most)


def cut(text: str, most: int) -> str:
    """As much of it as a bound in bytes allows. Halves of surrogate pairs are joined, and single ones replaced."""
    # A character has at least one byte.
    text = text[:most]
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = text.encode()[:most].decode(errors="ignore")
    return text


def type_name(value: Any) -> str:
    """The name of its type, which a metaclass may refuse to say."""
    try:
        return cut(str.__str__(inspect.formatannotation(type(value))), 100)
    except BaseException:
        return "object"
