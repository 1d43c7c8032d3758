"""Allow and deny lists: what a pattern means, and that only the parsed host counts."""

from __future__ import annotations

import pytest

from browser.errors import Refused
from browser.net.guard import EgressPolicy, Guard, HostPattern


@pytest.mark.parametrize(
    ("pattern", "host", "port"),
    [
        ("harbour.test", "harbour.test", 443),
        ("HARBOUR.test.", "harbour.test", 80),
        ("harbour.test", "harbour.test.", 80),
        ("harbour.test:8080", "harbour.test", 8080),
        ("*.harbour.test", "harbour.test", 443),
        ("*.harbour.test", "quay.harbour.test", 443),
        ("*.harbour.test", "a.quay.harbour.test", 443),
        ("*.harbour.test:81", "quay.harbour.test", 81),
        ("*", "anything.test", 1),
        ("[::1]:80", "::1", 80),
        ("::1", "::1", 80),
        ("[::1]", "::1", 9000),
        ("127.0.0.1:8099", "127.0.0.1", 8099),
        ("0x7f.1", "127.0.0.1", 5),
        ("localhost", "localhost", 3000),
        ("münchen.de", "xn--mnchen-3ya.de", 443),
        ("https://harbour.test/page", "harbour.test", 443),
    ],
)
def test_pattern_matches(pattern: str, host: str, port: int) -> None:
    assert HostPattern.parse(pattern).matches(host, port)


@pytest.mark.parametrize(
    ("pattern", "host", "port"),
    [
        ("harbour.test", "quay.harbour.test", 443),
        ("harbour.test", "harbour.test.evil.test", 443),
        ("harbour.test", "notharbour.test", 443),
        ("*.harbour.test", "notharbour.test", 443),
        ("*.harbour.test", "harbour.test.evil.test", 443),
        ("harbour.test:80", "harbour.test", 443),
        ("127.0.0.1:8099", "127.0.0.1", 8098),
        ("127.0.0.1", "127.0.0.2", 80),
        ("127.0.0.1", "localhost", 80),
    ],
)
def test_pattern_does_not_match(pattern: str, host: str, port: int) -> None:
    assert not HostPattern.parse(pattern).matches(host, port)


@pytest.mark.parametrize(
    "text", ["", "a b", "me@harbour.test", "har*bour.test", "*.*.test", "[::1", "h.test:99999"]
)
def test_invalid_host_pattern_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="not a host pattern"):
        HostPattern.parse(text)


def guard_of(*allow: str, deny: tuple[str, ...] = ()) -> Guard:
    async def nowhere(host: str) -> tuple:
        return ()

    return Guard(EgressPolicy(allow_hosts=allow, deny_hosts=deny), nowhere)


def test_deny_wins_over_allow() -> None:
    guard = guard_of("*.harbour.test", deny=("secret.harbour.test",))
    guard.check_url("https://quay.harbour.test/")
    with pytest.raises(Refused, match="deny list"):
        guard.check_url("https://secret.harbour.test/")


def test_allow_list_refuses_other_hosts_with_hint() -> None:
    with pytest.raises(Refused, match="not on the allow list") as refused:
        guard_of("harbour.test").check_url("https://quay.test/")
    assert "quay.test to --allow" in refused.value.hint


def test_empty_rules_allow_all_hosts() -> None:
    assert guard_of().check_url("https://harbour.test/").host == "harbour.test"


def test_invalid_url_is_refused() -> None:
    with pytest.raises(Refused):
        guard_of().check_url("no url")
