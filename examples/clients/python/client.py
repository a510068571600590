"""The tool service that the environment names: TOOLWIRE_SERVER, and TOOLWIRE_CA and TOOLWIRE_TOKEN if it needs them."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import grpc

server = urlsplit(os.environ.get("TOOLWIRE_SERVER", "http://127.0.0.1:50051"))
ca = os.environ.get("TOOLWIRE_CA")
token = os.environ.get("TOOLWIRE_TOKEN")

# Goes with every call.
metadata = [("authorization", f"Bearer {token}")] if token else []


def open_channel():
    if server.scheme == "http":
        return grpc.insecure_channel(server.netloc)
    roots = Path(ca).read_bytes() if ca else None
    return grpc.secure_channel(server.netloc, grpc.ssl_channel_credentials(roots))
