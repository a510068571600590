"""A rolling restart by mutual TLS fails no call: workloads call replicas through Envoy, by their certificates alone.

Envoy has the settings of examples/deploy/envoy-mtls.yaml, with retries off: it proves itself to the replicas by a
certificate of its own, and tells them whose it has seen. Nobody has a token.
"""

import tempfile
from pathlib import Path

from authority import Authority, Tls
from replicas import World
from rolling import CALLERS, FACES, LAME_DUCK, Envoy, call, restart_all
from rows import Row

SETTINGS = """
[server.tls]
cert = "{folder}/toolwire.pem"
key = "{folder}/toolwire.key"
client_ca = "{folder}/ca.pem"
client_auth = "required"

[http]
allowed_hosts = ["127.0.0.1"]

[auth]
trusted_proxies = ["127.0.0.1"]

[[auth.spiffe]]
id = "spiffe://example.org/ns/*/sa/agent"
user = "agent"

[[auth.rules]]
who = ["user:agent"]
tools = ["debug_*"]
"""


def run(binary, program, short):
    with tempfile.TemporaryDirectory(prefix="toolwire-mutual.") as folder:
        folder = Path(folder)
        authority = Authority(folder)
        authority.sign("toolwire", "/ns/tools/sa/toolwire")
        authority.sign("agent", "/ns/agents/sa/agent")
        authority.sign("stranger", "/ns/agents/sa/stranger")
        # The proxy's own.
        authority.sign("cert", "/ns/tools/sa/gateway")
        (folder / "cert.key").rename(folder / "key.pem")
        with World(binary, lame_duck=LAME_DUCK, settings=SETTINGS.format(folder=folder)) as world:
            envoy = Envoy(program, world, "envoy-mtls.yaml", 443, folder)
            world.callback(envoy.close)
            yield from refusals(envoy.address, Tls(folder, "stranger"), "UNAUTHENTICATED", "401: ")
            # How the end of the handshake reaches a client of HTTP depends on what it was about to do.
            yield from refusals(envoy.address, Tls(folder), "UNAVAILABLE", "SSL", "Connection", "BrokenPipe", "Remote")
            faces = [FACES[number % len(FACES)](envoy.address, None, Tls(folder, "agent")) for number in range(CALLERS)]
            yield from restart_all(world, envoy, faces, call, short)


def refusals(address, tls, *ways):
    """Who has no certificate, or one that no entry names, is nobody, whatever the header says."""
    claim = "Hash=0;URI=spiffe://example.org/ns/agents/sa/agent"
    for face in FACES:
        stranger = face(address, None, tls)
        stranger.claim("x-forwarded-client-cert", claim)
        failure = stranger.failure(*call(1))
        stranger.close()
        is_refused = failure is not None and failure.startswith(ways)
        yield Row(f"who only claims to be another, {face.__name__}", "refused", str(failure)[:100], is_refused)
