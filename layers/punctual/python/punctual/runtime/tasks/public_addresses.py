"""The addresses that a task may connect to if its parameters name the host: public ones, and allowed networks.

Without this check, a submitter could read what only this machine or account may: loopback, private networks, and the
metadata service with the credentials of the task.
"""

from __future__ import annotations

import os
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from punctual.domain.errors import Fatal

ALLOWED_NETWORKS = "HTTP_CALL_NETWORKS"
"""The variable with the stage's `http_call_networks`, separated by commas."""


def public_addresses(host: str, port: int) -> list[str]:
    """Resolve ``host``. Raises ``Fatal`` if an address is neither public nor in an allowed network.

    Connect to one of the returned addresses, not to ``host``: a second resolution could return another address. Repeat
    the check for the target of a redirect. Raises ``OSError`` or ``UnicodeError`` if ``host`` cannot be resolved.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(address[0]) for *_, address in found]
    for address in addresses:
        if not _is_allowed(ip_address(address)):
            raise Fatal(
                f"{host} is {address}, which is not a public address: call a public one, or let an administrator add "
                "its network to http_call_networks in the settings of the stage"
            )
    return addresses


def _is_allowed(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address) and (embedded := address.ipv4_mapped or address.sixtofour):
        return _is_allowed(embedded)
    is_site_local = isinstance(address, IPv6Address) and address.is_site_local  # `is_global` is true for it
    if address.is_global and not (address.is_multicast or address.is_reserved or is_site_local):
        return True
    networks = os.environ.get(ALLOWED_NETWORKS, "").split(",")
    return any(address in ip_network(network) for network in networks if network)
