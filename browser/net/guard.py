"""What may be reached: host rules, then the addresses behind a name, each one classified."""

from __future__ import annotations

import socket
from collections import deque
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from browser.errors import Refused
from browser.net.address import Address, AddressKind, classify
from browser.net.resolve import NameUnknown
from browser.net.rules import HostPattern, HostRules
from browser.net.url import WEB_SCHEMES, WEBSOCKET_SCHEMES, parse

if TYPE_CHECKING:
    from browser.net.resolve import Resolve

# The last refusals are for the report and the journal; a hostile page can cause any number.
_KEPT_REFUSALS = 1000

# https://fetch.spec.whatwg.org/#port-blocking: ports of services that would take an HTTP request
# for commands (SMTP, IRC, …). Chromium refuses them, so the HTTP path does.
BLOCKED_PORTS = frozenset(
    int(port)
    for port in (
        "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 "
        "110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 "
        "530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 "
        "4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080 "
    ).split()
)

# What Chromium asks of its maker without being told to, and flags do not stop: updates, safe
# browsing lists, page hints. No page needs them, and they would tell of every run.
_HOUSEKEEPING = HostRules(
    deny=(
        "update.googleapis.com",
        "clients2.google.com",
        "optimizationguide-pa.googleapis.com",
        "safebrowsing.googleapis.com",
        "content-autofill.googleapis.com",
        "edge.microsoft.com",
    )
)

_LOOPBACK: tuple[Address, ...] = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
# Naming a host lets its name lead to these kinds of address. The others (metadata services,
# multicast, …) must be named by the address itself: no intranet site lives there.
_NAMEABLE = frozenset(
    {
        AddressKind.PRIVATE,
        AddressKind.LOOPBACK,
        AddressKind.LINK_LOCAL,
        AddressKind.SHARED,
        AddressKind.RESERVED,
    }
)


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """What may be reached. Hosts are patterns as in `HostPattern`: `*.example.org`, `[::1]:80`.

    `allow_private` names hosts that are reached although they, or the addresses behind them, are
    private; `upstream_proxy` is an `http://[user:password@]host:port` that public traffic
    is chained through.
    """

    allow_private: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    upstream_proxy: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """One connection that was turned away, and why."""

    host: str
    port: int
    reason: str


class Guard:
    """Decides for every host and port, and remembers what it refused."""

    def __init__(self, policy: EgressPolicy, resolve: Resolve) -> None:
        """Raises ValueError where a pattern of the policy is none."""
        self.rules = HostRules(policy.allow_hosts, policy.deny_hosts)
        self.refusals: deque[Refusal] = deque(maxlen=_KEPT_REFUSALS)
        self._named = tuple(HostPattern.parse(text) for text in policy.allow_private)
        self._resolve = resolve
        self.own_port: int | None = None  # the proxy's, which must not be asked to ask itself

    def check_url(self, url: str) -> None:
        """Raise Refused for what can be told without asking a name server."""
        parsed = parse(url)
        if parsed is None or parsed.scheme not in WEB_SCHEMES | WEBSOCKET_SCHEMES:
            raise Refused(f"not a web address: {url[:200]!r}", hint="Give a full http(s) URL.")
        self.check(parsed.host, parsed.port)

    def check(self, host: str, port: int) -> None:
        """As `check_url`, for a host in ASCII form."""
        _HOUSEKEEPING.check_host(host, port)
        try:
            self.rules.check_host(host, port)
        except Refused as refused:
            raise self._refuse(host, port, str(refused), refused.hint) from None
        if self.is_named(host, port):
            return
        if port in BLOCKED_PORTS:
            raise self._refuse(host, port, f"port {port} is no web port")
        literal = _literal(host)
        if literal:
            self._check_addresses(host, port, literal)

    async def addresses(self, host: str, port: int) -> tuple[Address, ...]:
        """Return the addresses that may be dialled for `host`: at least one, each classified.

        Raises Refused where all are out of bounds, NameUnknown where the name has none.
        """
        self.check(host, port)
        found = _literal(host) or tuple(await self._resolve(host))
        if not found:
            raise NameUnknown(f"the name {host} has no address")
        return self._check_addresses(host, port, found)

    def is_named(self, host: str, port: int) -> bool:
        """Say whether this host was named as private and allowed."""
        return any(pattern.matches(host, port) for pattern in self._named)

    def _check_addresses(
        self, host: str, port: int, found: tuple[Address, ...]
    ) -> tuple[Address, ...]:
        named = self.is_named(host, port)
        if port == self.own_port and any(a.is_loopback for a in found):
            raise self._refuse(host, port, f"port {port} is the guard itself")
        permitted = tuple(a for a in found if _permits(a, named=named, literal=_is_literal(host)))
        if permitted:
            return permitted
        kind = classify(found[0])
        what = "this machine's own" if kind is AddressKind.PUBLIC else kind.value
        leads = "" if _is_literal(host) else f", where {host} leads,"
        raise self._refuse(host, port, f"{found[0]}{leads} is a {what} address")

    def _refuse(self, host: str, port: int, reason: str, hint: str | None = None) -> Refused:
        self.refusals.append(Refusal(host, port, reason))
        return Refused(reason, hint=hint)


def _permits(address: Address, *, named: bool, literal: bool) -> bool:
    kind = classify(address)
    if named and (literal or kind in _NAMEABLE):
        return True
    return kind is AddressKind.PUBLIC and (named or not _is_own(address))


def _literal(host: str) -> tuple[Address, ...]:
    """Return the addresses that a host is without asking anyone: literals and `localhost`."""
    bare = host.rstrip(".")
    if bare == "localhost" or bare.endswith(".localhost"):
        return _LOOPBACK
    return (ip_address(bare),) if _is_literal(host) else ()


def _is_literal(host: str) -> bool:
    try:
        ip_address(host.rstrip("."))
    except ValueError:
        return False
    return True


def _is_own(address: Address) -> bool:
    """Say whether packets to `address` would stay on this machine, services bound to it included.

    Connecting a datagram socket sends nothing; it only asks the kernel which source it would use.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return ip_address(str(probe.getsockname()[0]).partition("%")[0]) == address
    except OSError:
        return False  # no route of this family: dialling it will say so
