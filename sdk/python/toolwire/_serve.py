"""`serve()`: attaches the tools of this process to a server, of its own if none is named."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from toolwire._binary import LocalServer, state_beside
from toolwire._host import Host
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import Target
from toolwire._tool import REGISTRY, Tool, make
from toolwire.errors import Refused

log = logging.getLogger("toolwire")


def serve(
    *functions: Callable[..., Any], server: str | None = None, token: str | None = None, ca: str | None = None,
    provider: str = "", slots: int = 16, grace: float = 25.0, samples: bool = False,
) -> None:
    """Serves all tools of this process, or those given, until SIGTERM or SIGINT.

    server, token, ca: where it joins. Else TOOLWIRE_SERVER, TOOLWIRE_HOST_TOKEN and TOOLWIRE_CA; and without a server
    the one inside the package is started on this machine, with its state in `.toolwire` beside the program. It serves
    clients of MCP on a free port, or where TOOLWIRE_HTTP says.
    provider: the name under which the server knows this host, if the token does not say it.
    slots: how many calls are carried out at once.
    grace: for how many seconds calls under way may go on at the end.
    samples: whether the server that is started offers its own samples too.
    """
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    tools = chosen(functions)
    server = server or os.environ.get("TOOLWIRE_SERVER")
    target = Target.read(server, token, ca, "TOOLWIRE_HOST_TOKEN") if server else None
    if status := asyncio.run(_serve(tools, target, samples, provider, slots, grace)):
        raise SystemExit(status)


def chosen(functions: Iterable[Callable[..., Any]]) -> list[Tool]:
    """The tools that these functions are; without functions, all that were decorated."""
    by_function = {tool.function: tool for tool in REGISTRY.values()}
    tools = [by_function.get(it) or make(it) for it in functions] or [*REGISTRY.values()]
    if not tools:
        raise ValueError("there is no tool: decorate a function with @tool")
    return tools


async def _serve(
    tools: list[Tool], target: Target | None, samples: bool, provider: str, slots: int, grace: float
) -> int:
    """Returns the exit status."""
    loop, local = asyncio.get_running_loop(), None
    stopping: asyncio.Future[None] = loop.create_future()

    def stop(number: signal.Signals) -> None:
        # The next signal does not wait for the end.
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)
        if not stopping.done():
            stopping.set_result(None)

    def fail() -> None:
        if not stopping.done():
            stopping.set_exception(RuntimeError("the server has ended"))

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop, number)
    if target is None:
        state = state_beside(getattr(sys.modules["__main__"], "__file__", None))
        local = LocalServer(state, samples=samples, on_end=lambda: loop.call_soon_threadsafe(fail), http=True)
        target = Target(local.url)
    host = Host(tools, target, slots=slots, provider=provider)
    joining: asyncio.Future[Any] = asyncio.ensure_future(host.join())
    try:
        await asyncio.wait([joining, stopping], return_when=asyncio.FIRST_COMPLETED)
        if joining.done():
            _announce(host, target, joining.result(), local.mcp if local else "")
        await stopping
        return 0
    except (Refused, RuntimeError) as error:
        log.error("%s", error)
        grace = 0
        return 1
    finally:
        joining.cancel()
        await host.leave(grace)
        if local:
            local.close()


def _announce(host: Host, target: Target, welcome: host_pb2.Welcome, mcp: str) -> None:
    refused = {it.tool for it in welcome.verdicts if it.state == host_pb2.VERDICT_STATE_REFUSED}
    names = [name for name in sorted(host.tools) if name not in refused]
    counted = f"{len(names)} tool{'' if len(names) == 1 else 's'}"
    print(f"toolwire serves {counted} of {welcome.provider or 'this host'} at {target.url}", flush=True)
    print(f"  tools  {', '.join(names)}")
    if mcp:
        print(f"  mcp    {mcp}")
    if names:
        print(f"  try    toolwire call {names[0]} --server {target.url}", flush=True)


class BackgroundHost:
    """A host on a thread of its own, for programs that do something else."""

    def __init__(self, tools: list[Tool], target: Target, slots: int = 16) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toolwire-host", daemon=True)
        self._thread.start()
        self._host: Host = self._run(_made(tools, target, slots))
        try:
            self._run(self._host.join())
        except Refused:
            self.close()
            raise

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._run(self._host.leave(1.0))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _made(tools: list[Tool], target: Target, slots: int) -> Host:
    """A host on the loop that runs."""
    return Host(tools, target, slots=slots)
