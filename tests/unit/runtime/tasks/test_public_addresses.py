from __future__ import annotations

import socket

import pytest

from punctual import Fatal, public_addresses

REFUSED = [
    *("127.0.0.1", "127.8.9.1", "localhost", "0.0.0.0", "2130706433", "0x7f000001", "0177.0.0.1", "127.1"),
    *("::1", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1"),
    *("169.254.169.254", "169.254.170.2", "fe80::1", "fd00:ec2::254"),
    *("10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fc00::1", "fec0::1"),
    *("224.0.0.1", "ff02::1", "255.255.255.255"),
]


@pytest.mark.parametrize("host", REFUSED)
def test_an_address_that_is_not_public_is_refused_in_every_notation(host: str) -> None:
    with pytest.raises(Fatal, match=r"which is not a public address: .* http_call_networks in the settings"):
        public_addresses(host, 80)


@pytest.mark.parametrize("host", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_a_public_address_is_returned(host: str) -> None:
    assert public_addresses(host, 443) == [host]


def test_a_name_with_one_address_that_is_not_public_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 80)) for one in ("93.184.215.14", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: entries)
    with pytest.raises(Fatal, match=r"both\.example is 10\.0\.0\.1"):
        public_addresses("both.example", 80)


def test_the_networks_of_the_stage_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_CALL_NETWORKS", "10.1.0.0/16,fd12::/16")
    assert public_addresses("10.1.2.3", 80) == ["10.1.2.3"]
    assert public_addresses("fd12::1", 80) == ["fd12::1"]
    for host in ("10.2.0.1", "127.0.0.1"):
        with pytest.raises(Fatal):
            public_addresses(host, 80)
