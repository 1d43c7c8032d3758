"""Which hosts a run may reach: patterns matched on parsed hosts, never on the text of a URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from browser.errors import Refused
from browser.net.url import parse

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
