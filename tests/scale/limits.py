"""The limits of a live source hold over all replicas, while PostgreSQL is killed and started again.

Users ask a forum through every replica as fast as they are let. The forum notes when each request arrives, and its
search says whose it is. Between the permit and the arrival a busy machine may take some time, which `SLACK` allows.
"""

import collections
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import grpc

from replicas import USERS, Chaos, World
from rows import Row, none_of
from toolwire.v1 import tool_service_pb2 as pb

SLACK = 0.3
# Requests in a window of so many seconds, and the least between two: of one user, and of all.
USER = {"most": 2, "window": 24, "delay": 4}
ALL = {"most": 4, "window": 2, "delay": 0.45}
SETTINGS = """
[sources]
mode = "embedded,valuepickr=live"

[sources.valuepickr]
base_url = "{url}"
max_requests = {0[most]}
window = "{0[window]}s"
min_delay = "{0[delay]}s"
ceiling_max_requests = {1[most]}
ceiling_window = "{1[window]}s"
ceiling_min_delay = "{1[delay]}s"
"""


class Reader(threading.Thread):
    """A user who asks through one replica after the other until it is told to stop."""

    def __init__(self, world, number, stopping):
        super().__init__(daemon=True)
        self.name, self.clients, self.stopping = USERS[number], world.clients(USERS[number]), stopping
        self.ends = collections.Counter()
        self.start()

    def run(self):
        draws, count = random.Random(self.name), 0
        while not self.stopping.is_set():
            count += 1
            client = draws.choice(self.clients)
            query = f'{{"query": "{self.name} {count}"}}'
            request = pb.CallToolRequest(tool="get_stock_thesis", arguments_json=query)
            try:
                answer = client.ask(client.tools.CallTool, request)
                self.ends["limited" if answer.result.HasField("error") else "answered"] += 1
            except grpc.RpcError as error:
                self.ends[error.code().name] += 1
            time.sleep(0.1)


def broken(arrivals, rule):
    """Where more requests arrive within a window, or two within the spacing, than may."""
    spans = {"window": (rule["most"], rule["window"]), "spacing": (1, rule["delay"])}
    for name, (most, span) in spans.items():
        for first, next_one in zip(arrivals, arrivals[most:]):
            if next_one - first < span - SLACK:
                yield f"{most + 1} within {next_one - first:.3f} s, of a {name} of {span} s"


def least(arrivals, rule):
    gaps = [later - earlier for earlier, later in zip(arrivals, arrivals[1:])]
    windows = [later - earlier for earlier, later in zip(arrivals, arrivals[rule["most"] :])]
    return f"{min(gaps):.3f} s between two, {min(windows):.3f} s for {rule['most'] + 1}" if windows else "too few"


def run(binary, short):
    seconds, kills = (10, 1) if short else (60, 3)
    with tempfile.TemporaryDirectory(prefix="toolwire-scale-notes.") as folder:
        notes = Path(folder) / "notes"
        command = [sys.executable, Path(__file__).parent / "origin.py", notes]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as forum:
            settings = SETTINGS.format(USER, ALL, url=f"http://127.0.0.1:{forum.stdout.readline().strip()}")
            try:
                yield from ask(binary, settings, notes, seconds, kills)
            finally:
                forum.kill()


def ask(binary, settings, notes, seconds, kills):
    with World(binary, settings=settings) as world:
        stopping, chaos = threading.Event(), Chaos(world, seed=11)
        readers = [Reader(world, number, stopping) for number in range(len(USERS))]
        for _ in range(kills):
            time.sleep(seconds / (kills + 1))
            chaos.kill_database()
        time.sleep(seconds / (kills + 1))
        stopping.set()
        for reader in readers:
            reader.join()
        yield from figures(notes, readers, kills)


def figures(notes, readers, kills):
    arrivals, by_user = [], collections.defaultdict(list)
    for at, path in map(str.split, notes.read_text().splitlines()):
        arrivals.append(float(at))
        by_user[parse_qs(urlsplit(path).query)["q"][0].split()[0]].append(float(at))
    ends = sum((reader.ends for reader in readers), collections.Counter())
    seen = f"{len(arrivals)} in {arrivals[-1] - arrivals[0]:.0f} s, of {len(by_user)} users"
    yield Row("requests at the source", "", f"{seen}, {kills} kills of PostgreSQL; calls: {dict(ends)}")
    yield Row("the closest", "", least(arrivals, ALL))
    found = list(broken(arrivals, ALL))
    yield none_of("windows and spacings of all users broken", found, len(arrivals))
    found = [f"{user}: {it}" for user, times in by_user.items() for it in broken(times, USER)]
    yield none_of("windows and spacings of a user broken", found, len(arrivals))
    served = f"{len(by_user)} of {len(readers)}"
    # In a short round the budget of all users is 20 requests, less those that the database was away for.
    yield Row("users whose requests arrived", "≥ 5", served, len(by_user) >= 5)
