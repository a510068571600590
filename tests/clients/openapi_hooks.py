"""What Schemathesis cannot know of the requests that it makes: loaded by openapi.sh."""

import itertools
import uuid

import schemathesis

# Waits of tools and of callers: what is tried is the face, not patience.
LENGTHS = ("duration", "interval", "progress_interval")
# Made by the server, and refused if anybody else makes one up.
OPAQUE = ("page_token",)
# A short time-out is meant to fail with 504, and a made-up tag with 412; both have tests of their own.
HEADERS = ("x-toolwire-timeout", "x-toolwire-wait-for-confirmation", "If-Match")
KEY = "Idempotency-Key"

keys = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    for name in HEADERS:
        case.headers.pop(name, None)
    if is_uuid(case.headers.get(KEY)):
        # One key for one call: with other arguments it is refused, as it is to be.
        case.headers[KEY] = str(uuid.UUID(int=next(keys), version=4))
    for name in OPAQUE:
        (case.query or {}).pop(name, None)
    if isinstance(case.body, dict):
        for name in LENGTHS:
            if isinstance(case.body.get(name), str) and case.operation.path.startswith("/v1/tools/"):
                case.body[name] = "0.01s"


def is_uuid(text):
    try:
        return bool(uuid.UUID(text))
    except (AttributeError, TypeError, ValueError):
        return False
