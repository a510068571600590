"""`toolwire login`: a person signs in from a shell by the device grant, as a client that registers itself."""

import json
import os
import re
import subprocess

from browser import visit

LIMIT = 60
WHOLE_ADDRESS = re.compile(r"or open (\S+), and compare the code")


def test_a_person_signs_in_from_a_shell_and_calls_and_the_token_is_refreshed(request, start, tmp_path):
    provider = start["provider"]()
    server = start["server"](provider)
    binary, environment = request.config.getoption("--binary"), {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}

    def run(*words):
        command = [binary, *words, "--server", server.address]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)

    before = run("call", "get_fundamentals", "symbol=TCS")
    assert before.returncode != 0 and "toolwire login" in before.stderr
    command = [binary, "login", server.resource, "--server", server.address]
    login = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        addresses = (WHOLE_ADDRESS.search(line) for line in login.stderr)
        assert "Sign-in Success" in visit(next(filter(None, addresses))[1], "alice")
        said, errors = login.communicate(timeout=LIMIT)
    finally:
        login.kill()
    assert login.returncode == 0 and f"signed in at {provider.url}" in said, errors
    assert provider.tell("registered") == "toolwire"
    [file] = tmp_path.glob("toolwire/tokens/*.json")
    tokens = set()
    for _ in range(3):
        called = run("call", "get_fundamentals", "symbol=TCS")
        assert called.returncode == 0 and "TCS" in called.stdout, called.stderr
        kept = json.loads(file.read_text())
        tokens.add(kept["access_token"])
        # As if it had expired.
        file.write_text(json.dumps({**kept, "expires_at": 1}))
    assert len(tokens) == 3, "each later call refreshes the token"
    assert run("call", "debug_write", "value=x").returncode != 0, "the rights are those of the group"
