"""Where a server is, and how it is spoken to."""

from __future__ import annotations

import os
import socket
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolwire._fork import is_child
from toolwire._threads import in_thread

# Of a message, either way. Data is at most 3 MiB of it.
MOST_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Target:
    """A server by its URL, `http://HOST:PORT` or `https://HOST:PORT`, and what it is trusted and told by."""

    url: str
    token: str = field(default="", repr=False)
    # A PEM file with the certificate that signed the server's. Empty: those that grpc trusts.
    ca: str = ""
    # Who calls a server that has no credentials of users.
    user: str = ""

    @classmethod
    def read(
        cls, url: str | None, token: str | None, ca: str | None, token_name: str, user: str = ""
    ) -> Target:
        """What is not given is in the environment, as for every client."""
        url = url or os.environ.get("TOOLWIRE_SERVER", "http://127.0.0.1:50051")
        token = os.environ.get(token_name, "") if token is None else token
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ValueError(f"{url!r} is not the URL of a server, such as http://127.0.0.1:50051")
        return cls(url, token, os.environ.get("TOOLWIRE_CA", "") if ca is None else ca, user)

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        url = urlsplit(self.url)
        return url.port or (443 if url.scheme == "https" else 50051)

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        token = (("authorization", f"Bearer {self.token}"),) if self.token else ()
        return (*token, ("x-toolwire-user", self.user)) if self.user else token

    def channel(self, library: Any, address: str, *options: tuple[str, Any]) -> Any:
        """A channel of `grpc` or `grpc.aio` to an address of the server."""
        if is_child():
            raise RuntimeError(
                "this process was forked from one that serves tools or has an AsyncToolwire, where gRPC does not work: "
                "start it by spawn, as multiprocessing.get_context('spawn') does"
            )
        chosen = [*options, ("grpc.max_receive_message_length", MOST_BYTES), ("grpc.default_authority", self.authority)]
        if self.host in ("127.0.0.1", "::1", "localhost"):
            # No proxy stands before one's own machine.
            chosen.append(("grpc.enable_http_proxy", 0))
        if urlsplit(self.url).scheme == "http":
            return library.insecure_channel(address, chosen)
        roots = Path(self.ca).read_bytes() if self.ca else None
        import grpc

        return library.secure_channel(address, grpc.ssl_channel_credentials(roots), chosen)

    def speaks_tls(self) -> bool | None:
        """Whether the server does, whatever its certificate. None if nothing there answers within a second."""
        # Without the system's certificates, which take 30 ms to read: none is verified.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        try:
            with socket.create_connection((self.host, self.port), 1) as connection:
                context.wrap_socket(connection, server_hostname=self.host).close()
        except ssl.SSLError as error:
            # What speaks it refuses a client by an alert.
            return "ALERT" in str(error)
        except OSError:
            return None
        return True

    async def addresses(self) -> set[str]:
        """The addresses of its name, as targets of channels. Of one family, since both lead to the same replicas."""
        found = await in_thread(lambda: socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM))
        four = {str(address[0]) for family, *_, address in found if family == socket.AF_INET}
        six = {str(address[0]) for family, *_, address in found if family == socket.AF_INET6}
        return {f"ipv4:{it}:{self.port}" for it in four} or {f"ipv6:[{it}]:{self.port}" for it in six}
