"""Decides which hosts may be reached, by host rules and the addresses that a name resolves to.

Patterns are matched on parsed hosts, never on the text of a URL. `ipaddress.is_global` is no
substitute for `classify`: it accepts multicast, several transition prefixes and the cloud
providers' metadata hosts. The table here follows the IANA special-purpose registries (RFC 6890 and
its updates), and looks inside IPv6 addresses that embed an IPv4 address.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from browser.errors import BrowserError, ConnectFailed, NameUnknown, NoAnswer, Refused
from browser.net.url import WEB_SCHEMES, WEBSOCKET_SCHEMES, is_within, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from browser.net.url import Url


Address = IPv4Address | IPv6Address
Resolve = Callable[[str], Awaitable[Sequence[Address]]]
"""Resolves a host name (ASCII form) to at least one address, the preferred one first.

Raises NameUnknown if the name has no address.
"""


class AddressKind(StrEnum):
    """An address's purpose. Only `PUBLIC` ones are reachable unless the user named the host."""

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


# The first network that contains an address determines its kind. IPv6 addresses in none of these
# networks are outside global unicast (2000::/3) and are treated as reserved.
_NETWORK_KINDS = tuple(
    (ip_network(network), kind)
    for kind, networks in (
        # Amazon, Azure and Google, Amazon ECS tasks, Azure's wire server, Alibaba, Oracle: these
        # give the machine's credentials to any program that runs on it.
        (AddressKind.METADATA, ("169.254.169.254", "169.254.170.2", "169.254.170.23")),
        (AddressKind.METADATA, ("168.63.129.16", "100.100.100.200", "192.0.0.192")),
        (AddressKind.METADATA, ("fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254")),
        (AddressKind.UNSPECIFIED, ("0.0.0.0/8", "::/128")),
        (AddressKind.LOOPBACK, ("127.0.0.0/8", "::1/128")),
        (AddressKind.PRIVATE, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")),
        # fc00::/7 is unique local; fec0::/10 (site-local) is deprecated, but some sites route it.
        (AddressKind.PRIVATE, ("fc00::/7", "fec0::/10")),
        (AddressKind.SHARED, ("100.64.0.0/10",)),
        (AddressKind.LINK_LOCAL, ("169.254.0.0/16", "fe80::/10")),
        (AddressKind.MULTICAST, ("224.0.0.0/4", "ff00::/8")),
        # IPv4-mapped addresses and the well-known NAT64 prefix are public if the IPv4 address is.
        (AddressKind.PUBLIC, ("::ffff:0:0/96", "64:ff9b::/96")),
        (AddressKind.TRANSITION, ("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48")),
        (AddressKind.TRANSITION, ("2002::/16", "2001::/32")),
        # Protocol assignments, documentation, 6to4 relays, benchmarks, class E with broadcast.
        (AddressKind.RESERVED, ("192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24")),
        (AddressKind.RESERVED, ("203.0.113.0/24", "192.88.99.0/24", "198.18.0.0/15")),
        (AddressKind.RESERVED, ("240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20")),
        (AddressKind.PUBLIC, ("0.0.0.0/0", "2000::/3")),
    )
    for network in networks
)
_UNSPECIFIED_OR_LOOPBACK = IPv6Network("::/127")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
_IPV4_IN_LAST_32_BITS = tuple(
    IPv6Network(network)
    for network in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")
)
# RFC 5214: an ISATAP interface identifier begins with one of these, under any prefix.
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})


def classify(address: str | Address) -> AddressKind:
    """Classify an address (dotted, colon-hexadecimal, or parsed; a zone is ignored).

    Raises ValueError if `address` is not an IP address. The URL parser (`browser.net.url.host`) has
    already normalised other spellings of IPv4, such as `0x7f.1`.
    """
    parsed = ip_address(address) if isinstance(address, str) else address
    kind = next(
        (kind for network, kind in _NETWORK_KINDS if parsed in network), AddressKind.RESERVED
    )
    inner = _embedded_ipv4(int(parsed)) if isinstance(parsed, IPv6Address) else None
    inner_kind = AddressKind.PUBLIC if inner is None else classify(inner)
    return kind if inner_kind is AddressKind.PUBLIC else inner_kind


def _embedded_ipv4(value: int) -> IPv4Address | None:
    """Return the IPv4 address embedded in an IPv6 address in one of the known forms, or None."""
    address = IPv6Address(value)
    if address in _UNSPECIFIED_OR_LOOPBACK:
        return None
    if address in _SIX_TO_FOUR:
        return IPv4Address((value >> 80) & 0xFFFF_FFFF)
    if address in _TEREDO:
        return IPv4Address(~value & 0xFFFF_FFFF)
    isatap = (value >> 32) & 0xFFFF_FFFF in _ISATAP
    if isatap or any(address in network for network in _IPV4_IN_LAST_32_BITS):
        return IPv4Address(value & 0xFFFF_FFFF)
    return None


@dataclass(frozen=True, slots=True)
class HostPattern:
    """`example.org`, `*.example.org` (the domain and its subdomains) or `*`; optionally `:port`.

    Hosts may be spelled in any way that a browser accepts; a `port` of None means every port.
    """

    host: str
    port: int | None = None
    includes_subdomains: bool = False

    @classmethod
    def parse(cls, text: str) -> HostPattern:
        """Parse a pattern or a full URL. Raises ValueError if it is invalid."""
        text = text.strip()
        if text in {"*", "*.*"}:
            return cls(host="", includes_subdomains=True)
        rest = text.removeprefix("*.")
        authority = (rest.partition("://")[2] or rest).partition("/")[0]
        if authority.count(":") > 1 and not authority.startswith("["):
            authority = f"[{authority}]"  # IPv6 without brackets
        url = parse(f"http://{authority}")
        if url is None or not url.host or "@" in authority or "*" in authority:
            raise ValueError(f"not a host pattern: {text!r} (example.org, *.example.org, [::1]:80)")
        # The parser drops a default port, so `host:80` would match every port.
        has_port = ":" in authority and authority.rpartition(":")[2].isdigit()
        return cls(url.host.rstrip("."), url.port if has_port else None, text.startswith("*."))

    def matches(self, host: str, port: int) -> bool:
        """Whether a host in ASCII form, as `browser.net.url.host` returns it, matches."""
        host = host.rstrip(".")
        within = self.includes_subdomains and is_within(host, self.host)
        same = not self.host or host == self.host or within
        return same and self.port in {None, port}


def _any_matches(patterns: Iterable[HostPattern], host: str, port: int) -> bool:
    return any(pattern.matches(host, port) for pattern in patterns)


# https://fetch.spec.whatwg.org/#port-blocking: ports of services that might execute an HTTP request
# as commands (SMTP, IRC, …). Chromium refuses them, so the HTTP client does too.
BLOCKED_PORTS = frozenset(
    int(port)
    for port in (
        "1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 "
        "110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 "
        "530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 "
        "4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080 "
    ).split()
)
# Hosts that Chromium contacts by itself despite all flags: updates, safe browsing lists, page
# hints. No page needs them, and contacting them would reveal every run to the browser's vendor.
_BROWSER_SERVICES = frozenset(
    {
        "update.googleapis.com",
        "clients2.google.com",
        "optimizationguide-pa.googleapis.com",
        "safebrowsing.googleapis.com",
        "content-autofill.googleapis.com",
        "edge.microsoft.com",
    }
)
# A host that the user allowed by name may resolve to these kinds of address. Other kinds (metadata
# services, multicast, …) must be allowed by address: no intranet site uses them.
_ALLOWED_IF_NAMED = frozenset(
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
    """Which hosts may be reached; patterns as in `HostPattern`: `*.example.org`, `[::1]:80`.

    A host in `deny_hosts` is refused even if it is also in `allow_hosts`; without `allow_hosts`,
    all hosts are allowed. `allow_private` lists hosts that may be reached although they are, or
    resolve to, private addresses; `upstream_proxy` is an `http://[user:password@]host:port` for
    public traffic.
    """

    allow_private: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    deny_hosts: tuple[str, ...] = ()
    upstream_proxy: str | None = None


class Guard:
    """Allows or refuses each host and port."""

    def __init__(self, policy: EgressPolicy, resolve: Resolve) -> None:
        """Raises ValueError for an invalid pattern in the policy."""
        self.own_port: int | None = None  # the proxy's port: it must not connect to itself
        self._allowed = [HostPattern.parse(text) for text in policy.allow_hosts]
        self._denied = [HostPattern.parse(text) for text in policy.deny_hosts]
        self._named = [HostPattern.parse(text) for text in policy.allow_private]
        self._resolve = resolve

    def check_url(self, url: str) -> Url:
        """Parse a URL; raises Refused if it breaks a rule that can be checked without DNS."""
        parsed = parse(url)
        if parsed is None or parsed.scheme not in WEB_SCHEMES | WEBSOCKET_SCHEMES:
            raise Refused(f"not a web address: {url[:200]!r}", hint="Use a full http(s) URL.")
        self.check(parsed.host, parsed.port)
        return parsed

    async def check_resolved_url(self, url: str) -> None:
        """Like `check_url`, but also check the addresses that the name resolves to.

        This is for a browser that does not use our proxy. A name that cannot be resolved passes:
        the browser's own proxy may be able to resolve it.
        """
        parsed = self.check_url(url)
        with suppress(ConnectFailed):
            await self.addresses(parsed.host, parsed.port)

    def check(self, host: str, port: int) -> None:
        """Like `check_url`, for a host in ASCII form."""
        if ".." in host:
            raise Refused("a host name cannot have an empty part")
        if host.rstrip(".") in _BROWSER_SERVICES:
            raise Refused(
                f"{host} is used only by the browser itself", hint="Pages do not need this host."
            )
        if _any_matches(self._denied, host, port):
            hint = f"Remove {host} from --deny to reach it."
            raise Refused(f"{host} is on the deny list", hint=hint)
        if self._allowed and not _any_matches(self._allowed, host, port):
            raise Refused(f"{host} is not on the allow list", hint=f"Add {host} to --allow.")
        if self.is_named(host, port):
            return
        if port in BLOCKED_PORTS:
            raise Refused(f"port {port} is not a web port")
        if literal := _addresses_without_dns(host):
            self._check_addresses(host, port, literal)

    async def addresses(self, host: str, port: int) -> tuple[Address, ...]:
        """Return the allowed addresses of `host`, at least one.

        Raises Refused if none is allowed, NameUnknown if the name has no address.
        """
        self.check(host, port)
        found = _addresses_without_dns(host) or tuple(await self._resolve(host))
        if not found:
            raise NameUnknown(f"the host name {host} has no address")
        return self._check_addresses(host, port, found)

    def is_named(self, host: str, port: int) -> bool:
        """Whether the user allowed this private host by name."""
        return _any_matches(self._named, host, port)

    def _check_addresses(
        self, host: str, port: int, found: tuple[Address, ...]
    ) -> tuple[Address, ...]:
        if port == self.own_port and any(a.is_loopback for a in found):
            raise Refused(f"port {port} belongs to the guard itself")
        named, literal = self.is_named(host, port), _is_address(host)

        def permits(address: Address, kind: AddressKind) -> bool:
            if named:
                return literal or kind in _ALLOWED_IF_NAMED or kind is AddressKind.PUBLIC
            return kind is AddressKind.PUBLIC and not _is_own_address(address)

        if permitted := tuple(a for a in found if permits(a, classify(a))):
            return permitted
        kind = classify(found[0])
        what = "this machine's own" if kind is AddressKind.PUBLIC else kind.value
        leads = "" if literal else f", which {host} resolves to,"
        raise Refused(f"{found[0]}{leads} is a {what} address")


def _addresses_without_dns(host: str) -> tuple[Address, ...]:
    """Return the addresses of IP literals and `localhost`, which need no name server; otherwise ().

    The GNU C library resolves `*` to this machine; an attached Chrome may do the same.
    """
    bare = host.rstrip(".")
    if bare in {"*", "localhost"} or bare.endswith(".localhost"):
        return IPv4Address("127.0.0.1"), IPv6Address("::1")
    return (ip_address(bare),) if _is_address(bare) else ()


def _is_address(host: str) -> bool:
    try:
        ip_address(host.rstrip("."))
    except ValueError:
        return False
    return True


def _is_own_address(address: Address) -> bool:
    """Whether an address belongs to this machine, where private services may listen.

    Connecting a datagram socket sends nothing; it only asks the kernel for the source address.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return ip_address(str(probe.getsockname()[0]).partition("%")[0]) == address
    except OSError:
        return False  # no route for this family: dialling will fail


VERDICT_HEADER = "x-egress-verdict"
"""The header by which our HTTP client recognises answers that come from the guard.

The proxy removes it from servers' responses.
"""
# Verdicts are sent as status codes: a client that asks for a tunnel sees nothing else.
_ERROR_BY_STATUS = {"403": Refused, "502": ConnectFailed, "503": NameUnknown, "504": NoAnswer}


def verdict_for(error: BrowserError) -> str:
    """Return the status code by which the proxy reports an error to its clients."""
    for status, kind in _ERROR_BY_STATUS.items():
        if type(error) is kind:
            return status
    return "502"


def error_from_verdict(status: str, reason: str) -> BrowserError:
    """Turn a status code from the proxy back into an error."""
    return _ERROR_BY_STATUS.get(status, ConnectFailed)(reason)
