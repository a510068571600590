"""Attacks by values that are checked against schemas, in the form of attacks.py: each element of a megabyte is wrong, or
unknown, or looked at by all that is not allowed. What a check takes is bounded by the value."""

import json

from large import Client
from web import during

# A body; what one request with it may take, which is read to 36 MiB and normalised to as much; and what a flood of them
# may, since each thread that has decoded one keeps its memory for a while.
BODY, MOST_OF_ONE, MOST_GROWTH = 1_000_000, 150, 400


def refused(name, path, body):
    """Such a body one after the other; each is answered with the violations of its beginning."""

    def attack(server):
        client, before = Client(server), server.resident()

        def one(_):
            client.begin("POST", path, body, "content-type: application/json")
            status, answer = client.end()
            assert status == 422, (status, answer[:300])
            violations = json.loads(answer)["errors"] if b'"errors"' in answer else answer
            assert len(violations) > 0 and len(answer) < 100_000, (len(answer), answer[:300])

        one(0)
        grown = server.peak - before
        assert grown < MOST_OF_ONE, f"{grown:.0f} MiB for one body of {len(body) / 1e6:.1f} MB"
        yield from during(one)
        client.stream.close()
        grown = server.peak - before
        assert grown < MOST_GROWTH, f"{grown:.0f} MiB for a body of {len(body) / 1e6:.1f} MB"

    attack.__name__ = name
    return attack


def filled(before, element, after):
    return (before + ",".join([element] * (BODY // (len(element) + 1))) + after).encode()


UNKNOWN = ("{" + ",".join(f'"unknown_{number}":0' for number in range(BODY // 17)) + "}").encode()
COMPARE = "/v1/tools/compare_stocks:call"
ALL = [
    refused("every element of another type", COMPARE, filled('{"symbols":[', "0", "]}")),
    refused("every element an empty object", COMPARE, filled('{"symbols":[', "{}", "]}")),
    refused("every member unknown", COMPARE, UNKNOWN),
]
