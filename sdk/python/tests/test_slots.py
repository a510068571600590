"""What becomes of slots and calls when a stream, the server or the host ends."""

import asyncio
import gc
import subprocess
import time
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.conftest import Attach
from tests.fake import LIMIT, FakeServer, FakeSlot, read_outcome, until
from tests.test_host import WRITE, add, sleep
from toolwire import Context, serve_async
from toolwire._host import Attachment
from toolwire._slot import Slot
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._target import Target
from toolwire._tool import make

pytestmark = pytest.mark.anyio


async def pay(seconds: float, ctx: Context) -> dict[str, bool]:
    await ctx.progress("paying")
    await asyncio.sleep(seconds)
    return {"paid": True}


PAY = (pay, WRITE)


async def begin_call(slot: FakeSlot, tool: str, seconds: float | None = None) -> str:
    """The identifier of a call that runs."""
    call_id = await (slot.start(tool) if seconds is None else slot.start(tool, seconds=seconds))
    await slot.receive("progress")
    return call_id


async def test_an_idle_slot_that_is_to_leave_half_closes_and_is_opened_again(
    server: FakeServer, attach: Attach
) -> None:
    await attach(add)
    slot = await server.slot()
    await slot.leave(retry_after=0.3)
    await slot.wait_closed()
    began = time.monotonic()
    again = await server.slot()
    assert 0.25 < time.monotonic() - began < LIMIT / 2, "after as long as the server says"
    assert await again.call("add", a=1, b=1) == {"sum": 2}


async def test_a_call_after_leave_is_never_begun(server: FakeServer, attach: Attach) -> None:
    host = await attach(PAY)
    slot = await server.slot()
    await slot.leave(retry_after=0)
    await slot.start("pay", seconds=0)
    await server.slot()
    assert slot.inbox.empty()
    assert not host.shared.lates


async def test_a_busy_slot_that_is_to_leave_ends_its_call_first(server: FakeServer, attach: Attach) -> None:
    await attach(PAY)
    slot = await server.slot()
    await begin_call(slot, "pay", 0.2)
    await slot.leave(retry_after=0)
    await asyncio.sleep(0.05)
    assert not slot.half_closed.is_set()
    assert await slot.outcome() == {"paid": True}
    await slot.wait_closed()
    await server.slot()


async def test_a_host_leaves_by_asking_and_carries_out_what_crosses(server: FakeServer, attach: Attach) -> None:
    host = await attach(add, slots=2)
    slots = [await server.slot(), await server.slot()]
    for slot in slots:
        # It knows that it is welcome: it would end at once otherwise.
        await slot.send(ping=host_pb2.Ping())
        await slot.receive("pong")
    leaving = asyncio.ensure_future(host.leave(LIMIT))
    for slot in slots:
        await slot.receive("leaving")
    assert await slots[0].call("add", a=1, b=1) == {"sum": 2}
    assert not any(slot.half_closed.is_set() for slot in slots), "a call may be on its way"
    for slot in slots:
        await slot.leave()
        await slot.wait_closed()
    await asyncio.wait_for(leaving, LIMIT)
    assert len(server.slots) == 2


async def test_a_host_that_leaves_waits_for_its_calls_and_then_ends_them(server: FakeServer, attach: Attach) -> None:
    host = await attach(PAY, sleep, slots=2)
    slots = [await server.slot(), await server.slot()]
    await begin_call(slots[0], "pay", 0.2)
    await begin_call(slots[1], "sleep")
    began = time.monotonic()
    leaving = asyncio.ensure_future(host.leave(0.5))
    for slot in slots:
        await slot.receive("leaving")
        await slot.leave()
    assert await slots[0].outcome() == {"paid": True}
    assert (await slots[1].outcome())[0] == "CANCELLED"
    await asyncio.wait_for(leaving, LIMIT)
    assert 0.45 < time.monotonic() - began < LIMIT / 2


async def test_a_host_leaves_although_no_server_is_there(server: FakeServer, attach: Attach) -> None:
    await server.close()
    host = await attach(add, join=False)
    await asyncio.sleep(0.3)
    await asyncio.wait_for(host.leave(LIMIT), LIMIT / 2)


@pytest.mark.parametrize("code", ["UNAVAILABLE", "CANCELLED", "INTERNAL", "INVALID_ARGUMENT"])
async def test_a_read_whose_slot_is_lost_is_stopped_and_the_slot_comes_back(
    server: FakeServer, attach: Attach, code: str
) -> None:
    stopped = asyncio.Event()

    async def read(ctx: Context) -> None:
        try:
            await ctx.progress("reading")
            await asyncio.sleep(60)
        finally:
            stopped.set()

    host = await attach(read, add)
    slot = await server.slot()
    await begin_call(slot, "read")
    slot.kill(grpc.StatusCode[code])
    await asyncio.wait_for(stopped.wait(), LIMIT)
    again = await server.slot()
    assert await again.call("add", a=1, b=1) == {"sum": 2}
    assert not host.shared.lates


async def test_a_write_whose_slot_is_lost_goes_on_and_its_end_is_said_until_it_is_taken(
    server: FakeServer, attach: Attach
) -> None:
    host = await attach(PAY, slots=2)
    lost, other = await server.slot(), await server.slot()
    call_id = await begin_call(lost, "pay", 0.2)
    lost.kill()
    late = await other.receive("late")
    assert (late.outcome.call_id, read_outcome(late.outcome)) == (call_id, {"paid": True})
    again = await server.slot()
    await asyncio.sleep(0.1)
    assert again.inbox.empty(), "it is under way already"
    other.kill()
    late = await again.receive("late")
    await again.send(late_taken=host_pb2.LateTaken(call_id=late.outcome.call_id))
    await until(lambda: not host.shared.lates)


async def test_the_capacity_is_exact_while_a_write_goes_on(server: FakeServer, attach: Attach) -> None:
    await attach(PAY)
    slot = await server.slot()
    await begin_call(slot, "pay", 0.8)
    slot.kill()
    await asyncio.sleep(0.6)
    assert len(server.slots) == 1, "its only hand is not free"
    again = await server.slot()
    assert read_outcome((await again.receive("late")).outcome) == {"paid": True}


async def test_an_outcome_that_may_not_have_arrived_is_said_again(server: FakeServer, attach: Attach) -> None:
    host = await attach(PAY, add)
    slot = await server.slot()
    await begin_call(slot, "pay", 0)
    slot.kill()
    again = await server.slot()
    late = await again.receive("late")
    await again.send(late_taken=host_pb2.LateTaken(call_id=late.outcome.call_id))
    await begin_call(again, "pay", 0)
    assert await again.outcome() == {"paid": True}
    # The next call shows that the server has the outcome of the last one.
    assert await again.call("add", a=1, b=1) == {"sum": 2}
    again.kill()
    await server.slot()
    await asyncio.sleep(0.05)
    assert not host.shared.lates


async def test_the_end_of_a_lost_write_is_forgotten_in_the_end(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire._lates.LATE_FOR", 0.3)
    host = await attach(PAY, slots=2)
    lost, _ = await server.slot(), await server.slot()
    await begin_call(lost, "pay", 0)
    lost.kill()
    await until(lambda: host.shared.lates)
    await asyncio.sleep(0.4)
    await server.slots[1].leave(retry_after=0)
    await server.count(4)
    await until(lambda: not host.shared.lates)


async def test_a_lost_connection_is_logged_and_that_it_is_back(
    server: FakeServer, attach: Attach, caplog: pytest.LogCaptureFixture
) -> None:
    await attach(add)
    (await server.slot()).kill()
    await until(lambda: len(caplog.records) == 2)
    assert [it.message for it in caplog.records] == [
        f"no connection to {server.url}, trying again: UNAVAILABLE: the test ends it",
        f"the tools of this program are served again at {server.url}",
    ]


async def test_a_version_that_is_displaced_says_so_once_and_that_it_serves_again(
    server: FakeServer, attach: Attach, caplog: pytest.LogCaptureFixture
) -> None:
    await attach(add, slots=2)
    slots = [await server.slot(), await server.slot()]
    for slot in slots:
        # The host has its welcome.
        await slot.call("add", a=1, b=1)
    known = server.catalogues
    server.catalogues = {catalogue: [] for catalogue in known}
    for slot in slots:
        await slot.leave(retry_after=0.05)
    for _ in slots:
        await (await server.slot()).leave(retry_after=0.05)
    waits = "another version of local's tools is in service; this program waits"
    assert [it.message for it in caplog.records] == [waits]
    server.catalogues = known
    assert await (await server.slot()).call("add", a=1, b=1) == {"sum": 2}
    await server.slot()
    again = f"the tools of this program are served again at {server.url}"
    assert [it.message for it in caplog.records] == [waits, again]


async def test_a_program_that_waits_does_not_say_that_it_serves(
    server: FakeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Replaced(dict[str, list[host_pb2.Offer]]):
        def get(self, *_: Any) -> Any:
            return []

    monkeypatch.setattr(server, "catalogues", Replaced())
    serving = asyncio.create_task(serve_async(add, server=server.url))
    said = ""
    while "\n" not in said:
        await asyncio.sleep(0.01)
        said += capsys.readouterr().out
        assert not serving.done(), serving
    assert said == f"toolwire waits at {server.url}: another version of local's tools is in service\n"
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving


async def test_slots_are_back_when_the_server_is(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    await attach(add, slots=16)
    await server.count(16)
    # The one that finds it has the others not wait out their pauses.
    pauses = iter([10 * LIMIT] * 15)
    monkeypatch.setattr("toolwire._slot.random.uniform", lambda *_: next(pauses, 0.1))
    await server.close()
    await asyncio.sleep(1)
    second = await FakeServer(server.port).open()
    await second.count(16)
    assert sum(len(hello.offers) for slot in second.slots for hello in slot.hellos) == 1, "the offers come once"
    assert await second.slots[-1].call("add", a=1, b=1) == {"sum": 2}
    await second.close()


async def test_a_server_on_which_nothing_comes_is_left(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire._host.TICK", 0.05)
    await attach(add)
    await server.slot()
    began = time.monotonic()
    await server.count(2)
    assert 0.3 < time.monotonic() - began < LIMIT / 2
    server.is_silent = True
    for slot in server.slots:
        if not slot.cut.done():
            slot.kill()
    await asyncio.sleep(0.5)
    server.is_silent = False
    await server.count(3)


async def test_a_server_that_pings_is_not_left(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire._host.TICK", 0.05)
    await attach(add)
    slot = await server.slot()
    for _ in range(5):
        await asyncio.sleep(0.2)
        await slot.send(ping=host_pb2.Ping())
        await slot.receive("pong")
    assert len(server.slots) == 1


async def test_a_blocked_loop_is_no_silence_of_the_server(
    server: FakeServer, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire._host.TICK", 0.05)

    await attach(add)
    slot = await server.slot()
    time.sleep(0.8)  # noqa: ASYNC251
    assert await slot.call("add", a=1, b=1) == {"sum": 2}
    assert len(server.slots) == 1


async def test_ninety_slots_share_a_connection(server: FakeServer, attach: Attach) -> None:
    await attach(add, slots=100)
    await server.count(100)
    peers = [slot.peer for slot in server.slots]
    assert sorted(peers.count(peer) for peer in set(peers)) == [10, 90]
    assert set(await asyncio.gather(*(slot.call("echo") for slot in server.slots))) == {
        ("UNAVAILABLE", "The host does not offer echo.")
    }


async def test_slots_stand_at_every_address_of_the_name(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = await FakeServer().open()
    addresses = {f"ipv4:127.0.0.1:{server.port}", f"ipv4:127.0.0.1:{second.port}"}

    async def resolved(_: Target) -> set[str]:
        return addresses

    monkeypatch.setattr(Target, "addresses", resolved)
    monkeypatch.setattr("toolwire._host.RESOLVE_EVERY", 0.1)
    monkeypatch.setattr("toolwire._host.TICK", 0.1)
    host = Attachment([make(add)], Target(server.url), slots=4)
    await asyncio.gather(server.count(2), second.count(2))
    assert (len(server.slots), len(second.slots)) == (2, 2)
    addresses = {f"ipv4:127.0.0.1:{server.port}"}
    for slot in second.slots:
        await slot.receive("leaving")
        await slot.leave()
        await slot.wait_closed()
    await server.count(4)
    addresses = {f"ipv4:127.0.0.1:{server.port}", f"ipv4:127.0.0.1:{second.port}"}
    await second.count(4)
    surplus = [slot for slot in server.slots if not slot.inbox.empty()]
    assert [slot.inbox.get_nowait().WhichOneof("message") for slot in surplus] == ["leaving"] * 2
    leaving = asyncio.ensure_future(host.leave(0.1))
    await asyncio.wait_for(leaving, LIMIT)
    await second.close()


async def test_a_call_that_ends_as_its_slot_is_lost_leaves_nothing_behind(
    server: FakeServer, attach: Attach
) -> None:
    host = await attach(PAY, add)
    for _ in range(20):
        slot = await server.slot()
        await slot.start("pay", seconds=0.001)
        while not (await asyncio.wait_for(slot.inbox.get(), LIMIT)).HasField("progress"):
            pass
        slot.kill()
    slot = await server.slot()
    while host.shared.lates:
        late = await slot.receive("late")
        await slot.send(late_taken=host_pb2.LateTaken(call_id=late.outcome.call_id))
        await asyncio.sleep(0.01)

    def is_alone() -> bool:
        gc.collect()
        return sum(isinstance(it, Slot) for it in gc.get_objects()) == 1

    # The tasks of lost slots end by themselves.
    await until(is_alone)


async def test_the_file_of_its_token_is_read_anew_for_every_stream(
    server: FakeServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "token"
    file.write_text("first\n")
    host = Attachment([make(add)], Target(server.url, token_file=str(file)), slots=1)
    await asyncio.wait_for(host.join(), LIMIT)
    slot = await server.slot()
    assert slot.metadata["authorization"] == "Bearer first"
    assert not slot.hellos[0].program
    # The slot is asked to leave, and its host comes again.
    file.unlink()
    await slot.leave()
    await slot.wait_closed()
    await until(lambda: "cannot be read" in caplog.text)
    file.write_text("second")
    slot = await server.slot()
    assert slot.metadata["authorization"] == "Bearer second"
    assert await slot.call("add", a=1, b=1) == {"sum": 2}
    await host.leave(0)


async def test_a_server_that_speaks_tls_is_known_by_its_name(one_loop: None, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(  # noqa: ASYNC221
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )
    server = await FakeServer(
        credentials=grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])
    ).open()
    host = Attachment([make(add)], Target(f"https://localhost:{server.port}", "secret", str(certificate)), slots=1)
    await asyncio.wait_for(host.join(), LIMIT)
    slot = await server.slot()
    assert slot.metadata["authorization"] == "Bearer secret"
    assert await slot.call("add", a=1, b=1) == {"sum": 2}
    await host.leave(0)
    await server.close()
