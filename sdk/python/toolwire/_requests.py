"""Requests of values that a program gives. What is not carried exactly is an InvalidArgument that names its place."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from google.protobuf.message import Message

from toolwire._codecs import ANY
from toolwire._forms import FORMS
from toolwire._json import ENCODER, Misfit, Writer
from toolwire._schema import codec
from toolwire._text import readable
from toolwire.errors import MOST_TEXT, InvalidArgument, Violation

M = TypeVar("M", bound=Message)

# By which a type with fields is known: of pydantic, dataclasses, attrs, and of a NamedTuple.
FIELDS = ("__pydantic_serializer__", "__dataclass_fields__", "__attrs_attrs__", "_fields")
codec_of = functools.lru_cache(1000)(codec)
# What a Duration and the deadline of a call hold, in seconds.
MOST_SECONDS = 1e9


class Arguments(Writer):
    """Each value as a tool reads one of its type; but no bytes, which are texts in many ways."""

    def _other(self, value: Any) -> Any:
        kind: Any = type(value)
        if form := next((FORMS[it] for it in kind.__mro__ if it in FORMS and it is not bytes), None):
            return self.text(form.write(value))
        try:
            known = codec_of(kind) if any(hasattr(kind, it) for it in FIELDS) else None
        except (TypeError, ValueError, NameError):
            # Of fields that no tool reads.
            known = None
        return known.write(value, self, ANY) if known else super()._other(value)


def build(kind: type[M], **fields: Any) -> M:
    """A message of these fields."""
    message = kind()
    for name, value in fields.items():
        with refuse_misfits(f"{name} cannot be sent", name):
            if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
                value = [*value]
            if not isinstance(value, Message):
                Writer().plain(value)
            message.MergeFrom(kind(**{name: value}))
    return message


def arguments_json(tool: str, arguments: Any) -> str:
    """The arguments of a tool as text, which a model may have written."""
    with refuse_misfits(f"the arguments of {tool} cannot be sent"):
        if isinstance(arguments, str):
            return Writer().text(arguments)
        return ENCODER.encode(Arguments(bounds_integers=True).plain({} if arguments is None else arguments))


def seconds(name: str, value: Any) -> float:
    with refuse_misfits(f"{name} cannot be kept", name):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_SECONDS:
            raise Misfit(f"{readable(value, 100)} is no number of seconds from 0 to {MOST_SECONDS:g}")
        return value


def enum_value(name: str, enum: Any, prefix: str, word: Any) -> Any:
    """The value of an enum of the contract that a word says."""
    words = {key.removeprefix(prefix).lower(): value for key, value in enum.items()}
    with refuse_misfits(f"{name} cannot be sent", name):
        if word not in words:
            raise Misfit(f"{readable(word, 100)} is none of {', '.join([*words][1:])}")
        return words[word]


@contextlib.contextmanager
def refuse_misfits(what: str, name: str = "") -> Iterator[None]:
    """Raises InvalidArgument of a value that cannot be carried, which has this name in the request."""
    try:
        yield
    except (OverflowError, TypeError, ValueError) as error:
        misfit = error if isinstance(error, Misfit) else Misfit(readable(error, 500))
        if name:
            misfit.under(name)
        violation = Violation(misfit.pointer, misfit.rule, misfit.what)
        raise InvalidArgument(readable(f"{what}: {misfit}", MOST_TEXT), violations=(violation,)) from None
