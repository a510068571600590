"""What it takes to offer 1,000 tools, and to come back with tools that the server knows."""

import socket
import threading
import time
from typing import Annotated

from host_rows.common import Row, World, until, within
from toolwire import Host, Param
from toolwire._tool import make

TOOLS, SLOTS = 1_000, 16


def order(
    customer: Annotated[str, Param("Whose it is.", pattern="^[A-Z]{2}-[0-9]{1,9}$")],
    amount: Annotated[float, Param(minimum=0)], lines: list[str], is_urgent: bool = False, note: str | None = None,
) -> dict[str, float]:
    """Places an order. Use this when a customer asks for goods, and not for vouchers."""
    return {"total": amount * len(lines)}


def catalogue(version):
    return [make(order, name=f"order_{number:04}", version=f"1.0.{version}") for number in range(TOOLS)]


def offer_catalogue(rounds):
    """From a host's start, its functions read, to a list with all of them: of new tools, and in place of older ones."""
    taken = {"new": [], "in place of as many": []}
    for _ in range(rounds):
        with World() as world:
            for version, kind in enumerate(taken):
                tools = catalogue(version)
                began = time.monotonic()
                host = Host(tools, server=world.server.url, slots=1, grace=1)
                host.__enter__()
                listed = world.tools.list_tools()
                taken[kind].append(time.monotonic() - began)
                host.__exit__()
                # `read_result` is the server's own.
                assert len(listed) == TOOLS + 1, len(listed)
    for kind, seconds in taken.items():
        yield within(f"{TOOLS:,} tools offered, checked, listed: {kind}", 1, seconds, "s", 1)


class Counter:
    """Stands between a host and its server, and counts what the host sends."""

    def __init__(self, url):
        self._server = url.removeprefix("http://").rsplit(":", 1)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.sent, self._open = 0, []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            host, _ = self._listener.accept()
            server = socket.create_connection(self._server)
            self._open += [host, server]
            threading.Thread(target=self._copy, args=(host, server, True), daemon=True).start()
            threading.Thread(target=self._copy, args=(server, host, False), daemon=True).start()

    def _copy(self, source, target, is_counted):
        try:
            while data := source.recv(1 << 16):
                self.sent += len(data) * is_counted
                target.sendall(data)
        except OSError:
            pass

    def cut(self):
        """Ends all connections; what was sent until then."""
        sent, self.sent = self.sent, 0
        for end in self._open:
            end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._open = []
        return sent


def attach_again(rounds):
    """All bytes of a host whose connection was lost, HTTP/2's own with them, for each of its streams."""
    with World() as world:
        counter = Counter(world.server.url)
        world.enter_context(Host(catalogue(0), server=counter.url, slots=SLOTS, grace=1))
        sent = []
        for _ in range(rounds + 1):
            sent.append(settle(counter) / SLOTS)
            counter.cut()
    first, again = sent[0], sent[1:]
    seen = f"{min(again):.0f}–{max(again):.0f} bytes; {first:,.0f} when they are new"
    yield Row(f"a stream attached again, {TOOLS:,} known tools", "≤ 1 KiB", seen, max(again) <= 1024)


def settle(counter):
    """What was sent, once nothing more comes: all slots are there."""
    until(lambda: counter.sent)
    while True:
        sent = counter.sent
        # Longer than the first pause before a lost slot is opened again.
        time.sleep(1.5)
        if counter.sent == sent:
            return sent
