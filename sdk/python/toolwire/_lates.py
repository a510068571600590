"""The ends of writes whose slots were lost, until the server has them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from toolwire._call import last_resort
from toolwire._log import log
from toolwire._stream import Stream
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import result_pb2
from toolwire.errors import Refused

# How long the server has a use for the end of a lost call, in seconds.
LATE_FOR = 600.0


@dataclass
class Late:
    """The end of a write whose slot was lost."""

    outcome: host_pb2.Outcome
    expires: float = field(default_factory=lambda: time.monotonic() + LATE_FOR)
    # The stream that it was sent on, at each address.
    sent: dict[str, Stream] = field(default_factory=dict)
    is_short: bool = False


class Lates:
    """Those of a host. Each is sent on one open stream of each address."""

    def __init__(self) -> None:
        self._lates: dict[str, Late] = {}
        self._streams: list[Stream] = []

    def __len__(self) -> int:
        return len(self._lates)

    async def send_on(self, stream: Stream) -> None:
        """Uses a stream that was opened, until `forget`."""
        self._streams.append(stream)
        await self._send()

    def forget(self, stream: Stream) -> None:
        if stream in self._streams:
            self._streams.remove(stream)

    async def keep(self, outcome: host_pb2.Outcome) -> None:
        self._lates[outcome.call_id] = Late(outcome)
        await self._send()

    def remove(self, call_id: str) -> None:
        """The server has it."""
        self._lates.pop(call_id, None)

    def shorten(self, stream: Stream | None, own: host_pb2.Outcome | None, why: Refused) -> bool:
        """The server ended a stream for what was sent on it. The largest end of a write there, which may be the last
        outcome of the slot, is not sent again as it is. Returns whether it was that.
        """
        lates = [late for late in self._lates.values() if stream in late.sent.values()]
        largest = max(lates, key=lambda late: late.outcome.ByteSize(), default=None)
        if own and not (largest and largest.outcome.ByteSize() > own.ByteSize()):
            self._lates[own.call_id] = Late(_short(own, why), is_short=True)
            return True
        if largest and largest.is_short:
            # Nothing less can be said.
            log.error("the server does not take the end of call %s: %s", largest.outcome.call_id, why)
            self.remove(largest.outcome.call_id)
        elif largest:
            largest.outcome, largest.is_short = _short(largest.outcome, why), True
        return False

    async def _send(self) -> None:
        now = time.monotonic()
        self._lates = {call: late for call, late in self._lates.items() if late.expires > now}
        for late in [*self._lates.values()]:
            for stream in [*self._streams]:
                sent = late.sent.get(stream.address)
                if stream.is_open and not (sent and sent.is_open):
                    late.sent[stream.address] = stream
                    await stream.write(host_pb2.WorkRequest(late=host_pb2.Late(outcome=late.outcome)))


def _short(outcome: host_pb2.Outcome, why: Refused) -> host_pb2.Outcome:
    """What remains of an outcome that the server refused: that, and how the call ended."""
    log.error("the server does not take the outcome of call %s: %s", outcome.call_id, why)
    if outcome.HasField("error"):
        return last_resort(outcome.call_id, outcome.error.code, "The call failed; the server did not take its error.")
    code = result_pb2.TOOL_ERROR_CODE_PARSE_ERROR
    return last_resort(outcome.call_id, code, "The write was done. The server did not take its result.")
