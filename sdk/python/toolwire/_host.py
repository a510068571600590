"""A host: a process that carries out calls of its tools for a server."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import itertools
import logging
import math
import time
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import grpc.aio

from toolwire._slot import FATAL, TICK, Slot, Stream, wait
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import Target
from toolwire._tool import Tool
from toolwire._version import __version__
from toolwire.errors import Refused

log = logging.getLogger("toolwire")

# A connection takes about 100 streams, and grpc queues what is above.
SLOTS_OF_A_CHANNEL = 90
# How long the server has a use for the end of a lost call, in seconds.
LATE_FOR = 600.0
# Between two looks at the addresses of the server's name, in seconds.
RESOLVE_EVERY = 30.0
# Between two lines of the log on lost slots, in seconds.
LOG_EVERY = 10.0
CHANNEL_OPTIONS = [
    # Channels of equal arguments share a connection otherwise.
    ("grpc.use_local_subchannel_pool", 1),
    # The pauses between attempts are those of the slots.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
    # How long an attempt may take.
    ("grpc.min_reconnect_backoff_ms", 5000),
]


@dataclass
class Late:
    """The end of a write whose slot was lost."""

    outcome: host_pb2.Outcome
    expires: float = field(default_factory=lambda: time.monotonic() + LATE_FOR)
    # The stream that it was sent on, at each address.
    sent: dict[str, Stream] = field(default_factory=dict)


class Site:
    """An address of the server, with the slots that are opened there."""

    def __init__(self, host: Host, address: str) -> None:
        self.host, self.address = host, address
        self.slots: dict[Slot, asyncio.Task[None]] = {}
        self.greeting = asyncio.Lock()
        self._woken = asyncio.Event()
        self._channels: dict[int, Any] = {}

    def channel(self, index: int) -> Any:
        """The channel of the slot of this index."""
        number = index // SLOTS_OF_A_CHANNEL
        if number not in self._channels:
            self._channels[number] = self.host.target.channel(grpc.aio, self.address, *CHANNEL_OPTIONS)
        return self._channels[number]

    def open(self, count: int) -> None:
        """Has this many slots from now on; what is too many leaves after its call."""
        wanted = [slot for slot in self.slots if slot.is_wanted]
        free = (index for index in itertools.count() if all(slot.index != index for slot in self.slots))
        for _ in range(len(wanted), count):
            slot = Slot(self, next(free))
            self.slots[slot] = asyncio.create_task(slot.run())
            self.slots[slot].add_done_callback(functools.partial(self._ended, slot))
        for slot in wanted[count:]:
            slot.leave()

    def _ended(self, slot: Slot, _: asyncio.Task[None]) -> None:
        del self.slots[slot]

    def wake(self) -> None:
        """The server is there again: slots that pause need not wait."""
        self._woken.set()
        self._woken = asyncio.Event()

    async def pause(self, seconds: float) -> None:
        await wait(self._woken, seconds)

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close()


class Host:
    """The tools of a process, attached to a server."""

    def __init__(self, tools: Iterable[Tool], target: Target, *, slots: int = 16, provider: str = "") -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.target, self.provider, self._slots = target, provider, slots
        self.instance, self.sdk = uuid.uuid4().hex, f"python/{__version__}"
        self.offers = [self.tools[name].offer for name in sorted(self.tools)]
        hello = host_pb2.Hello(offers=self.offers).SerializeToString(deterministic=True)
        self.catalogue_id = hashlib.sha256(hello).hexdigest()
        self.threads = ThreadPoolExecutor(256, "toolwire")
        self.lates: dict[str, Late] = {}
        self._sites: dict[str, Site] = {}
        self._leaving: list[Site] = []
        self._joined: asyncio.Future[host_pb2.Welcome] = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.ensure_future(self._keep())
        self._verdicts: set[str] = set()
        self._lost = -math.inf
        # Why no calls come, as the log says: `lost` or `displaced`.
        self._outage = ""
        # Why the last slot was lost, or not opened.
        self.trouble: Refused | None = None

    async def join(self) -> host_pb2.Welcome:
        """Waits for the first welcome. Raises `Refused` if the server will not have this host."""
        return await asyncio.shield(self._joined)

    async def leave(self, grace: float) -> None:
        """Takes no more calls, and ends those under way that outlast the grace."""
        self._keeper.cancel()
        self._spread(set())
        slots = {slot: task for site in self._leaving for slot, task in site.slots.items()}
        if slots:
            await asyncio.wait(slots.values(), timeout=grace)
            if sum(slot.cancel() for slot in slots):
                await asyncio.wait(slots.values(), timeout=1.0)
            for slot in slots:
                slot.abort()
            await asyncio.wait(slots.values(), timeout=1.0)
        for site in self._leaving:
            await site.close()
        self.threads.shutdown(wait=False, cancel_futures=True)

    def welcomed(self, welcome: host_pb2.Welcome) -> None:
        """Logs the verdicts, which come on every slot, once."""
        if not self._joined.done():
            self._joined.set_result(welcome)
        # None of a version that is not in service.
        if self._outage and welcome.accepted:
            self._outage = ""
            log.warning("the tools of this program are served again at %s", self.target.url)
        for verdict in welcome.verdicts:
            problems = "; ".join(f"{it.pointer} {it.description}".strip() for it in verdict.problems)
            if (said := f"{verdict.tool}: {problems}") not in self._verdicts:
                self._verdicts.add(said)
                if verdict.state == host_pb2.VERDICT_STATE_REFUSED:
                    log.error("refused: %s", said)
                else:
                    log.warning("%s", said)

    def lost(self, error: Refused) -> None:
        """A slot was lost, or not opened. All are at once, and one line of the log is enough."""
        self.trouble = error
        if not self._joined.done() and error.code in FATAL:
            self._joined.set_exception(error)
            return
        now = time.monotonic()
        if now > self._lost + LOG_EVERY:
            self._lost = now
            self._outage = "lost"
            log.warning("no connection to %s, trying again: %s", self.target.url, error)

    def displaced(self) -> None:
        """Slots are asked to leave until this version is in service again."""
        if self._outage != "displaced":
            self._outage, provider = "displaced", self._joined.result().provider
            log.warning("another version of %s's tools is in service; this program waits", provider or "this host")

    async def keep_late(self, outcome: host_pb2.Outcome) -> None:
        self.lates[outcome.call_id] = Late(outcome)
        await self.send_lates()

    async def send_lates(self) -> None:
        """Sends each end of a lost call on one open stream of each address, unless it is under way there."""
        now = time.monotonic()
        self.lates = {call: late for call, late in self.lates.items() if late.expires > now}
        for late in [*self.lates.values()]:
            for site in [*self._sites.values()]:
                stream = next((it.stream for it in site.slots if it.stream and it.stream.is_open), None)
                sent = late.sent.get(site.address)
                if stream and not (sent and sent.is_open):
                    late.sent[site.address] = stream
                    await stream.write(host_pb2.WorkRequest(late=host_pb2.Late(outcome=late.outcome)))

    async def _keep(self) -> None:
        """Looks at the addresses of the name, and at streams on which nothing comes."""
        resolved = -math.inf
        while True:
            if time.monotonic() - resolved >= RESOLVE_EVERY or not self._sites:
                resolved = time.monotonic()
                try:
                    self._spread(await self.target.addresses())
                except OSError as error:
                    log.warning("%s is not found: %s", self.target.host, error)
            await asyncio.sleep(TICK if self._sites else 1.0)
            for site in [*self._sites.values(), *self._leaving]:
                for stream in [slot.stream for slot in site.slots if slot.stream]:
                    stream.tick()
            for site in [site for site in self._leaving if not site.slots]:
                self._leaving.remove(site)
                await site.close()

    def _spread(self, addresses: set[str]) -> None:
        """Slots at every address, at least one each."""
        for gone in self._sites.keys() - addresses:
            self._leaving.append(self._sites.pop(gone))
            self._leaving[-1].open(0)
        for address in addresses:
            if address not in self._sites:
                self._sites[address] = Site(self, address)
            self._sites[address].open(math.ceil(self._slots / len(addresses)))
