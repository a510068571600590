"""Threads that carry out what blocks."""

import threading
import time
from concurrent.futures import Future
from typing import Any

import pytest

from toolwire import _threads

pytestmark = pytest.mark.anyio


async def test_a_thread_has_ended_when_what_it_carried_out_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    real, threads = _threads.carry_out, []

    def end_late(future: Future[Any], function: Any) -> None:
        threads.append(threading.current_thread())
        real(future, function)
        time.sleep(0.05)

    monkeypatch.setattr(_threads, "carry_out", end_late)
    assert await _threads.in_thread(lambda: 7) == 7
    with pytest.raises(ValueError, match="invalid literal"):
        await _threads.in_thread(lambda: int("none"))
    assert [thread.is_alive() for thread in threads] == [False, False]
