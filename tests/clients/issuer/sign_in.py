"""Signs in with the unchanged Python SDK of MCP, given only the URL of a server, and calls tools:
`sign_in.py URL ERA CALLS`, where CALLS is a JSON array of `[tool, arguments]`. BROWSER is the command that opens a
page; CLIENT_ID names a client that the issuer knows, without which the SDK registers one. It prints each result on a
line.

It adds only what the SDK requires of an application: storage, and the page that the browser returns to.
"""

import asyncio
import json
import os
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata


class Kept:
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def main(url, era, calls):
    returned = asyncio.Queue()

    async def page(reader, writer):
        line = (await reader.readline()).decode().split(" ")[1]
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()
        returned.put_nowait({name: values[0] for name, values in parse_qs(urlsplit(line).query).items()})

    async def open_page(address):
        browser = await asyncio.create_subprocess_exec(*os.environ["BROWSER"].split(" "), address)
        assert await browser.wait() == 0

    async def callback():
        query = await returned.get()
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    listener = await asyncio.start_server(page, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    metadata = OAuthClientMetadata(
        client_name="gate-python",
        redirect_uris=[f"http://127.0.0.1:{port}/callback"],
        token_endpoint_auth_method="none",
    )
    kept = Kept()
    if client_id := os.environ.get("CLIENT_ID"):
        kept.client = OAuthClientInformationFull(client_id=client_id, **metadata.model_dump())
    provider = OAuthClientProvider(url, metadata, kept, open_page, callback)
    async with httpx2.AsyncClient(auth=provider, timeout=30, trust_env=False) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=era) as client:
            for tool, arguments in json.loads(calls):
                result = await client.call_tool(tool, arguments)
                print(result.model_dump_json(by_alias=True))
    listener.close()


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 60))
