"""What a person reads of the client: its errors and how to catch them, its `repr`, and its help."""

import pickle
import pydoc
import re
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.fake_tools import FakeTools, Refusal
from tests.on_loop import OnLoop
from toolwire import AsyncToolwire, Closed, Host, Refused, Toolwire, ToolwireError, errors
from toolwire._stubs.toolwire.v1 import event_pb2
from toolwire._target import Target
from toolwire.errors import ConfirmationRequired, refusal

PAGES = Path(__file__).parents[3]
REQUEST_ID = "0196f1c2-7a4b-7c3d-8e5f-0123456789ab"
KINDS = [Toolwire.connect, lambda *args, **options: OnLoop(lambda: AsyncToolwire.connect(*args, **options))]
Connect = Callable[..., Any]


@pytest.mark.parametrize("connect", KINDS)
@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        ("NOT_FOUND", errors.NotFound, "NOT_FOUND"), ("UNAVAILABLE", errors.Unavailable, "UNAVAILABLE"),
        ("DEADLINE_EXCEEDED", errors.ToolTimeout, "TIMEOUT"), ("ABORTED", errors.Conflict, "CONFLICT"),
        ("ALREADY_EXISTS", errors.Conflict, "CONFLICT"), ("FAILED_PRECONDITION", errors.Conflict, "CONFLICT"),
        ("INVALID_ARGUMENT", errors.InvalidArgument, "INVALID_ARGUMENT"),
        ("PERMISSION_DENIED", errors.PermissionDenied, "PERMISSION_DENIED"),
        ("RESOURCE_EXHAUSTED", errors.RateLimited, "RATE_LIMITED"), ("CANCELLED", errors.Cancelled, "CANCELLED"),
        ("UNAUTHENTICATED", errors.AuthFailed, "AUTH_FAILED"), ("INTERNAL", Refused, "INTERNAL"),
        ("UNIMPLEMENTED", Refused, "UNIMPLEMENTED"),
    ],
)
def test_a_refusal_is_the_error_of_its_code_and_names_the_call(
    connect: Connect, status: str, kind: type[ToolwireError], code: str
) -> None:
    def refuse(_: Any) -> Any:
        raise Refusal(getattr(grpc.StatusCode, status), "WHY", 60 if status == "RESOURCE_EXHAUSTED" else 0)

    fake = FakeTools()
    fake.answers = {"CallTool": refuse, "InvokeTool": refuse}
    with connect(fake.url, retries=0) as tools:
        for call in (tools.call, lambda *args, **options: list(tools.stream(*args, **options))):
            with pytest.raises(kind) as raised:
                call("order", request_id=REQUEST_ID, timeout=10)
            error = raised.value
            assert isinstance(error, Refused)
            assert (error.status, error.code, error.request_id) == (status, code, REQUEST_ID)
            assert error.retryable == (status in ("UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"))
            assert error.retry_after == (60 if status == "RESOURCE_EXHAUSTED" else None)
            assert type(error).__name__ == kind.__name__
    fake.close()


@pytest.mark.parametrize(
    "error",
    [
        refusal("NOT_FOUND", "no tool", "UNKNOWN_TOOL", 2.0), refusal("INTERNAL", "a bug"), errors.Conflict("taken"),
        ConfirmationRequired.of(event_pb2.ConfirmationRequired(confirmation_id="c", summary="Pay", request_id="r")),
        Closed("closed"),
    ],
)
def test_an_error_passes_between_processes(error: ToolwireError) -> None:
    read = pickle.loads(pickle.dumps(error))
    assert (type(read), str(read), vars(read)) == (type(error), str(error), vars(error))


def test_a_client_that_is_closed_says_so() -> None:
    with Toolwire.connect("http://127.0.0.1:1") as tools:
        pass
    asks: list[Callable[[], Any]] = [
        tools.list_tools, lambda: tools.call("a"), lambda: tools.tasks.get("a"), lambda: next(tools.stream("a")),
    ]
    for ask in asks:
        with pytest.raises(Closed, match=r"this client of http://127\.0\.0\.1:1 is closed") as closed:
            ask()
        assert closed.value.code == "CLOSED"
    tools.close()


def tell() -> None: ...


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int, str]]:
    """The port of a server that speaks TLS, that of one that does not, and the certificate."""
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )
    servers = [grpc.server(ThreadPoolExecutor(2)) for _ in range(2)]
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])
    ports = servers[0].add_secure_port("127.0.0.1:0", credentials), servers[1].add_insecure_port("127.0.0.1:0")
    for server in servers:
        server.start()
    yield (*ports, str(certificate))
    for server in servers:
        server.stop(0)


@pytest.mark.parametrize("connect", KINDS)
def test_a_url_of_the_wrong_scheme_is_said_at_the_first_attempt(
    connect: Connect, tls: tuple[int, int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another attempt would never end.
    monkeypatch.setattr("toolwire.client.FIRST_PAUSE", 1e6)
    speaks, does_not, certificate = tls
    for url, ca, said in [
        (f"http://localhost:{speaks}", "", "speaks TLS: name it https://"),
        (f"https://localhost:{does_not}", "", "speaks no TLS: name it http://"),
        (f"https://localhost:{speaks}", "", "is not trusted: name that of its signer by TOOLWIRE_CA"),
    ]:
        with connect(url, ca=ca) as tools, pytest.raises(errors.Unavailable, match=said) as refused:
            tools.call("a", timeout=1e8)
        assert not refused.value.retryable
        with pytest.raises(errors.Unavailable, match=said), Host([tell], server=url, ca=ca, connect_timeout=1e6):
            pass
    with connect(f"https://localhost:{speaks}", ca=certificate) as tools, pytest.raises(Refused) as understood:
        tools.call("a")
    assert understood.value.code == "UNIMPLEMENTED"


def test_a_client_says_where_it_leads_and_as_whom_without_its_token() -> None:
    secret = "rileys-token-of-20-chars"
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "without a token"), ({"token": secret}, "the user of its token"), ({"user": "riley"}, "user 'riley'"),
    ]
    for options, said in cases:
        with Toolwire.connect("http://127.0.0.1:1", **options) as tools:
            assert repr(tools) == f"Toolwire(http://127.0.0.1:1, {said})"
    assert secret not in repr(Target("http://127.0.0.1:1", secret))


def test_a_user_without_credentials_goes_by_a_name() -> None:
    fake = FakeTools()
    fake.answers["CancelCall"] = lambda _: None
    with Toolwire.connect(fake.url, user="riley") as tools, pytest.raises(ToolwireError):
        tools.cancel("c")
    assert fake.metadata[0]["x-toolwire-user"] == "riley"
    fake.close()


@pytest.mark.parametrize("client", [Toolwire, AsyncToolwire])
def test_help_shows_every_option_and_what_comes_back(client: Any) -> None:
    for name in ("call", "call_text", "stream"):
        text = pydoc.plain(pydoc.render_doc(getattr(client, name)))
        for option in ("request_id", "task_id", "wait_for_approval", "timeout"):
            assert f"{option}: " in text, (name, option)
    assert "How many seconds to wait for a person" in pydoc.plain(pydoc.render_doc(client.call))
    text = pydoc.plain(pydoc.render_doc(client))
    assert "**options" not in text
    iterator = "Iterator" if client is Toolwire else "AsyncGenerator"
    assert re.search(rf"stream\([^)]*self,[^)]*\) -> '{iterator}\[Event", text)
    names = [it for it in vars(AsyncToolwire) if not it.startswith("_")]
    assert all(hasattr(client, it) for it in names)


@pytest.mark.parametrize("page", ["README.md", "sdk/python/README.md"])
def test_functions_of_a_readme_say_what_their_dicts_hold(page: str) -> None:
    """As `mypy --strict` wants it."""
    functions = re.findall(r"def \w+\(.*\) -> (.*):", (PAGES / page).read_text())
    assert functions
    assert "dict" not in functions
