"""A PostgreSQL that is killed: started from its programs, on a port that stays, with a log of what it is asked."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

START_LIMIT = 60
CONFIG = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 200
log_line_prefix = '%m [%p] %a '
"""
# The server refuses to run as root.
AS_USER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Database:
    """A cluster in a temporary directory, by the programs of TOOLWIRE_TEST_POSTGRES_BIN (.ci/postgres.sh)."""

    def __init__(self):
        self.bin = Path(os.environ["TOOLWIRE_TEST_POSTGRES_BIN"])
        self.folder = Path(tempfile.mkdtemp(prefix="toolwire-scale-postgres."))
        if AS_USER:
            shutil.chown(self.folder, "nobody", "nogroup")
        self.port, self.log = free_port(), self.folder / "log"
        self.url = f"postgres://toolwire@127.0.0.1:{self.port}/postgres"
        init = [self.bin / "initdb", "-D", "data", "-U", "toolwire", "-A", "trust", "-E", "UTF8", "--no-sync"]
        init += ["--locale=C.UTF-8"]
        subprocess.run([*AS_USER, *init], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        with (self.folder / "data/postgresql.conf").open("a") as config:
            config.write(CONFIG.format(port=self.port, folder=self.folder))
        self.start()

    def start(self):
        """Starts it, and waits until it answers: recovery may take a moment."""
        with self.log.open("ab") as log:
            command = [*AS_USER, self.bin / "postgres", "-D", "data"]
            self.process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until = time.monotonic() + START_LIMIT
        while subprocess.run([self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            assert time.monotonic() < until and self.process.poll() is None, self.log.read_text()[-2000:]
            time.sleep(0.05)

    def kill(self):
        """Kills the postmaster and all of its processes at once, as a loss of power would."""
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout
        for pid in (self.process.pid, *map(int, found.split())):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def ask(self, statement):
        """The rows of a statement, each the texts of its columns."""
        command = [self.bin / "psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", self.url, "-c", statement]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [tuple(line.split("\t")) for line in printed.splitlines()]

    def set(self, **settings):
        """Settings of the cluster that need no restart."""
        for name, value in settings.items():
            self.ask(f"ALTER SYSTEM SET {name} = '{value}'")
        self.ask("SELECT pg_reload_conf()")
        time.sleep(0.3)  # the postmaster hands the signal on

    def close(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder)
