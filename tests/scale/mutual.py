"""A rolling restart by mutual TLS fails no call: workloads call replicas through Envoy, half of them for a user.

Envoy has the settings of examples/deploy/envoy-mtls.yaml, with retries off: it proves itself to the replicas by a
certificate of its own, tells them whose it has seen, and passes tokens on. A certificate alone is the workload's user; a
token of an issuer beside it is its own user, whom the rules serve through that workload alone.
"""

import json
import tempfile
import time
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from authority import Authority, Tls
from replicas import Client, World
from rolling import CALLERS, FACES, LAME_DUCK, Envoy, call, restart_all
from rows import Row
from toolwire.v1 import audit_service_pb2 as pb
from toolwire.v1 import audit_service_pb2_grpc

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

[[auth.issuers]]
name = "corp"
issuer = "https://login.example"
audience = ["toolwire"]
jwks_file = "{folder}/jwks.json"

[[auth.rules]]
who = ["user:corp:8f2c"]
tools = ["debug_*"]
via = ["spiffe:example.org/ns/*/sa/agent"]
"""
AGENT = "spiffe://example.org/ns/agents/sa/agent"
CERTIFICATE, TOKEN = "x-forwarded-client-cert", "authorization"
# What anybody can write into the header.
CLAIM = f"Hash={'0' * 64};URI={AGENT}"


def make_tokens(folder):
    """Tokens of the user `corp:8f2c`: by the key that the issuer publishes in the folder, and by another one."""
    (key, other), now = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2)), int(time.time())
    public = {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key())), "kid": "1", "alg": "ES256"}
    (folder / "jwks.json").write_text(json.dumps({"keys": [public]}))
    claims = {"iss": "https://login.example", "aud": "toolwire", "sub": "8f2c", "iat": now, "exp": now + 3600}
    return [jwt.encode(claims, signing, "ES256", headers={"kid": "1"}) for signing in (key, other)]


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
        of_user, forged = ({TOKEN: f"Bearer {token}"} for token in make_tokens(folder))
        with World(binary, lame_duck=LAME_DUCK, settings=SETTINGS.format(folder=folder)) as world:
            envoy = Envoy(program, world, "envoy-mtls.yaml", 443, folder)
            world.callback(envoy.close)
            agent, stranger = Tls(folder, "agent"), Tls(folder, "stranger")
            claim = {CERTIFICATE: CLAIM}
            nobody, forbidden = ("UNAUTHENTICATED", "401: "), ("PERMISSION_DENIED", "403: ", "200: ")
            # How the end of the handshake reaches a client of HTTP depends on what it was about to do.
            closed = ("UNAVAILABLE", "SSL", "Connection", "BrokenPipe", "Remote")
            for what, tls, headers, ways in [
                ("who only claims to be another", stranger, claim, nobody),
                ("who shows no certificate", Tls(folder), claim, closed),
                ("a forged token by a workload with rights", agent, forged, nobody),
                ("a token by another workload", stranger, of_user, forbidden),
            ]:
                for face in FACES:
                    yield refusal(what, face, envoy.address, tls, headers, ways)
            faces = [FACES[number % len(FACES)](envoy.address, None, agent) for number in range(CALLERS)]
            for face in faces[: CALLERS // 2]:
                face.claim(TOKEN, of_user[TOKEN])
            yield from restart_all(world, envoy, faces, call, short)
            yield from records(envoy.address, agent, {}, "agent")
            yield from records(envoy.address, agent, of_user, "corp:8f2c")


def refusal(what, face, address, tls, headers, ways):
    """A row of a caller whose call fails in one of these ways."""
    caller = face(address, None, tls)
    for header, value in headers.items():
        caller.claim(header, value)
    failure = str(caller.failure(*call(1)))
    caller.close()
    return Row(f"{what}, {face.__name__}", "refused", failure[:100], failure.startswith(ways))


def records(address, tls, headers, user):
    """Each write of this user is recorded with the workload that brought it."""
    client = Client(address, None, tls.credentials)
    client.metadata += tuple(headers.items())
    audit = audit_service_pb2_grpc.AuditServiceStub(client.channel)
    found = client.ask(audit.ListRecords, pb.ListRecordsRequest(page_size=1_000)).records
    client.close()
    seen = {(record.user_id, record.workload) for record in found}
    yield Row(f"writes recorded of {user}", f"by {AGENT}", f"{len(found)}, {seen}", seen == {(user, AGENT)})
