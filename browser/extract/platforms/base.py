"""The base of platform parsers: which hosts they know, and what they make of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from browser.extract.platforms.record import Record
    from browser.extract.platforms.source import Source


class Platform:
    """One site, or one kind of software that many sites run.

    `hosts` are matched whole or as a parent domain (`x.com` also means `mobile.x.com`). Software
    that runs on hosts of anyone's overrides `claims` and looks at the page itself; `general`
    ones come last. `marks` are bytes of which every page of such software has one: a page at any
    host without them is not parsed when it is read. A parser that no saved page was tested on sets
    `verified` to false.
    """

    name: ClassVar[str]
    hosts: ClassVar[tuple[str, ...]] = ()
    marks: ClassVar[tuple[bytes, ...]] = ()
    general: ClassVar[bool] = False
    verified: ClassVar[bool] = True

    def claims(self, source: Source) -> bool:
        """Whether this parser is the one for a page; by its parsed host, unless overridden."""
        return self.owns(source.host)

    def owns(self, host: str) -> bool:
        """Whether a host is one of this platform's, whole or below one of them."""
        return any(host == name or host.endswith(f".{name}") for name in self.hosts)

    def parse(self, source: Source) -> Record | None:
        """Read the page; None where it lost the markup that this parser knows."""
        raise NotImplementedError
