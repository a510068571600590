"""Servers for the tests of examples/recipes: Toolwire with a webhook, a recipe, and stand-ins of Slack and Teams.

`pytest tests/clients/recipes --binary PROGRAM`; needs pytest alone.
"""

import base64
import hashlib
import hmac
import json
import os
import queue
import random
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIMIT = 30
os.environ["no_proxy"] = "127.0.0.1"
HOOK_KEY, TEAMS_KEY, SLACK_KEY = os.urandom(32), os.urandom(32), os.urandom(16).hex().encode()
USERS = {name: os.urandom(16).hex() for name in ("riley", "alex", "sam")}
# Who they are in the chats. Everyone who has no token here is unknown.
PEOPLE = {"U-RILEY": "riley", "U-ALEX": "alex", "U-SAM": "sam"}
CONFIG = """
[[auth.users]]
user_id = "riley"
token = "{riley}"
approve = ["debug_*"]

[[auth.users]]
user_id = "alex"
token = "{alex}"
approve = ["debug_*"]

[[auth.users]]
user_id = "sam"
token = "{sam}"
approve = ["debug_*"]

[[confirmations.webhooks]]
url = "{recipe}/toolwire"
secrets_env = ["HOOK_SECRET"]
arguments = true
"""


def pytest_addoption(parser):
    parser.addoption("--binary", required=True, help="the program")


def free_port():
    """Below the ports that the system gives to those who ask for port 0."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def request(method, url, body=None, **headers):
    """The status and the JSON of an answer. Underscores in names of headers stand for hyphens."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    headers = {"content-type": "application/json"} | {name.replace("_", "-"): it for name, it in headers.items()}
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=LIMIT)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        return answer.status, json.loads(answer.read() or b"{}")


class Chat:
    """A stand-in of Slack's API and of a workflow of Teams: keeps what it gets, and answers `ok` or what is set."""

    def __init__(self):
        self.got, self.answers = queue.Queue(), []
        chat = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                chat.got.put((self.path, self.headers["authorization"], body))
                answer = json.dumps(chat.answers.pop(0) if chat.answers else {"ok": True, "ts": "1.5"}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def next(self):
        return self.got.get(timeout=LIMIT)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def started(command, pattern, env, cwd):
    """A program, once it has printed a line with its address."""
    program = subprocess.Popen(command, env=os.environ | env, cwd=cwd, stdout=subprocess.PIPE, text=True)
    for line in program.stdout:
        if found := re.fullmatch(pattern, line.strip()):
            threading.Thread(target=program.stdout.read, daemon=True).start()
            return program, found[1]
    raise AssertionError(f"{command} ended with {program.wait()}")


class World:
    """A recipe between Toolwire and a chat."""

    def __init__(self, name, binary, folder, env):
        self.chat, self.toolwire = Chat(), f"http://127.0.0.1:{free_port()}"
        secret = {"HOOK_SECRET": "whsec_" + base64.b64encode(HOOK_KEY).decode(), "PYTHONDONTWRITEBYTECODE": "1"}
        tokens = {person: USERS[user] for person, user in PEOPLE.items()}
        env = {name: it.replace("CHAT", self.chat.url) for name, it in env.items()}
        env |= secret | {"TOOLWIRE_HTTP": self.toolwire, "APPROVER_TOKENS": json.dumps(tokens), "PORT": "0"}
        recipe = [sys.executable, f"{name}.py"]
        self.recipe, self.url = started(recipe, r"listening on (http://\S+)", env, ROOT / "examples/recipes")
        config = folder / "toolwire.toml"
        config.write_text(CONFIG.format(**USERS, recipe=self.url))
        serve = [Path(binary).resolve(), "serve", "--diagnostics", "--listen", "127.0.0.1:0", "--config", config,
                 f"--http={self.toolwire.removeprefix('http://')}", "--state", folder / "state"]
        self.server, _ = started(serve, r"toolwire http on (\S+)", secret, folder)
        # What is asked before the server has subscribed the webhook is not sent.
        while True:
            self.call()
            try:
                self.chat.got.get(timeout=2)
                break
            except queue.Empty:
                continue

    def close(self):
        for program in (self.server, self.recipe):
            program.terminate()
            program.wait()
        self.chat.close()

    def call(self, tool="debug_write", key=None, **arguments):
        """Has riley call a tool that a person must approve: the call's key, and the answer."""
        key = key or str(uuid.uuid4())
        url = f"{self.toolwire}/v1/tools/{tool}:call"
        return key, request("POST", url, arguments or {"value": key}, authorization=f"Bearer {USERS['riley']}",
                            idempotency_key=key, x_toolwire_require_confirmation="true")

    def waiting(self, **call):
        """A call that waits: its confirmation, how it is made again, and what the chat was sent about it."""
        key, (status, answer) = self.call(**call)
        assert status == 428, answer
        confirmation = answer["confirmation"]["confirmation_id"]
        while confirmation not in str(got := self.chat.next()):
            continue
        return confirmation, lambda: self.call(**call | {"key": key})[1], got

    def state(self, confirmation):
        url = f"{self.toolwire}/v1/confirmations/{confirmation}"
        return request("GET", url, authorization=f"Bearer {USERS['alex']}")[1]["confirmation"]["state"]

    def hook(self, body, name=None, sent=None, key=HOOK_KEY, signed=None):
        """Posts a webhook as Toolwire does; `signed` is what the signature is of, if not of the body."""
        name, sent = name or f"msg_{uuid.uuid4().hex}", str(int(sent or time.time()))
        body = json.dumps(body).encode()
        mac = hmac.digest(key, f"{name}.{sent}.".encode() + (signed or body), "sha256")
        signature = "v1,b2xk v1," + base64.b64encode(mac).decode()
        headers = {"webhook_id": name, "webhook_timestamp": sent, "webhook_signature": signature}
        return request("POST", f"{self.url}/toolwire", body, **headers)[0]

    def click(self, person, action, value, at=0, key=SLACK_KEY, asked=None, signature=None):
        """The click of a person on a button: `send()` posts it as Slack does, and has the status."""
        blocks = (asked or {}).get("blocks", [{"type": "section", "text": {"type": "plain_text", "text": "asked"}}])
        payload = {"type": "block_actions", "user": {"id": person}, "channel": {"id": "C1"},
                   "message": {"ts": "1.5", "blocks": blocks}, "actions": [{"action_id": action, "value": value}]}
        body = urllib.parse.urlencode({"payload": json.dumps(payload)}).encode()
        sent = str(int(time.time()) + at)
        mac = hmac.new(key, f"v0:{sent}:".encode() + body, hashlib.sha256).hexdigest()
        headers = {"x_slack_request_timestamp": sent, "x_slack_signature": signature or f"v0={mac}"}
        return lambda body=body: request("POST", f"{self.url}/slack", body, **headers)[0]

    def say(self, person, text, at=0, key=TEAMS_KEY):
        """What a person writes to the outgoing webhook of Teams: `send()` posts it, and has status and answer."""
        sent = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + at)) + ".1234567Z"
        message = {"type": "message", "id": uuid.uuid4().hex, "timestamp": sent,
                   "text": f"<at>Toolwire</at>&nbsp;{text}\n",
                   "from": {"id": "29:1", "name": person, "aadObjectId": person}}
        body = json.dumps(message).encode()
        mac = base64.b64encode(hmac.digest(key, body, "sha256")).decode()
        return lambda body=body: request("POST", f"{self.url}/teams", body, authorization=f"HMAC {mac}")


@pytest.fixture(scope="session")
def start(request, tmp_path_factory):
    worlds = []

    def world(name, **env):
        worlds.append(World(name, request.config.getoption("--binary"), tmp_path_factory.mktemp(name), env))
        return worlds[-1]

    yield world
    for one in worlds:
        one.close()


@pytest.fixture(scope="session")
def slack(start):
    return start("slack", SLACK_API="CHAT/api", SLACK_CHANNEL="C1", SLACK_BOT_TOKEN="xoxb-1",
                 SLACK_SIGNING_SECRET=SLACK_KEY.decode())


@pytest.fixture(scope="session")
def teams(start):
    return start("teams", TEAMS_WORKFLOW_URL="CHAT/workflow", TEAMS_WEBHOOK_TOKEN=base64.b64encode(TEAMS_KEY).decode())
