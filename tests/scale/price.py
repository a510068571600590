"""What a call costs PostgreSQL, by its own log; and that users on several replicas wait for no lock of each other's.

Statements and commits are those that the log has while calls are made one after the other, less what it has in as long
a time without calls. A wait for a lock of more than 10 ms is a line of the log, too.
"""

import collections
import re
import threading
import time
import uuid

from replicas import USERS, World
from rows import Row
from toolwire.tasks.v1 import task_service_pb2 as tasks_pb, timeline_pb2
from toolwire.v1 import tool_service_pb2 as pb

CALLS, IDLE = 200, 3
# More of those that should cost nothing, so that what the replicas say by themselves is little of it.
FREE_CALLS = 1_000
# What the replicas say by themselves may be more in one second than in another: of one call, so much.
SLACK = 0.2
STATEMENT = re.compile(r"LOG:  (?:statement|execute [^:]*): (.*)")
WAIT = re.compile(r"still waiting for (\w+) on (\S+ ?\S*)")


class Log:
    """The lines that PostgreSQL logs from now on."""

    def __init__(self, database):
        self.path, self.began = database.log, time.monotonic()
        self.place = self.path.stat().st_size

    def end(self):
        """The statements, and the seconds."""
        seconds = time.monotonic() - self.began
        time.sleep(0.3)
        with self.path.open("rb") as log:
            log.seek(self.place)
            return STATEMENT.findall(log.read().decode(errors="replace")), seconds


def count(database, call, calls=CALLS):
    """Statements and commits of one call."""
    call()
    idle = Log(database)
    time.sleep(IDLE)
    idle_statements, idle_seconds = idle.end()
    busy = Log(database)
    for _ in range(calls):
        call()
    statements, seconds = busy.end()

    def of_a_call(pattern):
        found = [len([it for it in of if re.match(pattern, it)]) for of in (statements, idle_statements)]
        return (found[0] - found[1] * seconds / idle_seconds) / calls

    return of_a_call(""), of_a_call("COMMIT")


def prices(world):
    client, database = world.client(0, USERS[0]), world.database

    def call(tool, arguments="{}", keyed=False):
        request_id = str(uuid.uuid4()) if keyed else ""
        request = pb.CallToolRequest(tool=tool, arguments_json=arguments, request_id=request_id)
        assert client.ask(client.tools.CallTool, request).result.HasField("data")

    statements, _ = count(database, lambda: call("debug_stream", '{"count": 1}'), FREE_CALLS)
    yield Row("a call that needs no state", "0 statements", f"{statements:.2f} statements", statements < SLACK)
    statements, commits = count(database, lambda: call("debug_stream", '{"count": 1}', keyed=True))
    seen = f"{commits:.2f} commits, {statements:.2f} statements"
    yield Row("a read with request_id", "≤ 2 commits", seen, commits < 2 + SLACK)
    statements, commits = count(database, lambda: call("debug_write", '{"value": "x"}', keyed=True))
    yield Row("a write", "", f"{commits:.2f} commits, {statements:.2f} statements")
    append = appender(client)
    statements, commits = count(database, append)
    yield Row("a message appended to a task", "", f"{commits:.2f} commits, {statements:.2f} statements")


def appender(client):
    """What appends one message to a task of its own."""
    create = tasks_pb.CreateTaskRequest(request="Say a lot", request_id=str(uuid.uuid4()))
    task_id = client.ask(client.tasks.CreateTask, create).task.task_id

    def append():
        message = timeline_pb2.Message(role=timeline_pb2.MESSAGE_ROLE_ASSISTANT, text="Said.")
        request = tasks_pb.AppendMessageRequest(task_id=task_id, message=message, request_id=str(uuid.uuid4()))
        client.ask(client.tasks.AppendMessage, request)

    return append


def appends(world, replicas, seconds):
    """Appends a second of all users, who are spread over some replicas, each with a task of their own."""
    made, stopping = collections.Counter(), threading.Event()

    def work(number):
        append = appender(world.client(number % replicas, USERS[number]))
        while not stopping.is_set():
            append()
            made[number] += 1

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(len(USERS))]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stopping.set()
    for thread in threads:
        thread.join()
    return made.total() / seconds


def run(binary, short):
    seconds = 3 if short else 20
    with World(binary) as world:
        world.database.set(log_statement="all")
        yield from prices(world)
        world.database.set(log_statement="none", log_lock_waits="on", deadlock_timeout="10ms")
        place = world.database.log.stat().st_size
        rates = [f"{appends(world, count, seconds):,.0f} a second at {count}" for count in (1, 3)]
        yield Row("appends of 20 users, a task each", "", ", ".join(rates) + " replicas, which share the cores")
        with world.database.log.open("rb") as log:
            log.seek(place)
            waits = collections.Counter(it[1] for it in WAIT.findall(log.read().decode(errors="replace")))
        own = [kind for kind in waits if kind.startswith(("advisory", "transaction", "tuple"))]
        yield Row("locks of others waited for, > 10 ms", "0", str(dict(waits)) if waits else "none", not own)
