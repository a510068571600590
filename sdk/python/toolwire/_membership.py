"""Whether a server has a host: its welcome, its verdicts and its outages, each of which the log has once."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping

from toolwire._log import log
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._tool import Tool
from toolwire.errors import Refused, refusal

# Between two lines of the log on lost slots, in seconds.
LOG_EVERY = 10.0
# The rule that an offer breaks whose name another provider has, and its words within an error.
TAKEN, TAKEN_WORDS = "owned-by-another", "is already registered (by the provider"
TAKEN_HINT = (
    "a provider keeps the names of its tools for 10 minutes after its programs have ended. Give the tools other names, "
    "or once that provider has none of them start this program again, or save its file under `toolwire dev`"
)
# Ends of a first greeting that no repeat changes.
FATAL = {"UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT", "UNIMPLEMENTED"}


class Membership:
    """That of one host."""

    def __init__(self, url: str, tools: Mapping[str, Tool]) -> None:
        self.joined: asyncio.Future[host_pb2.Welcome] = asyncio.get_running_loop().create_future()
        # Why the last slot was lost, or not opened.
        self.trouble: Refused | None = None
        self._url, self._tools = url, tools
        self._verdicts: set[str] = set()
        # When the log said last that slots were lost.
        self._lost = -math.inf
        # Why no calls come, as the log says: `lost`, `displaced` or `held`.
        self._outage = ""

    async def join(self) -> host_pb2.Welcome:
        """Waits for the first welcome. Raises Refused, with the places of the functions that it speaks of.

        That of a wrong `approve_unless` is raised too: a program that went on would lack the tool that it guards.
        """
        try:
            welcome = await asyncio.shield(self.joined)
        except Refused as refused:
            if not (named := [tool for name, tool in self._tools.items() if f"{name}: /" in refused.message]):
                raise
            places = ", ".join(f"{tool.name} ({tool.place})" for tool in named[:10])
            hint = f". {TAKEN_HINT[0].upper()}{TAKEN_HINT[1:]}" if TAKEN_WORDS in refused.message else ""
            message = f"{refused.message}. Of these are {places}{hint}"
            raise refusal(refused.status, message, refused.reason, refused.retry_after) from None
        refusals = [it for it in welcome.verdicts if it.state == host_pb2.VERDICT_STATE_REFUSED]
        for tool, problem in ((self._tools.get(it.tool), problem) for it in refusals for problem in it.problems):
            _, of_conditions, argument = problem.pointer.partition("/approve_unless")
            if tool and of_conditions:
                name = argument.strip("/") or "all of it"
                text = f"@tool of {tool.name}: approve_unless: {name}: {problem.description} ({tool.place})"
                raise refusal("FAILED_PRECONDITION", text, "CONDITION_REFUSED")
        return welcome

    def record_welcome(self, welcome: host_pb2.Welcome) -> None:
        """A slot was welcomed, with the verdicts on all tools."""
        if not self.joined.done():
            self.joined.set_result(welcome)
        # None of a version that is not in service.
        if self._outage and welcome.accepted:
            self._outage = ""
            log.warning("the tools of this program are served again at %s", self._url)
        is_name_taken = False
        for verdict in welcome.verdicts:
            problems = "; ".join(f"{it.pointer} {it.description}".strip() for it in verdict.problems)
            tool = self._tools.get(verdict.tool)
            line = f"{verdict.tool}: {problems}{f' ({tool.place})' if tool else ''}"
            if line not in self._verdicts:
                self._verdicts.add(line)
                if verdict.state == host_pb2.VERDICT_STATE_REFUSED:
                    log.error("refused: %s", line)
                    is_name_taken |= any(it.rule == TAKEN for it in verdict.problems)
                else:
                    log.warning("%s", line)
        if is_name_taken:
            log.error("%s", TAKEN_HINT)

    def record_loss(self, error: Refused) -> None:
        """A slot was lost, or not opened. All are at once, and one line of the log is enough."""
        self.trouble = error
        is_final = error.status in FATAL or (error.status == "UNAVAILABLE" and not error.retryable)
        if not self.joined.done() and is_final:
            self.joined.set_exception(error)
        if self.joined.done() and self.joined.exception():
            # Of one whose host does not try again.
            return
        if error.reason == "PROVIDER_HELD":
            # Another program has taken the name meanwhile.
            if self._outage != "held":
                self._outage = "held"
                log.warning("the tools of this program are not served at %s, and it waits: %s", self._url, error)
            return
        now = time.monotonic()
        if now > self._lost + LOG_EVERY:
            self._lost = now
            self._outage = "lost"
            log.warning("no connection to %s, trying again: %s", self._url, error)

    def record_displacement(self) -> None:
        """Slots are asked to leave until this version is in service again."""
        if self._outage != "displaced":
            self._outage, provider = "displaced", self.joined.result().provider
            log.warning("another version of %s's tools is in service; this program waits", provider or "this host")
