"""What the recipes share: Toolwire's signed webhook, a decision under the token of a person, and the HTTP server."""

import base64
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib import error, parse, request

TOOLWIRE = os.environ["TOOLWIRE_HTTP"]
HOOK_KEY = base64.b64decode(os.environ["HOOK_SECRET"].removeprefix("whsec_"))
TOKENS = json.loads(os.environ["APPROVER_TOKENS"])  # {"who they are in the chat": "their own token for Toolwire"}
seen = {}  # the signed messages of the last minutes, each of which counts once


class Refused(Exception):
    """Holds the status to answer with."""


def check_signature(right, given):
    """Refuses what has no such signature; the comparison takes the same time wherever they differ."""
    if not any([hmac.compare_digest(right, one) for one in given.encode().split()]):
        raise Refused(401)


def check_time(sent):
    """Refuses what was sent more than five minutes ago, or later than now by more; in seconds since 1970."""
    if not abs(time.time() - float(sent)) <= 300:
        raise Refused(401)


def is_first(name):
    """Whether no message of this name came before, as far as its time would be accepted."""
    for old in [one for one, at in list(seen.items()) if at < time.time() - 900]:
        seen.pop(old, None)
    return seen.setdefault(name, now := time.time()) is now


def shown(text):
    """The text, in which characters that hide, or reorder others, are their codes."""
    return "".join(one if one.isprintable() or one == "\n" else f"\\u{ord(one):04x}" for one in text)


def post(url, body, token=""):
    """The status and the JSON of the answer; `{}` if it is none."""
    headers = {"content-type": "application/json; charset=utf-8"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    try:
        answer = request.urlopen(request.Request(url, json.dumps(body).encode(), headers), timeout=10)
    except error.HTTPError as refused:
        answer = refused
    with answer:
        text = answer.read()
    return answer.status, json.loads(text) if text[:1] == b"{" else {}


def decide(person, confirmation, decision):
    """What the decision of this person came to, in words, and whether the confirmation is decided now."""
    if person not in TOKENS:
        return "You have no token for Toolwire here.", False
    url = f"{TOOLWIRE}/v1/confirmations/{parse.quote(confirmation, safe='')}:decide"
    answer = post(url, decision, TOKENS[person])[1]
    if one := answer.get("confirmation"):
        return shown(f"{one['state'].lower()} by {one['decided_by']}"), True
    return shown(answer.get("detail", "Toolwire gave no reason.")), answer.get("code") == "CONFIRMATION_DECIDED"


def asked(tell):
    """The route of the webhook: `tell` gets each new request once. If it fails, Toolwire sends the message again."""

    def take(headers, body):
        name, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
        mac = hmac.digest(HOOK_KEY, f"{name}.{sent}.".encode() + body, "sha256")
        check_signature(b"v1," + base64.b64encode(mac), headers.get("webhook-signature", ""))
        check_time(sent)
        event = json.loads(body)
        if event["type"] == "confirmation.requested" and is_first(name):
            try:
                tell(event["data"])
            except BaseException:
                del seen[name]
                raise

    return take


def serve(routes):
    class Recipe(BaseHTTPRequestHandler):
        def do_POST(self):
            status, answer = 200, None
            try:
                length = int(self.headers.get("content-length", 0))
                if length > 4 << 20 or self.path not in routes:
                    raise Refused(413 if self.path in routes else 404)
                answer = routes[self.path](self.headers, self.rfile.read(length))
            except Refused as refused:
                status = refused.args[0]
            except OSError:
                status = 502
            except (LookupError, ValueError):
                status = 400
            text = json.dumps(answer or {}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8090"))), Recipe)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
