"""What may be reached: host rules, then the addresses behind a name, each one classified.

Patterns are matched on parsed hosts, never on the text of a URL.
"""

from __future__ import annotations

import socket
from collections import deque
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from browser.errors import NameUnknown, Refused
from browser.net.address import Address, AddressKind, Resolve, classify
from browser.net.url import WEB_SCHEMES, WEBSOCKET_SCHEMES, parse

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class HostPattern:
    """`example.org`, `*.example.org` (the domain and all below it), `*`, each with `:port` or not.

    Hosts may be written in any spelling that a browser takes; `port` None means every port.
    """

    host: str
    port: int | None = None
    below: bool = False

    @classmethod
    def parse(cls, text: str) -> HostPattern:
        """Read one pattern. Raises ValueError, saying what is wrong with it."""
        text = text.strip()
        below = text.startswith("*.")
        if text in {"*", "*.*"}:
            return cls(host="", below=True)
        authority = _authority(text.removeprefix("*."))
        url = parse(f"http://{authority}")
        if url is None or not url.host or "@" in authority or "*" in authority:
            raise ValueError(f"not a host pattern: {text!r} (example.org, *.example.org, [::1]:80)")
        return cls(host=_bare(url.host), port=_port(authority, url.port), below=below)

    def matches(self, host: str, port: int | None = None) -> bool:
        """Match a host in ASCII form, as `browser.net.url.host` gives it."""
        if self.port is not None and port is not None and port != self.port:
            return False
        host = _bare(host)
        return not self.host or host == self.host or (self.below and host.endswith(f".{self.host}"))


class HostRules:
    """Allow and deny lists. A denied host is refused even if allowed; no allow list allows all."""

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self.allow = tuple(HostPattern.parse(text) for text in allow)
        self.deny = tuple(HostPattern.parse(text) for text in deny)

    def check(self, url: str) -> None:
        """Raise Refused unless the host that a browser would go to for `url` is allowed."""
        parsed = parse(url)
        if parsed is None or not parsed.host:
            raise Refused(f"not a web address: {url[:200]!r}", hint="Give a full http(s) URL.")
        self.check_host(parsed.host, parsed.port)

    def check_host(self, host: str, port: int) -> None:
        """As `check`, for a parsed host."""
        if any(pattern.matches(host, port) for pattern in self.deny):
            raise Refused(f"{host} is on the deny list", hint="Remove it from --deny to reach it.")
        if self.allow and not any(pattern.matches(host, port) for pattern in self.allow):
            raise Refused(f"{host} is not on the allow list", hint=f"Add --allow {host}.")


def _authority(text: str) -> str:
    """Take `host[:port]` out of what people paste: a whole URL, IPv6 without its brackets."""
    authority = (text.partition("://")[2] or text).partition("/")[0]
    bare_v6 = authority.count(":") > 1 and not authority.startswith("[")
    return f"[{authority}]" if bare_v6 else authority


def _bare(host: str) -> str:
    return host.rstrip(".")


def _port(authority: str, parsed: int) -> int | None:
    """The port where one is written: the parser alone cannot tell `host` from `host:80`."""
    written = authority.rpartition(":")[2]
    return parsed if ":" in authority and written.isdigit() else None


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


# How our own client tells the guard's answers from a server's: never passed on from outside.
VERDICT = "x-egress-verdict"
REFUSED, UNREACHABLE, UNKNOWN, UNANSWERED = "403", "502", "503", "504"
"""The verdicts are the statuses: those of a tunnel are all that its client gets to see."""


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
        if ".." in host:
            raise self._refuse(host, port, "no name has an empty part")
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
    """Return the addresses that a host is without asking anyone: literals and `localhost`.

    The GNU C library takes `*` for this machine, and so may an attached Chrome.
    """
    bare = host.rstrip(".")
    if host == "*" or bare == "localhost" or bare.endswith(".localhost"):
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
