"""The log of this package."""

from __future__ import annotations

import contextlib
import logging

log = logging.getLogger("toolwire")


def log_error(error: BaseException, message: str, *arguments: object) -> None:
    """Logs an error with its traceback, or without it: an error of a program may raise where it is shown."""
    try:
        log.error(message, *arguments, exc_info=error)
    except BaseException:
        with contextlib.suppress(BaseException):
            log.error(f"{message}, with an error that cannot be shown", *arguments)
