"""An AsyncToolwire that a test uses as it does a Toolwire: each method is awaited on a loop of its own thread."""

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from toolwire import AsyncToolwire

END = object()


class OnLoop:
    """Has the methods of what it wraps."""

    def __init__(self, make: Callable[[], AsyncToolwire]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = make()

    def __enter__(self) -> Any:
        return _Proxy(self._client, self._run)

    def __exit__(self, *_: object) -> None:
        self._run(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class _Proxy:
    def __init__(self, target: Any, run: Callable[[Any], Any]) -> None:
        self.__dict__.update(_target=target, _run=run)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._target, name, value)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if inspect.isasyncgenfunction(found):
            return lambda *args, **options: self._iterate(found(*args, **options))
        if inspect.iscoroutinefunction(found):
            return lambda *args, **options: self._run(found(*args, **options))
        return _Proxy(found, self._run) if name == "tasks" else found

    def _iterate(self, values: Any) -> Iterator[Any]:
        async def one() -> Any:
            return await anext(values, END)

        try:
            while (value := self._run(one())) is not END:
                yield value
        finally:
            self._run(values.aclose())
