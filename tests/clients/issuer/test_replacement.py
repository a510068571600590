"""Certificates, their authorities, tokens of users, workloads and rules are replaced under load: no call fails, over
connections that stay open or are new, with what was replaced or what replaced it."""

import hashlib
import itertools
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from authority import Authority, Tls
from faces import FACES, OK, Grpc, Rest
from parties import replace

READ = ("debug_stream", {"count": 1})
# How many calls are made over a connection that is not kept, and the longest wait for a change, in seconds.
CALLS_OF_CONNECTION = 5
LIMIT = 60
# Whether callers are users with a token or workloads with a certificate alone, and whether they keep one connection, which
# shows the certificate of before. A user on new connections shows none.
WAYS = list(itertools.product(["workload", "user"], ["kept", "new"]))
SETTINGS = """
[server.drain]
lame_duck = "0s"

[server.tls]
cert = "{folder}/server.pem"
key = "{folder}/server.key"
client_ca = "{folder}/clients.pem"
client_auth = "optional"

[http]
public_url = "https://{http}"
"""
OLD, NEW = "rileys-old-0123456789abcdef0123456789", "rileys-new-0123456789abcdef0123456789"
AGENT, ANY_AGENT = "/ns/agents/sa/agent", "/ns/*/sa/agent"
# The same rights, said in two ways.
BY_NAME = ['who = ["user:agent"]\ntools = ["debug_*"]']
BY_GROUP = ['who = ["group:agents"]\ntools = ["debug_s*"]', 'who = ["group:agents"]\ntools = ["debug_write"]']


def settings(folder, tokens, workload, rules):
    parts = [SETTINGS.replace("{folder}", str(folder))]
    for token in tokens:
        digest = hashlib.sha256(token.encode()).hexdigest()
        parts.append(f'[[auth.users]]\nuser_id = "riley"\ntoken_sha256 = "{digest}"\ntools = ["debug_*"]\n')
    parts.append(f'[[auth.spiffe]]\nid = "spiffe://example.org{workload}"\nuser = "agent"\ngroups = ["agents"]\n')
    parts += [f"[[auth.rules]]\n{rule}\n" for rule in rules]
    return "\n".join(parts)


def until(happens):
    deadline = time.monotonic() + LIMIT
    while not happens():
        assert time.monotonic() < deadline, f"not within {LIMIT} s"
        time.sleep(0.02)


class Load:
    """Callers over every face and in every way, by the certificates and tokens of the moment."""

    def __init__(self, server, folder):
        self.server, self.stopping = server, threading.Event()
        self.tls = {name: Tls(folder, name) for name in ("old", "new", None)}
        self.certificates, self.tokens = ["old"], [OLD]
        callers = len(FACES) * len(WAYS)
        self.made, self.opened, self.failures = [0] * callers, [0] * callers, []

    def caller(self, number):
        face, (who, how) = FACES[number % len(FACES)], WAYS[number // len(FACES)]
        connection = None
        while not self.stopping.is_set():
            count = self.made[number]
            if not connection or how == "new" and count % CALLS_OF_CONNECTION == 0:
                if connection:
                    connection.close()
                names = [None] if (who, how) == ("user", "new") else self.certificates
                connection = face(self.server, self.tls[names[self.opened[number] % len(names)]])
                self.opened[number] += 1
            tokens = self.tokens if who == "user" else [None]
            outcome = connection.call(tokens[count % len(tokens)], *READ)
            if outcome != (OK, ""):
                self.failures.append((face.__name__, who, how, outcome))
            self.made[number] += 1
        connection.close()

    def use(self, certificates=None, tokens=None):
        """From when it returns, no caller opens a connection or calls with others."""
        self.certificates, self.tokens = certificates or self.certificates, tokens or self.tokens
        before = list(self.made)
        until(lambda: all(now > then for now, then in zip(self.made, before)))

    def outcomes(self, certificate=None, token=None):
        """How calls over new connections to both ports end."""
        connections = [face(self.server, self.tls[certificate]) for face in (Grpc, Rest)]
        outcomes = [connection.call(token, *READ) for connection in connections]
        for connection in connections:
            connection.close()
        return outcomes

    def run(self, changes, wanted):
        """Runs so many calls with these changes evenly spread among them."""
        with ThreadPoolExecutor(len(self.made)) as pool:
            callers = [pool.submit(self.caller, number) for number in range(len(self.made))]
            try:
                for number, change in enumerate([*changes, lambda: None]):
                    until(lambda: sum(self.made) >= wanted * (number + 1) / (len(changes) + 1))
                    change()
            finally:
                self.stopping.set()
            for caller in callers:
                caller.result()


@pytest.fixture
def folder(tmp_path):
    first, second = Authority(tmp_path), Authority(tmp_path, "second")
    first.sign("server", "/ns/tools/sa/toolwire")
    first.sign("renewed", "/ns/tools/sa/toolwire")
    first.sign("old", AGENT)
    second.sign("new", AGENT)
    replace(tmp_path / "clients.pem", (tmp_path / "ca.pem").read_text())
    return tmp_path


def test_no_call_fails_while_certificates_tokens_and_rules_are_replaced(request, start, folder, record_property):
    server = start["configured"](settings(folder, [OLD], AGENT, BY_NAME), folder)
    load, wanted = Load(server, folder), request.config.getoption("--calls")
    first, second, renewed = ((folder / f"{name}.pem").read_text() for name in ("ca", "second", "renewed"))
    fine, ports = [(OK, "")] * 2, [tuple(address.split(":")) for address in (server.address, server.http)]

    def configure(*parts):
        seen = server.log.read_text().count("those of the settings now")
        server.configure(settings(folder, *parts))
        until(lambda: server.log.read_text().count("those of the settings now") > seen)

    def add_authority():
        replace(folder / "clients.pem", first + second)
        until(lambda: load.outcomes("new") == fine)
        load.use(certificates=["old", "new"])

    def renew_certificate():
        # One after the other, so that they do not fit together for a moment.
        replace(folder / "server.pem", renewed)
        replace(folder / "server.key", (folder / "renewed.key").read_text())
        until(lambda: all(ssl.get_server_certificate(port) == renewed for port in ports))

    def add_token():
        configure([OLD, NEW], AGENT, BY_NAME)
        load.use(tokens=[OLD, NEW])

    def change_workload_and_rules():
        configure([OLD, NEW], ANY_AGENT, BY_GROUP)

    def remove_authority():
        load.use(certificates=["new"])
        replace(folder / "clients.pem", second)
        until(lambda: all(outcome[0] != OK for outcome in load.outcomes("old")))

    def remove_token():
        load.use(tokens=[NEW])
        configure([NEW], ANY_AGENT, BY_GROUP)
        assert [status for status, _ in load.outcomes(token=OLD)] == ["UNAUTHENTICATED", "401"]

    changes = [add_authority, renew_certificate, add_token, change_workload_and_rules, remove_authority, remove_token]
    began = time.monotonic()
    load.run(changes, wanted)
    made, opened, seconds = sum(load.made), sum(load.opened), time.monotonic() - began
    replaced = "certificates, authorities, tokens, workloads and rules were replaced"
    figure = f"{made} calls over {opened} connections in {seconds:.1f} s while {replaced}: {len(load.failures)} failed"
    record_property("figure", figure)
    assert made >= wanted and opened > 2 * len(load.made)
    assert not load.failures, f"{figure}: {load.failures[:5]}"
