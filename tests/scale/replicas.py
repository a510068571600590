"""Replicas of the real program on one PostgreSQL: started, killed, drained, and a program of tools beside them."""

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import grpc

from database import Database, free_port
from toolwire.tasks.v1 import task_service_pb2_grpc
from toolwire.v1 import confirmation_service_pb2_grpc, tool_service_pb2_grpc

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT = 60
USERS = [f"user{number:02}" for number in range(20)]
# May decide on the calls of all.
APPROVER = "approver"
# How soon replicas have recorded what ended while PostgreSQL was away.
RECORDED = 3
HOST_TOKEN = "host-0123456789abcdef0123456789abcdef"
# Each effect of debug_write is a line.
LOGGED = {"TOOLWIRE_LOG_FILTER": "info,toolwire::diagnostics=debug"}
CONFIG = """
[state]
url = "{url}"

[server.drain]
lame_duck = "{lame_duck}"

[providers.scale]
kind = "host"
token_env = "HOST_TOKEN"
tools = ["append_*"]
"""
USER = '\n[[auth.users]]\nuser_id = "{0}"\ntoken = "{0}-0123456789abcdef0123456789abcdef"\n'


def metadata(user):
    """The token of a user; none for somebody who is known otherwise."""
    if user is None:
        return ()
    return (("authorization", f"Bearer {user}-0123456789abcdef0123456789abcdef"),)


class Replica:
    """A process that serves, on addresses that it keeps. Its log goes on in one file."""

    def __init__(self, binary, config, log, environment):
        self.address, self.http = (f"127.0.0.1:{free_port()}" for _ in range(2))
        command = [binary, "serve", "--listen", self.address, "--config", config, "--diagnostics", "--log", "json"]
        command.append(f"--http={self.http}")
        self.command, self.log, self.environment, self.process = command, log, environment, None

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                env=self.environment,
            )
        timer = threading.Timer(START_LIMIT, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        assert line.startswith("toolwire listening on"), f"{line}\n{self.log.read_text()[-3000:]}"

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.communicate()

    def drain(self):
        """Asks it to end, and waits; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        return self.process.returncode


class Client:
    """The services of one address, over a connection of its own."""

    OPTIONS = (
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.min_reconnect_backoff_ms", 500),
        ("grpc.max_reconnect_backoff_ms", 200),
        ("grpc.enable_retries", 0),
        ("grpc.enable_http_proxy", 0),
    )

    def __init__(self, address, user, credentials=None):
        if credentials:
            self.channel = grpc.secure_channel(address, credentials, self.OPTIONS)
        else:
            self.channel = grpc.insecure_channel(address, self.OPTIONS)
        self.metadata = metadata(user)
        self.tools = tool_service_pb2_grpc.ToolServiceStub(self.channel)
        self.confirmations = confirmation_service_pb2_grpc.ConfirmationServiceStub(self.channel)
        self.tasks = task_service_pb2_grpc.TaskServiceStub(self.channel)

    def ask(self, method, message, timeout=20):
        return method(message, timeout=timeout, metadata=self.metadata)

    def close(self):
        self.channel.close()


class World(contextlib.ExitStack):
    """Three replicas, their database, and what they log."""

    def __init__(self, binary, count=3, lame_duck="1s", settings="", clock_of_last=None):
        super().__init__()
        self.folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="toolwire-scale.")))
        self.database = Database()
        self.callback(self.database.close)
        config, self.effects = self.folder / "toolwire.toml", self.folder / "effects"
        text = CONFIG.format(url=self.database.url, lame_duck=lame_duck)
        text += "".join(USER.format(user) for user in USERS) + USER.format(APPROVER) + 'approve = ["*"]\n'
        config.write_text(text + settings)
        self.effects.touch()
        base = {name: value for name, value in os.environ.items() if not name.startswith("TOOLWIRE_")}
        logs = (self.folder / f"replica{number}.log" for number in range(count))
        environment = {**base, "HOST_TOKEN": HOST_TOKEN, **LOGGED}
        self.replicas = [Replica(binary, config, log, environment) for log in logs]
        if clock_of_last:
            self.clock = clock_of_last(self.folder)
            self.replicas[-1].environment = {**environment, **self.clock.environment}
        self.host = None
        self.callback(self.end_host)
        try:
            for replica in self.replicas:
                self.callback(replica.kill)
                replica.start()
        except BaseException:
            self.close()
            raise

    def client(self, replica, user):
        """A client of a replica, by its number."""
        client = Client(self.replicas[replica].address, user)
        self.callback(client.close)
        return client

    def clients(self, user):
        """One of each replica."""
        return [self.client(number, user) for number in range(len(self.replicas))]

    def start_host(self, *replicas):
        """The program of host.py, with slots at these replicas; waits until it serves."""
        addresses = [self.replicas[number].address for number in replicas]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python"), "TOOLWIRE_HOST_TOKEN": HOST_TOKEN}
        with (self.folder / "host.log").open("ab") as log:
            self.host = subprocess.Popen(
                [sys.executable, ROOT / "tests/scale/host.py", self.effects, *addresses],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True, env=environment,
            )
        line = self.host.stdout.readline()
        assert line == "serves\n", (line, (self.folder / "host.log").read_text()[-3000:])

    def end_host(self):
        if self.host:
            self.host.kill()
            self.host.communicate()
            self.host = None

    def written(self):
        """The `request_id` of each write that debug_write has logged, once an effect."""
        lines = (line for replica in self.replicas for line in replica.log.read_text(errors="replace").splitlines())
        return [re.search(r'"request_id":"([^"]+)"', line)[1] for line in lines if '"message":"wrote"' in line]

    def problems(self):
        """Panics, and errors that the replicas have logged."""
        for replica in self.replicas:
            for line in replica.log.read_text(errors="replace").splitlines():
                if "panicked" in line:
                    yield line[:500]


class Chaos:
    """Kills in turn, at random moments, while others work; what is killed is started again at once."""

    def __init__(self, world, seed):
        self.world, self.random = world, random.Random(seed)
        self.killed = {"replica": 0, "PostgreSQL": 0, "host": 0}

    def kill_replica(self):
        time.sleep(self.random.uniform(0.05, 0.3))
        replica = self.random.choice(self.world.replicas)
        replica.kill()
        replica.start()
        self.killed["replica"] += 1

    def kill_database(self):
        time.sleep(self.random.uniform(0.05, 0.3))
        self.world.database.kill()
        time.sleep(self.random.uniform(0, 1))
        self.world.database.start()
        self.killed["PostgreSQL"] += 1
        # What ended meanwhile is recorded; a replica that is killed before has lost it.
        time.sleep(RECORDED)

    def kill_host(self, *replicas):
        time.sleep(self.random.uniform(0.05, 0.3))
        self.world.end_host()
        self.world.start_host(*replicas)
        self.killed["host"] += 1
