"""A forum that notes when it was asked what: `origin.py FILE`. It prints its port, and finds nothing."""

import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Forum(BaseHTTPRequestHandler):
    """Answers each search with an empty list."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        at = time.monotonic()
        NOTES.write(f"{at} {self.path}\n")
        NOTES.flush()
        body = b'{"topics": [], "posts": [], "grouped_search_result": {"term": ""}}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


NOTES = open(sys.argv[1], "w")
server = ThreadingHTTPServer(("127.0.0.1", 0), Forum)
print(server.server_address[1], flush=True)
server.serve_forever()
