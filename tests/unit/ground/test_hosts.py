"""DNS rebinding: a server answers only to its own names, and says so in words."""

import http.client
import socket

import pytest
from answering import answering

from tstbench.hosts import Hosts
from tstbench.pipelines.hub.serve import make_server

REBOUND = ["evil.example", "evil.example:8090", "127.0.0.1.evil.example", "localhost.evil.example"]
ODD = [
    "",
    "a b",
    "[",
    "[::1",
    "::1",
    "localhost:x",
    "localhost:80:80",
    "user@localhost",
    "a/localhost",
]


@pytest.mark.parametrize("header", [*REBOUND, *ODD, None])
def test_other_names_are_refused(header):
    assert Hosts("127.0.0.1").refusal(header)
    assert Hosts("0.0.0.0").refusal(header)


@pytest.mark.parametrize(
    "header",
    ["localhost", "LOCALHOST:8090", "localhost.", "127.0.0.1:8090", "[::1]:8090", "192.168.1.7"],
)
def test_loopback_and_addresses_of_digits_are_answered(header):
    assert Hosts("127.0.0.1").refusal(header) is None


def test_names_that_were_given():
    assert Hosts("my-box").refusal("My-Box:80") is None
    assert Hosts("127.0.0.1", ["rate.example.org"]).refusal("rate.example.org") is None
    assert Hosts("127.0.0.1", ["rate.example.org"]).refusal("x.rate.example.org")
    assert Hosts("127.0.0.1", ["*"]).refusal("anything.example") is None
    mine = socket.gethostname()
    assert Hosts("0.0.0.0").refusal(mine) is None
    refusal = Hosts("127.0.0.1").refusal("evil\u202e.example")
    assert "\u202e" not in refusal
    assert "--allow-host" in refusal


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("hub")
    (root / "datasets").mkdir()
    with answering(make_server(root, allowed_hosts=["hub.example.org"])) as running:
        yield running


def ask(server, method="GET", path="/", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read().decode()
    connection.close()
    return answer.status, content


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"])
def test_the_hub_server_refuses_every_method(server, method):
    status, content = ask(server, method, Host="evil.example")
    assert status == 421
    assert method == "HEAD" or "does not answer to the name 'evil.example'" in content
    assert ask(server, "GET", Host="hub.example.org")[0] == 200
    assert ask(server, "GET")[0] == 200


def test_a_request_without_a_host_or_with_two_is_refused(server):
    for lines in ("", "Host: localhost\r\nHost: evil.example\r\n"):
        with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as raw:
            raw.sendall(f"GET / HTTP/1.1\r\n{lines}\r\n".encode())
            assert raw.recv(100).startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        ("http://127.0.0.1:8090", True),
        ("https://rate.example.org", True),  # behind a proxy with TLS
        ("http://127.0.0.1:3000", False),
        ("https://evil.example", False),
        ("https://x.rate.example.org", False),
        ("null", False),
        ("", False),
    ],
)
def test_pages_of_other_websites_may_not_use_a_server(origin, own):
    hosts = Hosts("127.0.0.1", ["rate.example.org"])
    assert (hosts.foreign(origin, "127.0.0.1:8090") is None) == own
    assert Hosts("0.0.0.0", ["*"]).foreign(origin, "space.hf.space") is None
