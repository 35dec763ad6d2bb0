"""A git server on loopback: `git http-backend` behind http.server, with or without a password. The test stops it."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class GitServer:
    """`url` serves every repository below `folder`; `requests` are the paths asked for, in order."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.requests: list[str] = []
        self.refuse = False
        """True: answer 401, as GitHub does without credentials."""


@contextmanager
def serving(folder: Path) -> Iterator[GitServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.state = GitServer(folder, server.server_address[1])  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.state  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        state: GitServer = self.server.state  # type: ignore[attr-defined]
        state.requests.append(self.path)
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if state.refuse:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        path, _, query = self.path.partition("?")
        environ = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(state.folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "REMOTE_ADDR": "127.0.0.1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
            "GIT_CONFIG_KEY_1": "uploadpack.allowReachableSHA1InWant", "GIT_CONFIG_VALUE_1": "true",
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=data, env=environ, capture_output=True, check=True)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
