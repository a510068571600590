"""What zsh and fish complete, by the scripts that the program prints: `shells.py BINARY`, with both on PATH.

bash is asked by a test of the program. zsh finds its script as docs/OPERATIONS.md says, as a file of `fpath`.
"""

import os
import pty
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROMPT = "ready> "
LIMIT = 30.0
# What is typed → the line after the tabulator.
COMPLETED = {
    "toolwire exp": "toolwire export ",
    "toolwire cal": "toolwire call",
    "toolwire call get_quo": "toolwire call get_quotes ",
    'toolwire call "get_quo': 'toolwire call "get_quotes" ',
    "toolwire call get_quotes sy": "toolwire call get_quotes symbol=",
    "toolwire serve --lis": "toolwire serve --listen ",
}


def zsh(home, typed, expected):
    """Waits until a new shell shows the line: its first completion reads the script."""
    pid, file = pty.fork()
    if not pid:
        os.execvpe("zsh", ["zsh", "-i"], {**os.environ, "ZDOTDIR": str(home), "HOME": str(home), "TERM": "dumb"})
    shown, end = "", time.monotonic() + LIMIT
    sent = False
    while not sent or expected not in shown:
        if not select.select([file], [], [], max(0.0, end - time.monotonic()))[0]:
            sys.exit(f"zsh: {typed!r} does not become {expected!r}: {shown!r}")
        shown += os.read(file, 65536).decode(errors="replace").replace("\a", "")
        if not sent and PROMPT in shown:
            sent, shown = True, ""
            os.write(file, f"{typed}\t".encode())
    os.close(file)
    os.waitpid(pid, 0)


def fish(home, typed, expected):
    asked = subprocess.run(
        ["fish", "--no-config", "-c", f"source {home}/toolwire.fish; complete -C $argv[1]", typed],
        check=True, capture_output=True, text=True,
    )
    word = expected.rsplit(" ", 1 if not expected.endswith(" ") else 2)[1].strip(' "')
    if word not in asked.stdout.split():
        sys.exit(f"fish: {word!r} is not offered for {typed!r}: {asked.stdout!r}")


def main():
    binary = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        (home / "bin").mkdir()
        (home / "bin/toolwire").symlink_to(binary)
        os.environ["PATH"] = f"{home}/bin:{os.environ['PATH']}"
        os.environ["XDG_DATA_HOME"] = directory
        os.chdir(home)

        def script(shell):
            return subprocess.run([binary, "completions", shell], check=True, capture_output=True).stdout

        (home / "functions").mkdir()
        (home / "functions/_toolwire").write_bytes(script("zsh"))
        (home / "toolwire.fish").write_bytes(script("fish"))
        start = f"fpath=({home}/functions $fpath)\nautoload -U compinit; compinit -u\nPS1='{PROMPT}'\n"
        (home / ".zshrc").write_text(start)
        for typed, expected in COMPLETED.items():
            zsh(home, typed, expected)
            fish(home, typed, expected)
    print(f"{2 * len(COMPLETED)} passed, 0 failed")


main()
