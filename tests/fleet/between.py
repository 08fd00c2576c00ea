# SPDX-License-Identifier: MIT
"""An HTTP proxy between a command and ClickHouse. It can also stand in for ClickHouse. A test tells the proxy to answer
with an error, to break the connection, to hang or to redirect. The proxy keeps the statements that it received, their
headers and their bodies."""
import contextlib
import http.client
import http.server
import ssl
import threading
import urllib.parse

from support.run import TIMEOUT_S


class Between:
    """The proxy. It calls answer(statement, number) for each statement, which returns one of these values. None: pass
    the statement to the server. (status, text, headers): answer with these. "break": break the connection. "break
    after": pass the statement to the server, and break the connection after that. "hang": do not answer. "drip": answer
    with one byte after the other, and do not end. A file `certificate`, with a certificate and its key, enables TLS."""

    def __init__(self, behind=None, answer=lambda statement, number: None, certificate=None):
        self.statements, self.headers, self.bodies, self.behind, self.answer = [], [], [], behind, answer
        self.released = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                outer.serve(self)

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def port(self):
        return self.server.server_address[1]

    def url(self, database="fleet"):
        return f"{self.scheme}://127.0.0.1:{self.port}/{database}"

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def serve(self, request):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        words = urllib.parse.parse_qs(urllib.parse.urlsplit(request.path).query)
        statement = words.get("query", [body.decode(errors="replace")])[0]
        self.statements.append(statement)
        self.headers.append(dict(request.headers))
        self.bodies.append(body)
        told = self.answer(statement, len(self.statements))
        if told == "hang":
            self.released.wait()
            told = "break"
        if told == "drip":
            self.drip(request)
            told = "break"
        if told in (None, "break after"):
            passed = self.pass_on(request.path, body)
            told = passed if told is None else "break"
        if told == "break":
            request.close_connection = True
            request.connection.close()
            return
        status, text, headers = told
        request.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **headers}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(text)

    def drip(self, request):
        request.send_response(200)
        request.send_header("Content-Length", str(1 << 20))
        request.end_headers()
        with contextlib.suppress(OSError):
            while not self.released.wait(0.1):
                request.wfile.write(b"1")

    def pass_on(self, path, body):
        connection = http.client.HTTPConnection(self.behind.host, self.behind.http_port, timeout=TIMEOUT_S)
        connection.request("POST", path, body)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text, {}


def exception(code, words):
    """Returns an error response with the wording of ClickHouse."""
    return 500, f"Code: {code}, e.displayText() = DB::Exception: {words}, e.what() = DB::Exception".encode(), {}
