"""URLs as parsed by browsers: hosts, origins, normal forms, registrable domains."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.net.url import (
    host,
    is_web_url,
    is_within,
    join,
    normalize,
    origin,
    parse,
    registrable_domain,
    same_site,
    strip_tracking,
)

ANY_URL = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["http://", "https://", "HTTP:\\\\", "https:/", "ws://", "data:", "//", ""]),
    st.text(max_size=20),
    st.sampled_from(["", "@harbour.test", ":8080", ".", "/", "\\@quay.test"]),
    st.text(max_size=30),
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTPS://Quay.Harbour.TEST/Path", "quay.harbour.test"),
        ("http://user:secret@harbour.test:81/", "harbour.test"),
        ("http://[2001:DB8::1]:80/", "2001:db8::1"),
        ("http://münchen.de/", "xn--mnchen-3ya.de"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("mailto:harbour@quay.test", ""),
        ("no url at all", ""),
        ("", ""),
    ],
)
def test_host_is_parsed_as_in_browsers(url: str, expected: str) -> None:
    assert host(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://harbour.test:80/a?b#c", "http://harbour.test"),
        ("https://harbour.test:444/", "https://harbour.test:444"),
        ("http://[::1]:8099/x", "http://[::1]:8099"),
        ("data:text/plain,x", ""),
    ],
)
def test_origin_omits_default_port(url: str, expected: str) -> None:
    assert origin(url) == expected


@pytest.mark.parametrize("url", ["http://harbour.test", "https:harbour.test/x", " http://a.b/ "])
def test_http_urls_are_web_urls(url: str) -> None:
    assert is_web_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "blob:https://harbour.test/1",
        "file:///etc/passwd",
        "view-source:http://harbour.test",
        "chrome://settings",
        "about:blank",
        "ftp://harbour.test/",
        "ws://harbour.test/",
        "harbour.test/path",
        "//harbour.test",
        "http://",
        "https://[::1",
        "http://harbour.test:99999/",
        "http://a b/",
        "",
    ],
)
def test_other_schemes_and_invalid_urls_are_not_web_urls(url: str) -> None:
    assert not is_web_url(url)


@pytest.mark.parametrize(
    ("spelling", "normal"),
    [
        ("HTTP://Harbour.TEST", "http://harbour.test/"),
        ("http://harbour.test:80/", "http://harbour.test/"),
        ("http://harbour.test./", "http://harbour.test/"),
        ("http://harbour.test/%7equay/%2fa", "http://harbour.test/~quay/%2Fa"),
        ("http://harbour.test/%%37e/%3%37e", "http://harbour.test/%%37e/%3%37e"),
        ("http://harbour.test/a/../b/./c", "http://harbour.test/b/c"),
        ("http://harbour.test/a?", "http://harbour.test/a"),
        ("http://harbour.test/a#tides", "http://harbour.test/a"),
        ("http://harbour.test/#!/tides", "http://harbour.test/#!/tides"),
        ("http://me:pw@harbour.test/a", "http://harbour.test/a"),
        ("http://harbour.test/a?utm_source=x&id=7", "http://harbour.test/a?id=7"),
        ("http://harbour.test/a?b=1&a=2", "http://harbour.test/a?b=1&a=2"),
        ("  not a url ", "not a url"),
    ],
)
def test_normalize_returns_normal_form(spelling: str, normal: str) -> None:
    assert normalize(spelling) == normal


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://h.test/?utm_source=a&utm_medium=b&q=tide", "https://h.test/?q=tide"),
        ("https://h.test/p?gclid=1", "https://h.test/p"),
        ("https://h.test/p?gclid=1&q=2#", "https://h.test/p?q=2"),
        ("https://h.test/p?fbclid=1#s", "https://h.test/p#s"),
        ("https://h.test/p?q=utm_source", "https://h.test/p?q=utm_source"),
        ("https://h.test/p?ref=main&id=3", "https://h.test/p?ref=main&id=3"),
        ("https://h.test/p#s:~:text=tide", "https://h.test/p#s"),
        ("https://h.test/p#:~:text=tide", "https://h.test/p"),
        ("nonsense?utm_source=1", "nonsense?utm_source=1"),
    ],
)
def test_strip_tracking_keeps_content_parameters(url: str, clean: str) -> None:
    assert strip_tracking(url) == clean


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("www.harbour.co.uk", "harbour.co.uk"),
        ("a.b.example.org", "example.org"),
        ("EXAMPLE.org.", "example.org"),
        ("quay.github.io", "quay.github.io"),
        ("192.0.2.1", "192.0.2.1"),
        ("::1", "::1"),
        ("localhost", "localhost"),
        ("harbour.test", "harbour.test"),
        ("co.uk", "co.uk"),
        ("", ""),
    ],
)
def test_registrable_domain_uses_public_suffix_list(name: str, domain: str) -> None:
    assert registrable_domain(name) == domain


def test_host_is_within_its_domain_and_the_domains_above() -> None:
    assert is_within("a.harbour.co.uk", "harbour.co.uk")
    assert is_within("harbour.co.uk", "harbour.co.uk")
    assert not is_within("myharbour.co.uk", "harbour.co.uk")
    assert not is_within("harbour.co.uk", "a.harbour.co.uk")


def test_same_site_matches_subdomains_but_not_other_domains() -> None:
    assert same_site("https://a.harbour.co.uk/", "http://harbour.co.uk:81/x")
    assert not same_site("https://harbour.co.uk/", "https://quay.co.uk/")
    assert not same_site("https://one.github.io/", "https://two.github.io/")
    assert not same_site("nonsense", "nonsense")


def test_links_resolve_against_page_url() -> None:
    assert join("https://h.test/a/b?c", "../d#e") == "https://h.test/d#e"
    assert join("https://h.test/a", "//q.test/x") == "https://q.test/x"
    assert join("https://h.test/a", "http://[") == ""


@given(ANY_URL)
def test_parse_never_raises_and_round_trips(url: str) -> None:
    parsed = parse(url)
    if parsed is not None:
        assert parse(parsed.href) == parsed


@given(ANY_URL)
def test_normalize_is_idempotent_and_keeps_host(url: str) -> None:
    normal = normalize(url)
    assert normalize(normal) == normal
    assert host(normal).rstrip(".") == host(url).rstrip(".") or not is_web_url(url)


@given(ANY_URL)
def test_strip_tracking_never_changes_host(url: str) -> None:
    assert host(strip_tracking(url)) == host(url)


@given(st.text(max_size=40))
def test_registrable_domain_is_suffix_of_host(url: str) -> None:
    name = host(f"http://{url}/")
    assert name.rstrip(".").endswith(registrable_domain(name))


@pytest.mark.parametrize("url", ["http://169.254..", "http://./0", "http://example.org./"])
def test_normalize_is_idempotent_for_hosts_with_trailing_dots(url: str) -> None:
    normal = normalize(url)
    assert normalize(normal) == normal
