"""How soon slots are back after the server or the host was killed."""

import time

from host_rows.common import LIMIT, Watched, World, until, within

SLOTS = 16


def restart_server(rounds):
    """From when the server listens again. The longer it was away, the longer hosts pause between attempts."""
    for away in (0, 5):
        taken = []
        with World(slots=SLOTS) as world:
            world.host()
            for _ in range(rounds):
                world.server.kill()
                time.sleep(away)
                world.server.start()
                began = time.monotonic()
                tools = world.connect()
                until(lambda tools=tools: any(it.name == "look" for it in tools.list_tools()))
                taken += occupy(tools, began)
        yield within(f"the server is back after {away} s: until a slot is", 2, taken)


def restart_hosts(rounds):
    """From the start of its process."""
    taken = []
    with World(slots=SLOTS) as world:
        world.host()
        for _ in range(rounds):
            world.end(world.hosts[0])
            began = time.monotonic()
            world.host(serves=False)
            taken += occupy(world.tools, began)
    yield within("a host is started again: until a slot is there", 2, taken)


def occupy(tools, began):
    """Takes all slots at once, each with a call that stays; the seconds until each was taken."""
    calls = [Watched(tools, "look", {"seconds": LIMIT}) for _ in range(SLOTS)]
    until(lambda: all(call.begun or call.end for call in calls))
    assert all(call.begun for call in calls), [call.end for call in calls]
    for call in calls:
        tools.cancel(call.call_id)
    for call in calls:
        call.join()
    return [call.begun[0][0] - began for call in calls]
