"""`serve()` and `serve_async()`: have the tools of this program served until it is to end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from signal import Signals as Signal
from typing import Any

from toolwire import _edition
from toolwire._example import command
from toolwire._hosting import Host
from toolwire._log import log
from toolwire._signals import Signals
from toolwire._stdio import Stdio
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import WrongTarget
from toolwire._tool import Tool


def serve(
    *functions: Callable[..., Any], server: str | None = None, token: str | None = None, ca: str | None = None,
    provider: str = "", slots: int = 16, grace: float = 25.0, connect_timeout: float = 10.0, samples: bool = False,
    config: str | Path | None = None, port: int = 0, http_port: int | None = 0, reload: bool = False,
    token_file: str | Path | None = None,
) -> None:
    """Serves all tools of this process, or those given, until SIGTERM, SIGINT or SIGHUP.

    A program that is started with `--mcp` speaks MCP on its standard input and output, until its input ends. On another
    thread than the main one no signal is received.

    Args:
        functions: The tools. Without any, all of this process.
        server, token, ca: Where it joins. Else TOOLWIRE_SERVER, TOOLWIRE_HOST_TOKEN and TOOLWIRE_CA; and without a
            server the one inside the package is started on this machine, with its state and its log in `.toolwire`
            beside the program.
        token_file: A file with the token, which is read for every connection, so that another token can take its place.
            Else TOOLWIRE_HOST_TOKEN_FILE.
        provider: The name under which the server knows this host, if the token does not say it. At a server without
            tokens that is `local`, which one program has at a time: a second one is refused unless it names another,
            or the same.
        slots: How many calls are carried out at once.
        grace: For how many seconds calls under way may go on at the end.
        connect_timeout: For how many seconds a server that is named may take to welcome it first.
        samples: Whether the server that is started offers its own samples too.
        config: The file of its settings. Without one, and without TOOLWIRE_CONFIG, it reads none.
        port, http_port: Where it listens, and where it serves clients of MCP. Else where TOOLWIRE_LISTEN and
            TOOLWIRE_HTTP say, or on free ports.
        reload: Whether an edit of the program, or of a module of its own, is served at once, as by `toolwire dev`.
    """
    options = {key: value for key, value in locals().items() if key not in ("functions", "reload")}
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    edition, is_of_client = _edition.this, "--mcp" in sys.argv[1:]
    if reload and not edition and not is_of_client:
        _edition.start_again()
    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop()
        log.warning("serve() holds up the event loop of this thread: in a notebook, use Host or serve_async()")
    stdio = Stdio() if is_of_client else None
    try:
        host = _host_of(functions, options)
    except WrongTarget as wrong:
        # Mostly of the environment, of which a traceback says nothing.
        log.error("%s", wrong)
        raise SystemExit(1) from None
    with Signals() as signals:
        if edition:
            edition.take(host)
        host.begin()
        for future in (host.opened, host.closed):
            future.add_done_callback(signals.events.put)
        event = signals.wait()
        if event is host.opened and not host.opened.exception():
            if not edition or edition.is_first:
                _announce(host)
            if edition:
                edition.tell_served(_describe_edit(host), host.settle, lambda: signals.events.put(None))
            if stdio:
                stdio.start(host, signals.events.put)
            event = signals.wait()
        # What ends an edition is no signal of the person at the terminal.
        if isinstance(event, Signal) and not edition:
            time_left = f"calls under way have {grace:g} s, unless the next signal comes"
            print(f"toolwire ends on {event.name}: {time_left}", file=sys.stderr, flush=True)
        if stdio:
            stdio.stop()
        host.end()
        error = host.closed.result()
    if error:
        if host.opened.exception():
            log.error("%s", error)
        raise SystemExit(1)


async def serve_async(
    *functions: Callable[..., Any], server: str | None = None, token: str | None = None, ca: str | None = None,
    provider: str = "", slots: int = 16, grace: float = 25.0, connect_timeout: float = 10.0, samples: bool = False,
    config: str | Path | None = None, port: int = 0, http_port: int | None = 0, token_file: str | Path | None = None,
) -> None:
    """Serves as `serve` does, with coroutines on the loop that runs, until its task is cancelled.

    No signal is received. Raises Refused or RuntimeError where the server does not take the tools, or ends.
    """
    options = {key: value for key, value in locals().items() if key != "functions"}
    async with _host_of(functions, options) as host:
        _announce(host)
        await host.wait()


def _host_of(functions: tuple[Callable[..., Any], ...], options: dict[str, Any]) -> Host:
    host = Host(functions or None, **options)
    if host.target and (_edition.this is None or _edition.this.is_first):
        # Where the environment names it, that may be left from other work.
        hint = ": TOOLWIRE_SERVER is set. Without it, this program starts a server of its own"
        origin = "" if options["server"] else hint
        print(f"toolwire joins the server at {host.url}{origin}", file=sys.stderr, flush=True)
    return host


def _announce(host: Host) -> None:
    if not host.opened.result().accepted:
        print(f"toolwire {_describe_wait(host)}", flush=True)
        return
    tools, refused = _split(host)
    lines = [("tools", _names(tools))]
    if refused:
        lines.append(("refused", _names(refused)))
    if host.mcp:
        lines.append(("mcp", host.mcp))
        # Settings may turn the page off.
        if host.server and not host.server.has_settings:
            lines.append(("page", host.mcp.removesuffix("mcp")))
    if host.server:
        lines.append(("log", os.path.relpath(host.server.log)))
    if tools and host.target:
        # What is tried first should change nothing.
        lines.append(("try", command(min(tools, key=lambda tool: not tool.reads), host.target)))
    width = max(len(label) for label, _ in lines)
    first = f"toolwire serves {_count(tools, host)} at {host.url}"
    # In one write, since `print` writes the end of a line by itself.
    sys.stdout.write("\n".join([first, *(f"  {label:{width}}  {text}" for label, text in lines), ""]))
    sys.stdout.flush()


def _describe_edit(host: Host) -> str:
    """What an edition serves, in a line."""
    if not host.opened.result().accepted:
        return _describe_wait(host)
    tools, refused = _split(host)
    others = f"; refused, for the reasons above: {_names(refused)}" if refused else ""
    return f"serves the edit: {_count(tools, host)}{others}"


def _describe_wait(host: Host) -> str:
    return f"waits at {host.url}: another version of {_provider(host)}'s tools is in service"


def _split(host: Host) -> tuple[list[Tool], list[Tool]]:
    """The tools that are served, and those that the server refused, in order of name."""
    verdicts = host.opened.result().verdicts
    refused = {it.tool for it in verdicts if it.state == host_pb2.VERDICT_STATE_REFUSED}
    tools = sorted(host.tools, key=lambda tool: tool.name)
    return [it for it in tools if it.name not in refused], [it for it in tools if it.name in refused]


def _names(tools: list[Tool]) -> str:
    return ", ".join(it.name for it in tools)


def _count(tools: list[Tool], host: Host) -> str:
    return f"{len(tools)} tool{'' if len(tools) == 1 else 's'} of {_provider(host)}"


def _provider(host: Host) -> str:
    return host.opened.result().provider or "this host"
