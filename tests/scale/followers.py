"""A follower loses nothing when it changes its replica, by itself or because that is killed.

Writers say things in a task, and users ask for confirmations and decide on them, through any replica. Followers of the
timeline and of the confirmations take each position once, in order, and go on at another replica after the last one. A
user's positions are among what is theirs, an approver's among all confirmations.
"""

import collections
import random
import threading
import time
import uuid

import grpc

from replicas import APPROVER, USERS, Chaos, World
from rows import Row, none_of, until
from toolwire.tasks.v1 import task_service_pb2 as tasks_pb, timeline_pb2
from toolwire.v1 import confirmation_pb2, confirmation_service_pb2 as confirmations_pb, tool_service_pb2 as pb

WRITERS, FOLLOWERS = 3, 2
DECIDERS = USERS[:2]
USER = DECIDERS[0]
# Of one stream; then the follower goes to another replica, although this one lives.
STAYS = (20, 200)


def confirm():
    return pb.CallToolRequest(tool="debug_confirm", arguments_json='{"value": "x"}', request_id=str(uuid.uuid4()))


class Worker(threading.Thread):
    """Does something over and over at any replica until it is told to stop."""

    def __init__(self, world, user, number, stopping):
        super().__init__(daemon=True)
        self.clients, self.random, self.stopping = world.clients(user), random.Random(number), stopping
        self.problem = None
        self.start()

    def run(self):
        try:
            while not self.stopping.is_set():
                self.work()
        except Exception as problem:  # it is told by the row, and not by a thread that nothing joins
            self.problem = problem

    def ask(self, service, method, message, clients=None):
        """Repeats it at other replicas until it is answered."""
        while True:
            client = self.random.choice(clients or self.clients)
            try:
                return client.ask(getattr(getattr(client, service), method), message)
            except grpc.RpcError as error:
                if error.code().name not in ("UNAVAILABLE", "DEADLINE_EXCEEDED"):
                    raise


class Writer(Worker):
    """Appends messages to a task."""

    def __init__(self, world, number, stopping, task_id):
        self.task_id, self.told = task_id, {}
        super().__init__(world, USER, number, stopping)

    def work(self):
        text = str(uuid.uuid4())
        message = timeline_pb2.Message(role=timeline_pb2.MESSAGE_ROLE_ASSISTANT, text=text)
        append = tasks_pb.AppendMessageRequest(task_id=self.task_id, message=message, request_id=text)
        sequence = self.ask("tasks", "AppendMessage", append).sequence
        assert self.told.setdefault(sequence, text) == text, f"two messages at {sequence}"


class Decider(Worker):
    """Asks for confirmations, on which an approver decides."""

    def __init__(self, world, user, stopping):
        self.told, self.approvers = set(), world.clients(APPROVER)
        super().__init__(world, user, DECIDERS.index(user), stopping)

    def work(self):
        asked = self.ask("tools", "CallTool", confirm()).confirmation_required
        if not asked.confirmation_id:
            return
        self.told.add((asked.confirmation_id, confirmation_pb2.CONFIRMATION_STATE_PENDING))
        deny = confirmations_pb.Deny(reason="It is a test.")
        decide = confirmations_pb.DecideConfirmationRequest(confirmation_id=asked.confirmation_id, deny=deny)
        self.ask("confirmations", "DecideConfirmation", decide, self.approvers)
        self.told.add((asked.confirmation_id, confirmation_pb2.CONFIRMATION_STATE_DENIED))


class Follower(Worker):
    """Takes what comes after the last position that it has, at one replica after the other."""

    def __init__(self, world, user, number, stopping, task_id=None):
        self.user, self.task_id, self.seen, self.streams = user, task_id, [], 0
        super().__init__(world, user, number, stopping)

    def work(self):
        client, stays = self.random.choice(self.clients), self.random.randrange(*STAYS)
        after = self.seen[-1][0] if self.seen else None
        if self.task_id:
            watch = tasks_pb.WatchTimelineRequest(task_id=self.task_id, after_sequence=after)
            service = client.tasks.WatchTimeline
        else:
            watch = confirmations_pb.WatchConfirmationsRequest(after_sequence=after or 0)
            service = client.confirmations.WatchConfirmations
        self.streams += 1
        stream = service(watch, metadata=client.metadata)
        try:
            for event in stream:
                if found := self.position(event):
                    self.seen.append(found)
                    stays -= 1
                if stays <= 0 or self.stopping.is_set():
                    return
        except grpc.RpcError as error:
            if error.code().name != "UNAVAILABLE":
                raise
        finally:
            stream.cancel()

    def position(self, event):
        if self.task_id:
            return (event.entry.sequence, event.entry) if event.HasField("entry") else None
        change = (event.confirmation.confirmation_id, event.confirmation.state)
        return (event.sequence, change) if event.HasField("confirmation") else None


def run(binary, short):
    kills = 10 if short else 50
    with World(binary) as world:
        client, stopping, at_end = world.client(0, USER), threading.Event(), threading.Event()
        create = tasks_pb.CreateTaskRequest(request="Say a lot", request_id=str(uuid.uuid4()))
        task_id = client.ask(client.tasks.CreateTask, create).task.task_id
        writers = [Writer(world, number, stopping, task_id) for number in range(WRITERS)]
        followers = [Follower(world, USER, number, at_end, task_id) for number in range(FOLLOWERS)]
        watchers = [Follower(world, user, number, at_end) for number, user in enumerate((USER, APPROVER))]
        # From a position on nothing is missed; without one a watch begins with what is open.
        client.ask(client.tools.CallTool, confirm())
        until(lambda: all(watcher.seen for watcher in watchers))
        deciders = [Decider(world, user, stopping) for user in DECIDERS]
        chaos = Chaos(world, seed=13)
        for _ in range(kills):
            chaos.kill_replica()
        stopping.set()
        for worker in writers + deciders:
            worker.join()
        whole = timeline(client, task_id)
        complete(followers, whole, watchers, deciders)
        at_end.set()
        # A last event, so that each stream has one to end with.
        end = tasks_pb.EndTaskRequest(task_id=task_id, failed="Enough", request_id=str(uuid.uuid4()))
        client.ask(client.tasks.EndTask, end)
        for stream in followers:
            stream.join(30)
        yield Row("kill -9", "", f"{chaos.killed['replica']} kills of replicas")
        yield from figures(whole, writers, deciders, followers, watchers)


def timeline(client, task_id):
    entries, sequence = [], 0
    while sequence is not None:
        request = tasks_pb.ListTimelineRequest(task_id=task_id, sequence=sequence, page_size=1000)
        page = client.ask(client.tasks.ListTimeline, request)
        entries += page.entries
        sequence = page.next_sequence if page.HasField("next_sequence") else None
    return entries


def visible(watcher, deciders):
    """The changes that a watcher must have seen: their own, or all."""
    seen = deciders if watcher.user == APPROVER else deciders[:1]
    return set().union(*(decider.told for decider in seen))


def complete(followers, whole, watchers, deciders):
    """Waits until all that was written has reached each follower, for 30 s; what has not is told by the rows."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if all(len(it.seen) >= len(whole) for it in followers) and all(
            visible(it, deciders) <= {what for _, what in it.seen} for it in watchers
        ):
            return
        time.sleep(0.1)


def figures(whole, writers, deciders, followers, watchers):
    workers = [*writers, *deciders, *followers, *watchers]
    yield none_of("workers that failed", [f"{it.problem!r:.300}" for it in workers if it.problem], len(workers))
    told = {sequence: text for writer in writers for sequence, text in writer.told.items()}
    lost = [sequence for sequence, text in told.items() if whole[sequence].message.text != text]
    yield none_of("messages acknowledged and lost", lost, len(told))
    texts = collections.Counter(entry.message.text for entry in whole if entry.HasField("message"))
    yield none_of("messages stored twice", [text for text, times in texts.items() if times > 1], len(texts))
    streams = sum(it.streams for it in followers + watchers)
    of = f"{len(followers)} of {len(whole):,} entries and {len(watchers)} of confirmations"
    yield Row("followers", "", f"{of}, {streams} streams")
    wrong = [place for it in followers for place in differences(it.seen, whole)]
    yield none_of("entries missing, doubled or out of order", wrong, len(whole) * len(followers))
    wrong = [
        f"{watcher.user}: {it}"
        for watcher in watchers
        for it in disorder(watcher.seen, visible(watcher, deciders))
    ]
    changes = sum(len(visible(watcher, deciders)) for watcher in watchers)
    yield none_of("confirmations missing, doubled or out of order", wrong, changes)


def differences(seen, whole):
    positions = [sequence for sequence, _ in seen[: len(whole)]]
    if positions != [entry.sequence for entry in whole]:
        yield f"{len(positions)} of {len(whole)}, {positions[:20]}…"
    yield from (entry.sequence for (_, took), entry in zip(seen, whole) if took != entry)


def disorder(seen, changes):
    positions = [sequence for sequence, _ in seen]
    yield from (pair for pair in zip(positions, positions[1:]) if pair[1] <= pair[0])
    took = collections.Counter(what for _, what in seen)
    yield from (what for what, times in took.items() if times > 1)
    for name, state in changes:
        if not took[name, state]:
            others = [(position, it) for position, (of, it) in seen if of == name]
            yield f"{name} is never {state}, of {others}; the last position is {positions[-1]}"
    states = collections.defaultdict(list)
    for _, (name, state) in seen:
        states[name].append(state)
    yield from (name for name, took in states.items() if took != sorted(took))
