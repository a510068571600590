"""The tools of a process at a server: slots at each of its addresses, which carry out calls."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import itertools
import math
import time
import uuid
from collections.abc import Iterable

from toolwire._fork import keep_from_children, let_go, sockets_to
from toolwire._log import log, log_error
from toolwire._loop import ToolLoop
from toolwire._membership import Membership
from toolwire._program import instance_of, program_of
from toolwire._registration import Registration
from toolwire._slot import PROTOCOL, Slot, SlotHost
from toolwire._stream import Address, wait
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import Target
from toolwire._tool import Tool
from toolwire._version import __version__
from toolwire.errors import Refused

# Between two looks at streams on which nothing comes, in seconds.
TICK = 10.0
# Between two looks at the addresses of the server's name, in seconds.
RESOLVE_EVERY = 30.0
# How long a withdrawal may take to be accepted, and to leave, in seconds. The server waits 30 s for offers.
WITHDRAWAL = 5.0


class Site:
    """The slots at an address of the server."""

    def __init__(self, host: SlotHost, address: Address) -> None:
        self.address, self._host = address, host
        self.slots: dict[Slot, asyncio.Task[None]] = {}

    def open(self, count: int) -> None:
        """Has this many slots from now on; what is too many leaves after its call."""
        wanted = [slot for slot in self.slots if slot.is_wanted]
        free = (index for index in itertools.count() if all(slot.index != index for slot in self.slots))
        for _ in range(len(wanted), count):
            slot = Slot(self._host, self.address, next(free))
            self.slots[slot] = asyncio.create_task(slot.run())
            self.slots[slot].add_done_callback(functools.partial(self._reopen, slot))
        for slot in wanted[count:]:
            slot.leave()

    def _reopen(self, slot: Slot, task: asyncio.Task[None]) -> None:
        del self.slots[slot]
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error and slot.is_wanted:
            log_error(error, "a slot ended, and is opened again")
            self.open(1 + sum(other.is_wanted for other in self.slots))


class Attachment:
    """That of a host, from its making on the loop that runs until `leave`.

    replaces: of an edition, the registrations of earlier ones. Their tools are taken out before its own are offered,
        and come back if it leaves before `settle`.
    registration: as whom it joins, in place of `provider`, a new process, and the program of the tools.
    """

    def __init__(
        self, tools: Iterable[Tool], target: Target, *, slots: int = 16, provider: str = "",
        tool_loop: ToolLoop | None = None, replaces: Iterable[Registration] | None = None,
        registration: Registration | None = None,
    ) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.target, self._slots = target, slots
        offers = [self.tools[name].offer for name in sorted(self.tools)]
        catalogue = host_pb2.Hello(offers=offers).SerializeToString(deterministic=True)
        if replaces is not None or registration:
            # Of equal catalogues the server keeps the one that came first in service: the newest is to be another one.
            catalogue += uuid.uuid4().bytes
        self.registration = registration or Registration(
            target, provider, instance_of(self.tools), "" if target.has_token else program_of(self.tools)
        )
        hello = host_pb2.Hello(
            provider=self.registration.provider, instance=self.registration.instance, protocol=PROTOCOL,
            sdk=f"python/{__version__}", catalogue_id=hashlib.sha256(catalogue).hexdigest(),
            program=self.registration.program,
        )
        self.membership = Membership(target.url, self.tools)
        self._replaces, self._withdrawing = [*(replaces or ())], asyncio.Lock()
        self._withdrawals: list[Attachment] = []
        self.shared = SlotHost(
            self.tools, hello, offers, self.membership, tool_loop or ToolLoop("toolwire-loop"),
            prepare=self._withdraw_replaced,
        )
        # Set when calls under way have had their time to end.
        self.hurried = asyncio.Event()
        self._release = keep_from_children(self._give_up)
        self._sites: dict[str, Site] = {}
        self._leaving: list[Site] = []
        self._is_leaving = False
        self._start_keeper()

    async def join(self) -> host_pb2.Welcome:
        """Waits for the first welcome. Raises `Refused` if the server will not have this host."""
        return await self.membership.join()

    async def settle(self) -> None:
        """Its tools are served for good: those that it replaced do not come back."""
        withdrawals, self._withdrawals, self._replaces = self._withdrawals, [], []
        await asyncio.gather(*(it.leave(WITHDRAWAL) for it in withdrawals))

    async def _withdraw_replaced(self) -> None:
        async with self._withdrawing:
            pending, self._replaces = self._replaces, []
            await asyncio.gather(*(self._withdraw(it) for it in pending))

    async def _withdraw(self, registration: Registration) -> None:
        """Takes its tools out until `settle` or `leave`: it has no offers then, and the newest catalogue is served."""
        withdrawal = Attachment((), registration.target, slots=1, registration=registration)
        self._withdrawals.append(withdrawal)
        why = f"the server does not answer within {WITHDRAWAL:g} s"
        try:
            await asyncio.wait_for(withdrawal.join(), WITHDRAWAL)
            return
        except Refused as refused:
            # Such as of a name that another program has taken meanwhile: it has none of these tools there.
            why = refused.message
        except asyncio.TimeoutError:
            pass
        url, name = registration.target.url, registration.name
        log.warning("the tools that this program had as %s at %s are not taken out: %s", name, url, why)

    async def leave(self, grace: float) -> None:
        """Takes no more calls, and ends those under way that outlast the grace."""
        self._is_leaving = True
        self._keeper.cancel()
        self._spread(set())
        slots = {slot: task for site in self._leaving for slot, task in site.slots.items()}
        if slots:
            hurried = asyncio.create_task(wait(self.hurried, grace))
            ends = [hurried, asyncio.create_task(asyncio.wait(slots.values()))]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            for end in ends:
                end.cancel()
            if cut := sum(slot.cancel() for slot in slots):
                log.warning("%d call%s outlasted the %g s at the end", cut, "" if cut == 1 else "s", grace)
                await asyncio.wait(slots.values(), timeout=1.0)
                await asyncio.wait([asyncio.create_task(slot.give_up()) for slot in slots], timeout=1.0)
                await asyncio.wait(slots.values(), timeout=1.0)
            for slot in slots:
                slot.abort()
            await asyncio.wait(slots.values(), timeout=1.0)
        for site in self._leaving:
            await site.address.close()
        if self._withdrawals:
            joined = self.membership.joined
            if not joined.done() or not joined.exception():
                # Else its tools would keep the names of those that come back. The server may serve them before the
                # welcome has come.
                await self._withdraw(self.registration)
            await self.settle()
        self.shared.threads.shutdown()
        await self.shared.tool_loop.close()
        self._release()

    def _give_up(self) -> None:
        """In a child process: its copies of the connections would keep them open after the end of this one."""
        names = [site.address.name for site in (*self._sites.values(), *self._leaving)]
        # Of targets such as ipv4:127.0.0.1:50051 and ipv6:[::1]:50051.
        split = [name.partition(":")[2].rpartition(":") for name in names]
        let_go(sockets_to({(host.strip("[]"), int(port)) for host, _, port in split}))
        self.shared.tool_loop.end_child()

    def _start_keeper(self) -> None:
        if not self._is_leaving:
            self._keeper = asyncio.get_running_loop().create_task(self._keep())
            self._keeper.add_done_callback(self._restart_keeper)

    def _restart_keeper(self, keeper: asyncio.Task[None]) -> None:
        """Begins again what never ends by itself."""
        if not self._is_leaving and not keeper.get_loop().is_closed():
            error = asyncio.CancelledError() if keeper.cancelled() else keeper.exception()
            log_error(error or RuntimeError("it returned"), "the task that keeps the slots ended, and is begun again")
            keeper.get_loop().call_later(min(TICK, 1.0), self._start_keeper)

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
                await site.address.close()

    def _spread(self, names: set[str]) -> None:
        """Slots at every address, at least one each."""
        for gone in self._sites.keys() - names:
            self._leaving.append(self._sites.pop(gone))
            self._leaving[-1].open(0)
        for name in names:
            if name not in self._sites:
                self._sites[name] = Site(self.shared, Address(self.target, name))
            self._sites[name].open(math.ceil(self._slots / len(names)))
