"""A server that answers while a test asks it, and where one may."""

import http.client
import socket
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from urllib.parse import urlsplit


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def asked(url, body=None, **headers):
    """Status, text and headers of an answer; a body is posted as it is."""
    request = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def ask(url, path, method="GET", body=None, **headers):
    """Status, headers and bytes of an answer to this path as it is; ``_`` in a header is ``-``."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)
    connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


@contextmanager
def answering(server):
    """The server, which answers in a thread of its own until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
