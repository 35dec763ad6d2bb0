"""A stand-in for GitHub's API on loopback, with a memory: in a thread, or as a process of its own.

`python tests/support/github_api.py PORT [--prefix /api/v3]` serves until it is ended. Every request and response is held against
GitHub's own OpenAPI description; what does not fit is kept in `violations`, and a request that is not in it is answered 400.

Beside the API (`_control` is no repository): GET /_control/{requests,state,violations}, POST /_control/seed (see `Hub.seed`),
POST /_control/faults (a list of `Fault` fields), DELETE /_control/faults, POST /_control/rename {"from", "to"},
POST /_control/lock {"repository", "number"}.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.github_faults import Fault
from support.github_handlers import HANDLERS, Answer, Call, failed, list_comments, list_issues
from support.github_openapi import description
from support.github_state import BOT, TOKEN, Hub

__all__ = ["BOT", "TOKEN", "Fault", "StandIn", "serve"]


@dataclass(frozen=True)
class Request:
    """One call as it arrived; of the token only the login it belongs to."""

    method: str
    path: str
    query: dict[str, str]
    login: str | None
    status: int
    operation: str | None
    body: Any
    at: float


class StandIn:
    """The world, the faults to come, and everything that was asked."""

    def __init__(self, prefix: str = "") -> None:
        self.hub = Hub()
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.violations: list[str] = []
        self.base = ""
        self.port = 0
        self.prefix = prefix
        self.before: Callable[[str, str], None] | None = None
        """Called with method and path before a call is done, outside the lock: tests put a concurrent event there."""
        self._description = description()
        self._lock = threading.RLock()

    def count(self, method: str = "") -> int:
        return sum(request.method == method or not method for request in self.requests)

    def respond(self, method: str, target: str, headers: dict[str, str], data: bytes) -> tuple[Answer, Fault | None]:
        """The answer, and the fault that decides how it is sent."""
        parts = urlsplit(target)
        path, query = parts.path.removeprefix(self.prefix), dict(parse_qsl(parts.query, keep_blank_values=True))
        if path.startswith("/_control/"):
            return self._control(method, path.removeprefix("/_control/"), data), None
        if path == "/graphql":
            return self._viewer(method, headers, data), None
        if self.before is not None:
            self.before(method, path)
        with self._lock:
            self.hub.tick += 1
            login = self.hub.accounts.get(headers.get("authorization", "").removeprefix("Bearer "))
            fault = next((one for one in self.faults if one.strikes(method, path)), None)
            answer, operation = self._answer(method, path, query, headers, data, login, fault)
            body = json.loads(data) if data and headers.get("content-type") == "application/json" else None
            self.requests.append(Request(method, path, query, login, answer.status, operation, body, time.monotonic()))
            return answer, fault

    def _viewer(self, method: str, headers: dict[str, str], data: bytes) -> Answer:
        """The one question to GraphQL, which the description of REST does not hold and `requests` does not list."""
        if method != "POST" or json.loads(data) != {"query": "query { viewer { login } }"}:
            self.violations.append(f"{method} /graphql asks for something else")
        login = self.hub.accounts.get(headers.get("authorization", "").removeprefix("Bearer "))
        return Answer(200, {"data": {"viewer": {"login": login}}}) if login else failed(401, "Bad credentials")

    def _answer(
        self,
        method: str,
        path: str,
        query: dict[str, str],
        headers: dict[str, str],
        data: bytes,
        login: str | None,
        fault: Fault | None,
    ) -> tuple[Answer, str | None]:
        path, moved = self._moved(method, path)
        found = self._description.operation(method, path)
        if found is None:
            self.violations.append(f"{method} {path} is not in GitHub's description")
            return failed(400, "Not in the description"), None
        operation, names = found
        names = {name: unquote(value) for name, value in names.items()}
        problems = self._description.request_problems(operation, names, query, headers, data)
        self.violations += problems
        if problems:
            return failed(400, "; ".join(problems)[:500]), operation.id
        answer = moved or (fault.answer() if fault else None)
        if answer is not None:
            return answer, operation.id
        if login is None:
            return failed(401, "Bad credentials"), operation.id
        full_name = f"{names['owner']}/{names['repo']}" if "owner" in names else next(iter(self.hub.repositories), "octo/demo")
        if full_name not in self.hub.repositories:
            return failed(404, "Not Found"), operation.id
        repository = self.hub.repositories[full_name]
        call = Call(self.hub, repository, self.base, path, names, query, json.loads(data) if data else None, login)
        handler = HANDLERS[operation.id]
        lists = next((one for one in (list_comments, list_issues) if one is handler), None)
        stale = fault is not None and fault.kind == "stale" and lists is not None
        answer = lists(call, hidden=fault.value or 1) if stale and fault and lists else handler(call)
        schema = self._description.schema_of(operation, answer.status)
        body = answer.body if schema is None else self._description.filled(schema, answer.body)
        self.violations += self._description.response_problems(operation, answer.status, body)
        if fault and fault.kind == "error_after":
            return failed(fault.value or 502, "Server Error"), operation.id
        return Answer(answer.status, body, answer.headers), operation.id

    def _moved(self, method: str, path: str) -> tuple[str, Answer | None]:
        """The path by name, and the redirect of a renamed repository, which leads to its number."""
        parts = path.split("/")
        if parts[1] == "repositories" and len(parts) > 2:
            name = next((one.full_name for one in self.hub.repositories.values() if str(one.id) == parts[2]), "gone/gone")
            return "/".join(["", "repos", name, *parts[3:]]), None
        old = "/".join(parts[2:4])
        if parts[1] != "repos" or old not in self.hub.renamed:
            return path, None
        repository = self.hub.repositories[self.hub.renamed[old]]
        location = "/".join([f"{self.base}/repositories/{repository.id}", *parts[4:]])
        return path, Answer(
            301 if method == "GET" else 307, {"message": "Moved Permanently", "url": location}, {"Location": location}
        )

    def _control(self, method: str, path: str, data: bytes) -> Answer:
        body: Any = json.loads(data) if data else {}
        with self._lock:
            match method, path:
                case "GET", "requests":
                    return Answer(200, [asdict(one) for one in self.requests])
                case "GET", "state":
                    return Answer(200, self.hub.dump())
                case "GET", "violations":
                    return Answer(200, self.violations)
                case "POST", "seed":
                    return Answer(200, self.hub.seed(body))
                case "POST", "faults":
                    self.faults += [Fault(**one) for one in body]
                case "DELETE", "faults":
                    self.faults.clear()
                case "POST", "rename":
                    self.rename(body["from"], body["to"])
                case "POST", "lock":
                    self.hub.repository(body["repository"]).pulls[body["number"]].locked = True
                case _:
                    return failed(404, "No such control")
        return Answer(204)

    def rename(self, old: str, new: str) -> None:
        repository = self.hub.repositories.pop(old)
        repository.full_name = new
        self.hub.repositories[new] = repository
        self.hub.renamed[old] = new


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    stand_in: StandIn

    def _serve(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer, fault = self.stand_in.respond(self.command, self.path, headers, data)
        kind = fault.kind if fault else None
        if fault and kind == "slow":
            time.sleep(fault.value)
        if kind in {"reset", "reset_after"}:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        content = b"" if answer.body is None else json.dumps(answer.body).encode()
        content = b"<html>Sign in</html>" if kind == "html" else content
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a client that lost its patience
            self._send(200 if kind == "html" else answer.status, answer, content, cut=kind == "cut")

    def _send(self, status: int, answer: Answer, content: bytes, *, cut: bool) -> None:
        self.send_response(status, "Whatever")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
        if cut:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = self.close_connection or cut

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve  # the names http.server looks for

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name of the base class
        """Silent: `requests` is the log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that we reset on purpose end in errors here; others are bugs of the stand-in."""
        if not isinstance(sys.exception(), OSError | ValueError):
            super().handle_error(request, client_address)


def _server(stand_in: StandIn, port: int) -> _Server:
    server = _Server(("127.0.0.1", port), type("Handler", (_Handler,), {"stand_in": stand_in}))
    stand_in.port = server.server_address[1]
    stand_in.base = f"http://127.0.0.1:{stand_in.port}{stand_in.prefix}"
    return server


@contextlib.contextmanager
def serve(prefix: str = "", *, port: int = 0, tls: ssl.SSLContext | None = None, name: str = "") -> Iterator[StandIn]:
    """A stand-in in a thread, with `octo/demo` and its pull request 7. Its address is `base`: on loopback, or https at `name`."""
    stand_in = StandIn(prefix)
    stand_in.hub.repository("octo/demo")
    server = _server(stand_in, port)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        stand_in.base = f"https://{name}{prefix}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("port", type=int, help="0: any; the address is printed")
    parser.add_argument("--prefix", default="", help="/api/v3 for an Enterprise server")
    parser.add_argument("--seed", type=Path, help="JSON file, see Hub.seed")
    arguments = parser.parse_args()
    stand_in = StandIn(arguments.prefix)
    stand_in.hub.repository("octo/demo")
    if arguments.seed:
        stand_in.hub.seed(json.loads(arguments.seed.read_text(encoding="utf-8")))
    server = _server(stand_in, arguments.port)
    sys.stdout.write(stand_in.base + "\n")
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
