"""The two parties: an identity provider that is not ours, and a server that accepts its users."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import requests

from browser import visit

HERE = Path(__file__).parent
START_LIMIT = 60
ELSEWHERE = "https://elsewhere.example/mcp"
# The rights: one group reads if its token has a scope, one calls tools that write, one approves such calls.
CONFIG = """
[server.drain]
lame_duck = "0s"

[http]
public_url = "http://{http}"

[[auth.issuers]]
name = "corp"
issuer = "{issuer}"
audience = ["toolwire"]
groups = "groups"
{more}
[[auth.rules]]
who = ["group:corp/support"]
tools = ["get_*", "debug_stream"]
scope = "tools"

[[auth.rules]]
who = ["group:corp/desk"]
tools = ["debug_*"]

[[auth.rules]]
who = ["group:corp/approvers"]
tools = ["debug_confirm"]
may = ["approve"]

[[auth.users]]
user_id = "riley"
token = "rileys-own-0123456789abcdef0123456789"
"""
RILEYS = "rileys-own-0123456789abcdef0123456789"


class Provider:
    """Runs provider.mjs and requests tokens from it."""

    def __init__(self, node, program):
        self.process = subprocess.Popen([node, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url, self.session = self.heard(), requests.Session()
        self.session.trust_env = False

    def heard(self):
        line = self.process.stdout.readline().strip()
        assert line, "the provider ended"
        return line

    def tell(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.heard()

    def of_agent(self, resource, scope="tools"):
        """Returns a token of the client `agent`, of the group `support`, for a resource."""
        form = {"grant_type": "client_credentials", "resource": resource, "scope": scope}
        return self.asked("/token", form, auth=("agent", "agent-secret"))["access_token"]

    def of_user(self, account, resource, scope="tools"):
        """Returns the tokens of a user who approves a device in a browser."""
        client = {"client_id": "terminal", "resource": resource}
        device = self.asked("/device/auth", {**client, "scope": f"openid {scope}"})
        assert "Sign-in Success" in visit(device["verification_uri_complete"], account)
        grant = "urn:ietf:params:oauth:grant-type:device_code"
        return self.asked("/token", {**client, "grant_type": grant, "device_code": device["device_code"]})

    def asked(self, path, form, **options):
        answer = self.session.post(f"{self.url}{path}", data=form, timeout=20, **options)
        assert answer.ok, answer.text
        return answer.json()

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


class Server:
    """Runs `toolwire serve` by settings, in which `{http}` is where it listens for HTTP."""

    def __init__(self, binary, folder, settings):
        port = subprocess.run([sys.executable, HERE.parent / "port.py"], capture_output=True, check=True, text=True)
        self.http = f"127.0.0.1:{port.stdout.strip()}"
        self.url = f"http://{self.http}"
        self.resource = f"{self.url}/mcp"
        self.config, self.log = folder / "toolwire.toml", folder / "log"
        self.configure(settings)
        command = [binary, "serve", "--listen", "127.0.0.1:0", f"--http={self.http}", "--diagnostics"]
        command += ["--config", self.config, "--state", folder / "state", "--log", "json"]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder)
        timer = threading.Timer(START_LIMIT, self.process.kill)
        timer.start()
        # Each line is printed once its port is open.
        addresses = [self.process.stdout.readline() for _ in range(2)]
        timer.cancel()
        found = re.search(r"toolwire listening on (\S+)", "".join(addresses))
        assert found, f"{addresses}\n{self.log.read_text()[-3000:]}"
        self.address = found[1]

    def configure(self, settings):
        """Replaces the settings."""
        replace(self.config, settings.replace("{http}", self.http))

    def close(self):
        self.process.terminate()
        assert self.process.wait(60) == 0


def replace(file, text):
    """Replaces a file whole, as programs must that read it while it changes."""
    other = file.with_name(f"{file.name}.new")
    other.write_text(text)
    other.rename(file)
