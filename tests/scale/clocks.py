"""Nothing ends early by a replica whose clock is wrong: it is set at run time while users write at two replicas.

The clock of one replica is libfaketime's: set by a second, by 11 minutes and by 25 hours, both ways, and left wrong while
users go on writing at both; in some rounds the replica is stopped instead, and continued. Meanwhile the other replica
has a write that was made before, an open confirmation, and a task of an hour with a lease: a repeat of the write has the
same outcome, and the rest stays as it was. The clock is then set right, and the replica serves again.
"""

import collections
import os
import signal
import threading
import time
import uuid

import grpc
from google.protobuf import duration_pb2

from replicas import APPROVER, USERS, World
from rows import Row, none_of, until
from toolwire.tasks.v1 import task_pb2, task_service_pb2 as tasks_pb
from toolwire.v1 import confirmation_pb2, confirmation_service_pb2 as confirmations_pb, tool_service_pb2 as pb
from writes import UNKNOWN, Writer, verify

WRITERS = 4
RIGHT = "+0"
# What is done to the replica in the rounds, again and again.
WRONG = ["+1s", "-1s", "+11m", "-11m", "+25h", "-25h"]
STOPPED = "stopped"
# How long a clock stays wrong, and a replica stopped: the sweeps look each second, and libfaketime at its file.
STAYS = 4
# With such a difference to the database's clock nothing begins.
REFUSED = {"+11m", "-11m", "+25h", "-25h"}
LEASE = 30


class Clock:
    """The clock of a replica, which a file sets."""

    def __init__(self, folder):
        self.file = folder / "faketime"
        self.set(RIGHT)
        self.environment = {
            "LD_PRELOAD": os.environ["TOOLWIRE_TEST_FAKETIME"],
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_CACHE_DURATION": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, offset):
        # In place of it, so that none reads half of it.
        new = self.file.with_suffix(".new")
        new.write_text(f"{offset}\n")
        new.rename(self.file)


class Round:
    """What may not end early, begun at the replica whose clock is right."""

    def __init__(self, right, wrong):
        self.right, self.wrong, self.began = right, wrong, time.monotonic()
        self.write = self.new("debug_write")
        self.written = right.ask(right.tools.CallTool, self.write).result.data
        self.confirm = self.new("debug_confirm")
        asked = right.ask(right.tools.CallTool, self.confirm)
        self.confirmation = asked.confirmation_required.confirmation_id
        role = f"worker{uuid.uuid4().hex[:8]}"
        hour = duration_pb2.Duration(seconds=3600)
        create = tasks_pb.CreateTaskRequest(request="Wait", role=role, timeout=hour, request_id=str(uuid.uuid4()))
        self.task = right.ask(right.tasks.CreateTask, create).task.task_id
        self.wish = dict(any_of=tasks_pb.Roles(roles=[role]), duration=duration_pb2.Duration(seconds=LEASE))
        leased = right.ask(right.tasks.LeaseTask, tasks_pb.LeaseTaskRequest(holder="first", **self.wish))
        self.token = leased.task.lease.token
        assert self.written and self.confirmation and leased.task.task_id == self.task, (asked, leased)

    @staticmethod
    def new(tool):
        return pb.CallToolRequest(tool=tool, arguments_json='{"value": "x"}', request_id=str(uuid.uuid4()))

    def writes_at_the_wrong_one(self):
        """The codes with which some new writes end there."""
        codes = collections.Counter()
        for _ in range(10):
            try:
                result = self.wrong.ask(self.wrong.tools.CallTool, self.new("debug_write"), timeout=5).result
                codes["OK" if result.HasField("data") else "error"] += 1
            except grpc.RpcError as error:
                codes[error.code().name] += 1
        return codes

    def taken_by_others(self):
        """Who else got the lease of the first, at either replica."""
        if time.monotonic() - self.began > LEASE - 5:
            return
        for client in (self.right, self.wrong):
            try:
                other = client.ask(client.tasks.LeaseTask, tasks_pb.LeaseTaskRequest(holder="other", **self.wish))
            except grpc.RpcError:
                continue
            if other.HasField("task"):
                yield f"{self.task}: the lease of the first was given to another"

    def ended_early(self):
        again = self.right.ask(self.right.tools.CallTool, self.write).result
        if again.data != self.written:
            yield f"{self.write.request_id}: was {self.written}, and is {again}"
        get = confirmations_pb.GetConfirmationRequest(confirmation_id=self.confirmation)
        state = self.right.ask(self.right.confirmations.GetConfirmation, get).confirmation.state
        if state != confirmation_pb2.CONFIRMATION_STATE_PENDING:
            yield f"{self.confirmation}: {confirmation_pb2.ConfirmationState.Name(state)}"
        task = self.right.ask(self.right.tasks.GetTask, tasks_pb.GetTaskRequest(task_id=self.task)).task
        if task.state != task_pb2.TASK_STATE_RUNNING:
            yield f"{self.task}: {task_pb2.TaskState.Name(task.state)}"

    def end(self):
        """Leaves room for the next rounds."""
        self.right.ask(self.right.tools.CancelCall, pb.CancelCallRequest(request_id=self.confirm.request_id))
        self.right.ask(self.right.tasks.CancelTask, tasks_pb.CancelTaskRequest(task_id=self.task, reason="over"))


def serves(client):
    """Whether new writes succeed at a replica again."""
    try:
        result = client.ask(client.tools.CallTool, Round.new("debug_write"), timeout=5).result
        return result.HasField("data")
    except grpc.RpcError:
        return False


def run(binary, short):
    rounds = [*WRONG, STOPPED] if short else [*WRONG * 5, *[STOPPED] * 5]
    with World(binary, count=2, clock_of_last=Clock) as world:
        world.start_host(0, 1)
        stopping, began = threading.Event(), time.monotonic()
        writers = [Writer(world, number, stopping) for number in range(WRITERS)]
        right, wrong = world.clients(USERS[WRITERS])
        early, lenient, back, codes = [], [], [], collections.defaultdict(collections.Counter)
        for how in rounds:
            one = Round(right, wrong)
            if how == STOPPED:
                world.replicas[1].process.send_signal(signal.SIGSTOP)
                time.sleep(STAYS)
                world.replicas[1].process.send_signal(signal.SIGCONT)
            else:
                world.clock.set(how)
                time.sleep(STAYS)
            seen = one.writes_at_the_wrong_one()
            codes[how] += seen
            if how in REFUSED and (seen["OK"] or seen["error"]):
                lenient.append(f"{how}: {dict(seen)}")
            early += [f"{how}: {it}" for it in (*one.taken_by_others(), *one.ended_early())]
            world.clock.set(RIGHT)
            set_at = time.monotonic()
            until(lambda: serves(wrong), limit=20)
            back.append(time.monotonic() - set_at)
            early += [f"{how}, later: {it}" for it in one.ended_early()]
            one.end()
        stopping.set()
        for writer in writers:
            writer.join()
        yield Row("rounds", "", f"{len(rounds)}, in {time.monotonic() - began:.0f} s: {', '.join(dict.fromkeys(rounds))}")
        shown = "; ".join(f"{how} {dict(seen)}" for how, seen in codes.items())
        yield Row("new writes at the replica that is wrong", "", shown)
        yield Row("until it serves again", "", f"{max(back):.1f} s at most")
        yield none_of("ended, expired or given away early", early, len(rounds))
        yield none_of("rounds in which it began something all the same", lenient, sum(how in REFUSED for how in rounds))
        yield from of_writers(world, writers)


def of_writers(world, writers):
    told = {request_id: it for writer in writers for request_id, it in writer.told.items()}
    done = collections.Counter(world.effects.read_text().split())
    acknowledged = [it for it, (_, result) in told.items() if not result.HasField("error")]
    unknown = sum(result.HasField("error") and result.error.code == UNKNOWN for _, result in told.values())
    yield Row("writes", "", f"{len(told):,}, {unknown} of them OUTCOME_UNKNOWN")
    yield none_of("effects made twice", [it for it, times in done.items() if times > 1], len(done))
    without = [it for it in acknowledged if told[it][0] == "append_line" and not done[it]]
    yield none_of("acknowledged without an effect", without, len(acknowledged))
    yield none_of("acknowledged, then another outcome or none", verify(world, writers), len(acknowledged))
    yield none_of("other failures", [it for writer in writers for it in writer.problems], len(told))
    yield none_of("panics", list(world.problems()), len(world.replicas))
