"""What Schemathesis cannot know of the requests that it makes: loaded by openapi.sh."""

import itertools
import uuid

import schemathesis

# Waits of tools and of callers: what is tried is the face, not patience.
LENGTHS = ("duration", "interval", "progress_interval")
# Made by the server, and refused if anybody else makes one up.
OPAQUE = ("page_token",)
# A short time-out is meant to fail with 504, and a made-up tag with 412; both have tests of their own.
HEADERS = ("x-toolwire-timeout", "x-toolwire-wait-for-confirmation", "If-Match", "If-None-Match")
# The length of the body, which is made up apart from it: another one is refused, as it is to be.
OF_THE_BODY = ("size_bytes",)
# 100,000 chunks of a megabyte are allowed, and take minutes.
STREAMED = {"count": 100, "bytes": 1_000}
KEY = "Idempotency-Key"

keys = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    for name in HEADERS:
        case.headers.pop(name, None)
    if is_uuid(case.headers.get(KEY)):
        # One key for one call: with other arguments it is refused, as it is to be.
        case.headers[KEY] = str(uuid.UUID(int=next(keys), version=4))
    # The end of a time is after its beginning, which no schema says.
    for name in (*OPAQUE, *OF_THE_BODY, "until"):
        (case.query or {}).pop(name, None)
    # At most 60 s, whatever the unit, which no schema says.
    if isinstance((case.query or {}).get("wait"), str):
        case.query["wait"] = "0.01s"
    if isinstance(case.body, dict):
        if case.operation.path == "/v1/tasks" and isinstance(case.body.get("documents"), list):
            # What may stand in a path is more than a pattern says (docs/WORKSPACE.md).
            for number, document in enumerate(case.body["documents"]):
                if isinstance(document, dict) and isinstance(document.get("path"), str):
                    document["path"] = f"reports/q{number}.md"
        if "/debug_stream:" in case.operation.path:
            for name, most in STREAMED.items():
                if isinstance(case.body.get(name), int):
                    case.body[name] = min(case.body[name], most)
        for name in LENGTHS:
            if isinstance(case.body.get(name), str) and case.operation.path.startswith("/v1/tools/"):
                case.body[name] = "0.01s"


def is_uuid(text):
    try:
        return bool(uuid.UUID(text))
    except (AttributeError, TypeError, ValueError):
        return False
