"""The server under attack, and what it takes of the machine."""

import os
import re
import resource
import signal
import socket
import subprocess
import threading
import time
import urllib.request

START_LIMIT = 30
# So many files may the server open: few enough that an attacker can try to use them up.
FILES = 1_300
DRAIN_LIMIT = 5

CONFIG = """
[server.drain]
lame_duck = "1s"
forced_end = "{drain}s"

[[auth.users]]
user_id = "demo"
token = "demo-0123456789abcdef0123456789abcdef"

[[auth.users]]
user_id = "mallory"
token = "mallory-0123456789abcdef0123456789abcdef"

[providers.large]
kind = "host"
token_env = "LARGE_HOST_TOKEN"

[providers.slow]
kind = "host"
token_env = "SLOW_HOST_TOKEN"
tools = ["slow"]

[providers.paced]
kind = "host"
token_env = "PACED_HOST_TOKEN"
tools = ["paced"]
ceiling_max_requests = 1000000
ceiling_min_delay = "100ms"
"""
HOST_TOKEN = {name: f"{name}-host-0123456789abcdef0123456789abcdef" for name in ("large", "slow", "paced")}


def token(user):
    return f"{user}-0123456789abcdef0123456789abcdef"


class Deaf:
    """A collector of telemetry that takes connections and never says a word."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            self.connections.append(self.listener.accept())


class Server:
    def __init__(self, binary, directory):
        config = os.path.join(directory, "toolwire.toml")
        with open(config, "w") as file:
            file.write(CONFIG.format(drain=DRAIN_LIMIT))
        self.state = os.path.join(directory, "state")
        self.collector = Deaf()
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--diagnostics"]
        command += ["--http=127.0.0.1:0", "--state", self.state, "--config", config, "--log", "json"]
        environment = {
            **os.environ,
            **{f"{name.upper()}_HOST_TOKEN": value for name, value in HOST_TOKEN.items()},
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.collector.address,
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_TRACES_SAMPLER": "traceidratio",
            "OTEL_TRACES_SAMPLER_ARG": "0.05",
        }
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            preexec_fn=_limited,
        )
        self.log, self.reads_log = [], threading.Event()
        self.reads_log.set()
        threading.Thread(target=self._read_log, daemon=True).start()
        self.address, self.http, self.admin = self._addresses()
        self.peak = 0
        threading.Thread(target=self._watch_memory, daemon=True).start()

    def _addresses(self):
        timer = threading.Timer(START_LIMIT, self.process.kill)
        timer.start()
        address = http = None
        for line in self.process.stdout:
            line = line.decode()
            if found := re.match(r"toolwire listening on (\S+)", line):
                address = found[1]
            if found := re.match(r"toolwire http on (\S+)", line):
                http = found[1]
            if found := re.match(r"toolwire admin on (\S+)", line):
                timer.cancel()
                return address, http, found[1]
        raise AssertionError(f"the server printed no addresses; its log ends:\n{self.log_tail()}")

    def _read_log(self):
        while self.reads_log.wait() and (data := os.read(self.process.stderr.fileno(), 1 << 16)):
            self.log.append(data)

    def _watch_memory(self):
        while self.process.poll() is None:
            self.peak = max(self.peak, self.resident())
            time.sleep(0.1)

    def log_tail(self):
        return b"".join(self.log)[-4000:].decode(errors="replace")

    def resident(self):
        """MiB of physical memory."""
        try:
            with open(f"/proc/{self.process.pid}/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024
        except (OSError, StopIteration):
            return 0

    def processor(self):
        """Seconds of processor taken so far."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def listening(self):
        """How many sockets of the process listen."""
        inodes = set()
        for entry in os.scandir(f"/proc/{self.process.pid}/fd"):
            if found := re.match(r"socket:\[(\d+)\]", os.readlink(entry.path)):
                inodes.add(found[1])
        listening = 0
        for table in ("tcp", "tcp6"):
            with open(f"/proc/net/{table}") as lines:
                rows = (line.split() for line in list(lines)[1:])
                listening += sum(row[3] == "0A" and row[9] in inodes for row in rows)
        return listening

    def scrape(self):
        with urllib.request.urlopen(f"http://{self.admin}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def metric(self, name):
        """The sum of a metric's series."""
        rows = (line for line in self.scrape().splitlines() if re.match(rf"{name}[{{ ]", line))
        return sum(float(row.rsplit(" ", 1)[1]) for row in rows)

    def health(self, path="healthz"):
        try:
            with urllib.request.urlopen(f"http://{self.admin}/{path}", timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def fill_disk(self):
        """From now on the server can write to no file: as a full disk, for whoever is not root."""
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    def free_disk(self):
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)

    def end(self):
        """Asks it to end; the seconds that it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        return time.monotonic() - began

    def kill(self):
        self.process.kill()
        self.process.wait()


def _limited():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, FILES))
    # A write beyond the limit of a file's size is an error rather than the end.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
