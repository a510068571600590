"""A host: a process that carries out calls of its tools for a server."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import itertools
import math
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import grpc.aio

from toolwire._call import last_resort
from toolwire._fork import keep_from_children, let_go, sockets_to
from toolwire._log import log, log_error
from toolwire._loop import ToolLoop
from toolwire._slot import FATAL, TICK, Slot, Stream, wait
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import result_pb2
from toolwire._target import Target
from toolwire._threads import Threads
from toolwire._tool import Tool
from toolwire._version import __version__
from toolwire.errors import Refused

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
    is_short: bool = False


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

    def _ended(self, slot: Slot, task: asyncio.Task[None]) -> None:
        del self.slots[slot]
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error and slot.is_wanted:
            log_error(error, "a slot ended, and is opened again")
            self.open(1 + sum(other.is_wanted for other in self.slots))

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
        self.threads, self.tool_loop = Threads("toolwire"), ToolLoop("toolwire-loop")
        self._release = keep_from_children(self._give_up)
        self.lates: dict[str, Late] = {}
        self._sites: dict[str, Site] = {}
        self._leaving: list[Site] = []
        self._joined: asyncio.Future[host_pb2.Welcome] = asyncio.get_running_loop().create_future()
        self._is_leaving = False
        self._keeper = self._start_keeper()
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
        self._is_leaving = True
        self._keeper.cancel()
        self._spread(set())
        slots = {slot: task for site in self._leaving for slot, task in site.slots.items()}
        if slots:
            await asyncio.wait(slots.values(), timeout=grace)
            if cut := sum(slot.cancel() for slot in slots):
                log.warning("%d call%s outlasted the %g s at the end", cut, "" if cut == 1 else "s", grace)
                await asyncio.wait(slots.values(), timeout=1.0)
                await asyncio.wait([asyncio.create_task(slot.give_up()) for slot in slots], timeout=1.0)
                await asyncio.wait(slots.values(), timeout=1.0)
            for slot in slots:
                slot.abort()
            await asyncio.wait(slots.values(), timeout=1.0)
        for site in self._leaving:
            await site.close()
        self.threads.shutdown()
        await self.tool_loop.close()
        self._release()

    def _give_up(self) -> None:
        """In a child process: its copies of the connections would keep them open after the end of this one."""
        addresses = [site.address for site in (*self._sites.values(), *self._leaving)]
        # Of targets such as ipv4:127.0.0.1:50051 and ipv6:[::1]:50051.
        split = [address.partition(":")[2].rpartition(":") for address in addresses]
        let_go(sockets_to({(host.strip("[]"), int(port)) for host, _, port in split}))
        self.tool_loop.end_child()

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

    def refused(self, stream: Stream | None, own: host_pb2.Outcome | None, why: Refused) -> bool:
        """The server ended a stream for what was sent on it. The largest end of a write there, which may be the last
        outcome of the slot, is not sent again as it is. Returns whether it was that.
        """
        lates = [late for late in self.lates.values() if stream in late.sent.values()]
        largest = max(lates, key=lambda late: late.outcome.ByteSize(), default=None)
        if own and not (largest and largest.outcome.ByteSize() > own.ByteSize()):
            self.lates[own.call_id] = Late(_short(own, why), is_short=True)
            return True
        if largest and largest.is_short:
            # Nothing less can be said.
            log.error("the server does not take the end of call %s: %s", largest.outcome.call_id, why)
            del self.lates[largest.outcome.call_id]
        elif largest:
            largest.outcome, largest.is_short = _short(largest.outcome, why), True
        return False

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

    def _start_keeper(self) -> asyncio.Task[None]:
        keeper = asyncio.get_running_loop().create_task(self._keep())
        keeper.add_done_callback(self._keeper_ended)
        return keeper

    def _keeper_ended(self, keeper: asyncio.Task[None]) -> None:
        """Begins again what never ends by itself."""
        if not self._is_leaving and not keeper.get_loop().is_closed():
            error = asyncio.CancelledError() if keeper.cancelled() else keeper.exception()
            log_error(error or RuntimeError("it returned"), "the task that keeps the slots ended, and is begun again")
            keeper.get_loop().call_later(min(TICK, 1.0), self._keep_again)

    def _keep_again(self) -> None:
        if not self._is_leaving:
            self._keeper = self._start_keeper()

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


def _short(outcome: host_pb2.Outcome, why: Refused) -> host_pb2.Outcome:
    """What remains of an outcome that the server refused: that, and how the call ended."""
    log.error("the server does not take the outcome of call %s: %s", outcome.call_id, why)
    if outcome.HasField("error"):
        return last_resort(outcome.call_id, outcome.error.code, "The call failed; the server did not take its error.")
    code = result_pb2.TOOL_ERROR_CODE_PARSE_ERROR
    return last_resort(outcome.call_id, code, "The write was done. The server did not take its result.")
