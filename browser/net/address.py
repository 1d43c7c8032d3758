"""One classifier for all IP addresses: which may be reached without being named.

`ipaddress.is_global` answers a different question: it lets multicast, several transition
prefixes and the cloud providers' metadata hosts through. The tables here follow the IANA
special-purpose registries (RFC 6890 and its updates), looking inside addresses that carry
an IPv4 address.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

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
