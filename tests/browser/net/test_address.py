"""The classifier: what is public, what is not, and why."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.net.guard import Address, AddressKind, classify

NOT_PUBLIC = {
    AddressKind.UNSPECIFIED: "0.0.0.0 0.1.2.3 0.255.255.255 :: ::ffff:0.0.0.0 64:ff9b::0",
    AddressKind.PRIVATE: (
        "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.254 192.168.0.1 192.168.255.255 "
        "fc00::1 fd12:3456:789a::1 fec0::1 ::ffff:10.0.0.1 ::ffff:c0a8:1 64:ff9b::10.0.0.1 "
        "2002:a00:1:: 2002:c0a8:101::1 ::192.168.1.1 ::ffff:0:172.16.0.1 64:ff9b:1::10.1.1.1 "
        "2001:db8::5efe:10.0.0.1 2a00:1450::200:5efe:192.168.0.1"
    ),
    AddressKind.LOOPBACK: (
        "127.0.0.1 127.1.2.3 127.255.255.255 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 "
        "64:ff9b::7f00:1 64:ff9b::127.0.0.1 2002:7f00:1:: 2002:7f00:0001::1 ::127.0.0.1 "
        "::ffff:0:127.0.0.1 2001:0:53aa:64c:0:0:80ff:fffe fe80::5efe:127.0.0.1"
    ),
    AddressKind.LINK_LOCAL: (
        "169.254.0.1 169.254.255.254 fe80::1 febf::1 fe80::1%eth0 ::ffff:169.254.1.1"
    ),
    AddressKind.SHARED: "100.64.0.1 100.127.255.254 ::ffff:100.64.0.1 64:ff9b::100.64.0.1",
    AddressKind.METADATA: (
        "169.254.169.254 169.254.170.2 169.254.170.23 168.63.129.16 100.100.100.200 192.0.0.192 "
        "fd00:ec2::254 fd00:ec2::23 fd20:ce::254 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe "
        "64:ff9b::a9fe:a9fe 64:ff9b::168.63.129.16 2002:a9fe:a9fe:: ::a9fe:a9fe "
        "64:ff9b:1::a9fe:a9fe 2001:0:4136:e378:8000:63bf:5601:5601 fd00:ec2::254%eth0"
    ),
    AddressKind.MULTICAST: (
        "224.0.0.1 239.255.255.250 ff02::1 ff0e::1 ::ffff:224.0.0.1 64:ff9b::e000:1"
    ),
    AddressKind.RESERVED: (
        "192.0.0.8 192.0.2.1 198.51.100.7 203.0.113.9 198.18.0.1 198.19.255.255 192.88.99.1 "
        "240.0.0.1 255.255.255.255 2001:db8::1 3fff::1 100::1 100:0:0:1::1 4000::1 e000::1 "
        "5f00::1 2001:10::1 2001:20::1 2001:2::1 200::1 ::ffff:255.255.255.255 64:ff9b::192.0.2.1"
    ),
    AddressKind.TRANSITION: (
        "2002:808:808:: ::8.8.8.8 2001:0:4136:e378:8000:63bf:f7f7:f7f7 64:ff9b:1::8.8.8.8 "
        "::ffff:0:8.8.8.8"
    ),
}
PUBLIC = (
    "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 "
    "169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 "
    "168.63.129.15 223.255.255.255 198.17.255.255 198.20.0.0 2606:4700:4700::1111 "
    "2a00:1450:4001:81b::200e 2001:4860:4860::8888 64:ff9b::8.8.8.8 ::ffff:8.8.8.8 "
    "2a00:1450::5efe:8.8.8.8"
)


def is_public(address: str | Address) -> bool:
    return classify(address) is AddressKind.PUBLIC


SPELLINGS = [(text, kind) for kind, texts in NOT_PUBLIC.items() for text in texts.split()]


def test_table_covers_at_least_sixty_spellings() -> None:
    assert len({text for text, _ in SPELLINGS}) >= 60


@pytest.mark.parametrize(("text", "kind"), SPELLINGS)
@pytest.mark.sample(25)
def test_non_public_address_is_classified_by_kind(text: str, kind: AddressKind) -> None:
    assert classify(text) is kind
    assert not is_public(text)


@pytest.mark.parametrize("text", PUBLIC.split())
def test_public_address_is_public(text: str) -> None:
    assert classify(text) is AddressKind.PUBLIC


@given(st.ip_addresses())
def test_text_and_parsed_address_classify_alike(
    address: IPv4Address | IPv6Address,
) -> None:
    assert classify(str(address)) is classify(address)


@given(st.ip_addresses(v=4))
def test_mapped_and_nat64_forms_are_classified_by_embedded_address(address: IPv4Address) -> None:
    carried = int(address)
    for prefix in (IPv6Address("::ffff:0:0"), IPv6Address("64:ff9b::")):
        assert is_public(IPv6Address(int(prefix) + carried)) == is_public(address)


@given(st.ip_addresses(v=4).filter(lambda address: not is_public(address)))
def test_embedding_never_makes_private_address_public(address: IPv4Address) -> None:
    carried = int(address)
    for form in (
        carried,
        int(IPv6Address("::ffff:0:0:0")) + carried,
        int(IPv6Address("64:ff9b:1::")) + carried,
        (0x2002 << 112) + (carried << 80) + 1,
        (0x20010000 << 96) + (carried ^ 0xFFFF_FFFF),
        int(IPv6Address("2a00:1450::5efe:0:0")) + carried,
    ):
        assert not is_public(IPv6Address(form))


@given(st.ip_addresses())
def test_stdlib_special_addresses_are_not_public(
    address: IPv4Address | IPv6Address,
) -> None:
    special = address.is_private or address.is_multicast or address.is_reserved
    if special and getattr(address, "ipv4_mapped", None) is None:
        nat64 = address.version == 6 and address in IPv6Network("64:ff9b::/96")
        assert nat64 or not is_public(address)


def test_invalid_address_raises_value_error() -> None:
    with pytest.raises(ValueError, match="0x7f"):
        classify("0x7f.1")
