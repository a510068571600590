"""Attacks by large answers over HTTP, in the form of attacks.py: one user asks for much, again and again, and another must
not wait for it. Which routes answer with much is found by asking every GET route of the server's own description."""

import json
import re
import socket
import time
import urllib.parse
import uuid

from server import token
from web import ATTACKER, MALLORY, close, connect, during, send
from wire import tcp

LARGE = 64 * 1024
PIPELINED, WATCHES = 64, 500
# So much longer than in peace another user's call may take.
MOST_TIMES_CALM = 5
ASKED = b"GET %s HTTP/1.1\r\nhost: x\r\nauthorization: Bearer " + MALLORY + b"\r\n\r\n"
# What is there to be listed.
WRITES, DOCUMENTS, ENTRIES, TASKS = 400, 200, 300, 90


class Client:
    """One connection that asks and reads."""

    def __init__(self, server):
        self.stream = tcp(server.http, ATTACKER)
        self.file = self.stream.makefile("rb")

    def begin(self, method, path, body=b"", *headers):
        lines = [f"{method} {path} HTTP/1.1", "host: x", f"authorization: Bearer {token('mallory')}"]
        lines += [f"idempotency-key: {uuid.uuid4()}", f"content-length: {len(body)}", *headers, "", ""]
        self.stream.sendall("\r\n".join(lines).encode() + body)

    def end(self):
        """The status, and the body."""
        status = int(self.file.readline().split()[1])
        headers = {}
        while (line := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if b"content-length" in headers:
            return status, self.file.read(int(headers[b"content-length"]))
        body = b""
        while length := int(self.file.readline(), 16):
            body += self.file.read(length + 2)[:-2]
        self.file.readline()
        return status, body

    def ask(self, method, path, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.begin(method, path, body, *(["content-type: application/json"] if body else []))
        return self.end()

    def many(self, count, one):
        """So many requests, some of them on their way at once."""
        for first in range(0, count, PIPELINED):
            numbers = range(first, min(count, first + PIPELINED))
            for number in numbers:
                one(number)
            for _ in numbers:
                status, body = self.end()
                assert status == 200, (status, body[:300])


def fill(server):
    """Makes what can be listed; the values of parameters of paths."""
    client, as_json = Client(server), "content-type: application/json"
    status, body = client.ask("POST", "/v1/tasks", {"request": "look", "role": "analyst"})
    assert status == 200, body
    task = json.loads(body)["task"]["task_id"]
    call = "/v1/tools/debug_write:call"
    client.many(WRITES, lambda number: client.begin("POST", call, b'{"value":"%d"}' % number, as_json))
    said = json.dumps({"message": {"role": "USER", "text": "word " * 60}}).encode()
    client.many(ENTRIES, lambda _: client.begin("POST", f"/v1/tasks/{task}:append", said, as_json))
    text = b"some text of a document " * 40
    paths = [f"/v1/workspaces/{task}/documents/notes/{number:04}.txt" for number in range(DOCUMENTS)]
    client.many(DOCUMENTS, lambda number: client.begin("PUT", paths[number], text, "content-type: text/plain"))
    long = json.dumps({"request": "look " * 200, "role": "analyst"}).encode()
    client.many(TASKS, lambda _: client.begin("POST", "/v1/tasks", long, as_json))
    large = f"/v1/workspaces/{task}/documents/large.txt"
    client.begin("PUT", large, text * 200, "content-type: text/plain")
    assert client.end()[0] == 200
    _, calls = client.ask("GET", "/v1/calls?page_size=1")
    call_id = json.loads(calls)["calls"][0]["call_id"]
    client.stream.close()
    return {"task_id": task, "path": "large.txt", "call_id": call_id, "tool": "get_quotes", "code": "NOT_FOUND"}


def asked(description, values):
    """Every path that can be asked for with these values, each as long as it may be."""
    for path, methods in description["paths"].items():
        answers = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if "get" not in methods or "text/event-stream" in answers:
            continue
        names = re.findall(r"{\*?(\w+)}", path)
        formats = ["gemini", "gemini-openapi", "openai", "openai-responses", "anthropic", "mcp"]
        for choice in formats if "format" in names else [None]:
            known = {**values, "format": choice}
            if any(known.get(name) is None for name in names):
                continue
            filled = re.sub(r"{\*?(\w+)}", lambda found: known[found[1]], path)
            query = {}
            for parameter in methods["get"].get("parameters", []):
                schema = parameter.get("schema", {})
                if parameter.get("name") in ("page_size", "limit"):
                    query[parameter["name"]] = min(schema.get("maximum", 100), 1_000)
                if parameter.get("name") == "query":
                    query["query"] = "text"
            yield filled + ("?" + urllib.parse.urlencode(query) if query else "")


def found(server):
    """The routes whose answer is large, each as an attack, after what is large without a route of its own."""
    values, client = fill(server), Client(server)
    _, description = client.ask("GET", "/openapi.json")
    watched = ["/v1/tools:watch", f"/v1/tasks/{values['task_id']}/timeline:watch", "/v1/events"]
    attacks = [watches(path) for path in watched]
    paths = dict.fromkeys(["/openapi.json", "/v1/tools?view=FULL_JSON", *asked(json.loads(description), values)])
    for path in paths:
        status, body = client.ask("GET", path)
        if status == 200 and len(body) > LARGE:
            attacks.append(lists(path, len(body)))
    assert len(attacks) > 8, [attack.__name__ for attack in attacks]
    client.stream.close()
    return attacks


def bounded(name):
    def named(attack):
        attack.__name__, attack.most_times_calm = name, MOST_TIMES_CALM
        return attack

    return named


def short(path):
    return re.sub(r"task_[0-9a-f]{32}", "T", path)


def watches(path):
    """As many watches as one user can have, whose reader takes nothing."""

    @bounded(f"unread {short(path)}")
    def attack(server):
        before, streams = server.processor(), []
        for _ in range(WATCHES):
            stream = connect(server)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            send(stream, ASKED % path.encode())
            streams.append(stream)
        yield
        print(f"  {WATCHES} times: {server.processor() - before:.2f} s of processor", flush=True)
        close(streams)

    return attack


def lists(path, length):
    """Lists one after the other on one connection, 64 of them on their way at once."""

    @bounded(short(path))
    def attack(server):
        costs, stream = [], connect(server)
        buffer = bytearray(1 << 20)

        def one(_):
            before, left = server.processor(), PIPELINED * length
            send(stream, (ASKED % path.encode()) * PIPELINED)
            until = time.monotonic() + 30
            while left > 0:
                read = stream.recv_into(buffer)
                assert read and time.monotonic() < until, f"{left} bytes of {path} do not come"
                left -= read
            # What heads and later entries have beyond it comes with the next.
            costs.append((server.processor() - before) / PIPELINED)

        stream.settimeout(30)
        yield from during(one)
        print(f"  {length} bytes, {sum(costs) / len(costs) * 1000:.2f} ms of processor each", flush=True)
        stream.close()

    return attack
