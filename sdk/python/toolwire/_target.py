"""Where a server is, and how it is spoken to."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolwire._fork import is_child
from toolwire._threads import in_thread
from toolwire.errors import Refused, refusal

# Of a message, either way. Data is at most 3 MiB of it.
MOST_BYTES = 4 * 1024 * 1024


class WrongTarget(ValueError):
    """What was said of a server leads to none."""


def _odd(text: str) -> str:
    """What is wrong with a token or a name; empty if nothing is."""
    odd = [it for it in text if not "!" <= it <= "~"]
    return f"contains {odd[0]!r}: it is of visible ASCII characters, without spaces" if odd else ""


@dataclass(frozen=True)
class Target:
    """A server by its URL, `http://HOST:PORT` or `https://HOST:PORT`, and what it is trusted and told by."""

    url: str
    token: str = field(default="", repr=False)
    # A PEM file with the certificate that signed the server's. Empty: those that grpc trusts.
    ca: str = ""
    # Who calls a server that has no credentials of users.
    user: str = ""
    # A file with the token in place of `token`, which is read anew for every stream: it is replaced meanwhile.
    token_file: str = ""

    @classmethod
    def read(
        cls, url: str | None, token: str | None, ca: str | None, token_name: str, user: str = "", token_file: str = ""
    ) -> Target:
        """What is not given is in the environment, as for every client. Raises WrongTarget of what cannot be one."""
        origin = "" if url else "TOOLWIRE_SERVER: "
        url = (url or os.environ.get("TOOLWIRE_SERVER", "http://127.0.0.1:50051")).strip()
        # As files end, and what is read of them.
        token = (os.environ.get(token_name, "") if token is None else token).rstrip("\r\n")
        ca = os.environ.get("TOOLWIRE_CA", "") if ca is None else ca
        if token and token_file:
            raise WrongTarget(f"there are two tokens, in {token_file!r} and by {token_name} or token=…: give one")
        target = cls(url, token, ca, user, token_file)
        try:
            is_url = urlsplit(url).scheme in ("http", "https") and target.host and target.port
        except ValueError:
            is_url = False
        if not is_url:
            example = "http://127.0.0.1:50051" if "://" in url else f"http://{url}"
            raise WrongTarget(f"{origin}{url!r} is not the URL of a server, such as {example}")
        for what, text in ((f"the token ({token_name}, or token=…)", token), ("the name of the user", user)):
            if wrong := _odd(text):
                raise WrongTarget(f"{what} {wrong}")
        if token_file:
            try:
                target.current_token()
            except Refused as refused:
                raise WrongTarget(refused.message) from None
        if ca and url.startswith("https:"):
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(ca)
            except OSError as error:
                raise WrongTarget(f"{ca!r} (TOOLWIRE_CA) is no PEM file of certificates: {error}") from None
        return target

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
    def has_token(self) -> bool:
        return bool(self.token or self.token_file)

    def current_token(self) -> str:
        """The token, of a file as it is now. Raises Refused, as by a server that is away, of a file that has none."""
        if not self.token_file:
            return self.token
        try:
            token = Path(self.token_file).read_text(encoding="utf-8").strip("\r\n")
            wrong = _odd(token) if token else "is empty"
        except (OSError, ValueError) as error:
            token, wrong = "", f"cannot be read: {error}"
        if wrong:
            refused = refusal("UNAVAILABLE", f"the token in {self.token_file!r} {wrong}")
            refused.retryable = True
            raise refused
        return token

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        token = (("authorization", f"Bearer {self.current_token()}"),) if self.has_token else ()
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

    async def explain(
        self, refused: Refused, in_thread: Callable[[Callable[[], bool | None]], Awaitable[bool | None]] = in_thread
    ) -> Refused:
        """The same, with what to do where the server was not reached: final if that is to speak to it otherwise."""
        if refused.status != "UNAVAILABLE" or refused.reason:
            return refused
        hint, is_final = f"no answer of a server at {self.url}: start it, or name another by TOOLWIRE_SERVER", False
        speaks_tls = await in_thread(self.speaks_tls)
        if speaks_tls is not None and speaks_tls != self.url.startswith("https:"):
            protocol, scheme = ("TLS", "https") if speaks_tls else ("no TLS", "http")
            hint, is_final = f"the server at {self.url} speaks {protocol}: name it {scheme}://…", True
        elif "CERTIFICATE" in refused.message:
            hint = f"the certificate of {self.url} is not trusted: name that of its signer by TOOLWIRE_CA"
            is_final = True
        explained = refusal(refused.status, f"{hint} ({refused.message})")
        explained.retryable = not is_final
        return explained

    async def addresses(self) -> set[str]:
        """The addresses of its name, as targets of channels. Of one family, since both lead to the same replicas."""
        found = await in_thread(lambda: socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM))
        four = {str(address[0]) for family, *_, address in found if family == socket.AF_INET}
        six = {str(address[0]) for family, *_, address in found if family == socket.AF_INET6}
        return {f"ipv4:{it}:{self.port}" for it in four} or {f"ipv6:[{it}]:{self.port}" for it in six}
