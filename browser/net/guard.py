"""Who may be reached: host rules, then the addresses behind a name, each one classified.

Patterns are matched on parsed hosts, never on the text of a URL. `ipaddress.is_global` answers a
different question than `classify`: it lets multicast, several transition prefixes and the cloud
providers' metadata hosts through. The tables here follow the IANA special-purpose registries
(RFC 6890 and its updates), looking inside addresses that carry an IPv4 address.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING

from browser.errors import NameUnknown, Refused
from browser.net.url import WEB_SCHEMES, WEBSOCKET_SCHEMES, parse

if TYPE_CHECKING:
    from collections.abc import Iterable


Address = IPv4Address | IPv6Address
Resolve = Callable[[str], Awaitable[Sequence[Address]]]
"""From a host name (ASCII form) to one address at least, the preferred one first.

It raises NameUnknown for a name that has none.
"""


class AddressKind(StrEnum):
    """What an address is for. Only `PUBLIC` is reachable unless its host was named."""

    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    SHARED = "carrier-shared"
    METADATA = "cloud metadata"
    MULTICAST = "multicast"
    UNSPECIFIED = "unspecified"
    TRANSITION = "transition tunnel"
    RESERVED = "reserved"


def is_public(address: str | Address) -> bool:
    """Say whether `address` is ordinary public unicast."""
    return classify(address) is AddressKind.PUBLIC


def classify(address: str | Address) -> AddressKind:
    """Say what `address` (dotted, colon-hexadecimal, or parsed; a zone is ignored) is for.

    Raises ValueError where the text is no IP address. Other spellings of IPv4, such as
    `0x7f.1`, are the URL parser's matter (`browser.net.url.host`).
    """
    parsed = ip_address(address) if isinstance(address, str) else address
    if parsed in _METADATA:
        return AddressKind.METADATA
    if isinstance(parsed, IPv4Address):
        return _look_up(_IPV4, parsed, default=AddressKind.PUBLIC)
    return _classify_v6(IPv6Address(int(parsed)))


def _classify_v6(address: IPv6Address) -> AddressKind:
    if address in _METADATA:
        return AddressKind.METADATA
    kind = _look_up(_IPV6, address, default=AddressKind.RESERVED)
    inner = _embedded(address)
    if inner is None:
        return kind
    inner_kind = classify(inner)
    return kind if inner_kind is AddressKind.PUBLIC else inner_kind


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that `address` carries, where one of the known forms fits."""
    value = int(address)
    if address in _UNSPECIFIED_OR_LOOPBACK:
        return None
    if address in _SIX_TO_FOUR:
        return IPv4Address((value >> 80) & 0xFFFF_FFFF)
    if address in _TEREDO:
        return IPv4Address(~value & 0xFFFF_FFFF)
    if any(address in network for network in _IPV4_IN_LAST_32_BITS) or _is_isatap(value):
        return IPv4Address(value & 0xFFFF_FFFF)
    return None


def _is_isatap(value: int) -> bool:
    """RFC 5214: the interface identifier is `[02]00:5efe:` and an IPv4 address, in any prefix."""
    return (value >> 32) & 0xFFFF_FFFF in {0x0000_5EFE, 0x0200_5EFE}


def _look_up(
    table: tuple[tuple[IPv4Network | IPv6Network, AddressKind], ...],
    address: Address,
    *,
    default: AddressKind,
) -> AddressKind:
    return next((kind for network, kind in table if address in network), default)


def _v4(kind: AddressKind, *networks: str) -> tuple[tuple[IPv4Network, AddressKind], ...]:
    return tuple((IPv4Network(network), kind) for network in networks)


def _v6(kind: AddressKind, *networks: str) -> tuple[tuple[IPv6Network, AddressKind], ...]:
    return tuple((IPv6Network(network), kind) for network in networks)


# Amazon, Azure and Google, Amazon ECS tasks, Azure's wire server, Alibaba, Oracle, Amazon and
# Google over IPv6: they hand out a machine's credentials to whoever asks from that machine.
_METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)

_IPV4 = (
    *_v4(AddressKind.UNSPECIFIED, "0.0.0.0/8"),
    *_v4(AddressKind.PRIVATE, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    *_v4(AddressKind.SHARED, "100.64.0.0/10"),
    *_v4(AddressKind.LOOPBACK, "127.0.0.0/8"),
    *_v4(AddressKind.LINK_LOCAL, "169.254.0.0/16"),
    *_v4(AddressKind.MULTICAST, "224.0.0.0/4"),
    # protocol assignments, documentation, 6to4 relays, benchmarks, class E with broadcast
    *_v4(AddressKind.RESERVED, "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24"),
    *_v4(AddressKind.RESERVED, "203.0.113.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4"),
)

# Read in order. What is in none of these is outside global unicast (2000::/3): reserved.
_IPV6 = (
    *_v6(AddressKind.UNSPECIFIED, "::/128"),
    *_v6(AddressKind.LOOPBACK, "::1/128"),
    # IPv4-mapped and the well-known NAT64 prefix are public exactly if what they carry is
    *_v6(AddressKind.PUBLIC, "::ffff:0:0/96", "64:ff9b::/96"),
    *_v6(AddressKind.TRANSITION, "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48"),
    *_v6(AddressKind.TRANSITION, "2002::/16", "2001::/32"),
    # unique local; site-local is deprecated but still routed inside sites
    *_v6(AddressKind.PRIVATE, "fc00::/7", "fec0::/10"),
    *_v6(AddressKind.LINK_LOCAL, "fe80::/10"),
    *_v6(AddressKind.MULTICAST, "ff00::/8"),
    # protocol assignments, documentation
    *_v6(AddressKind.RESERVED, "2001::/23", "2001:db8::/32", "3fff::/20"),
    *_v6(AddressKind.PUBLIC, "2000::/3"),
)

_UNSPECIFIED_OR_LOOPBACK = IPv6Network("::/127")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
_IPV4_IN_LAST_32_BITS = tuple(
    IPv6Network(network)
    for network in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")
)


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
    if bare in {"*", "localhost"} or bare.endswith(".localhost"):
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
