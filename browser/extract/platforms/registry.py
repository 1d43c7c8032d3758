"""Finding platform parsers: the modules beside this one, and those of installed plugins."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import warnings
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TypeGuard

from browser.extract import platforms
from browser.extract.platforms.site import Platform, SitePage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from browser.extract.platforms.record import Record

# A plugin names its Platform class under this group.
ENTRY_POINTS = "urchin.platforms"


def parse_platform(
    url: str, html_or_json: str | bytes | Mapping[str, Any] | list[Any]
) -> Record | None:
    """Read a page or API reply of a known platform into a typed record.

    The parser is chosen by the URL's host as browsers parse it, or, for software that runs
    anywhere, by what the page declares. None for other pages, and where the markup is unknown.
    A page saved without its URL (an empty one) is taken for what its canonical link says.
    """
    page = SitePage(url, html_or_json)
    if not url and page.json is None:
        page = SitePage(page.canonical, html_or_json)
    platform = platform_for(page)
    try:
        return platform.parse(page) if platform else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # foreign data in another shape than this parser knows: an unknown layout


def platform_for(page: SitePage) -> Platform | None:
    """The parser that claims a page: by host before by markup."""
    claiming = [platform for platform in all_platforms() if platform.claims(page)]
    return min(claiming, key=lambda one: (one.general, not one.hosts), default=None)


@functools.cache
def all_platforms() -> tuple[Platform, ...]:
    """Every parser there is, by name; plugins last."""
    built_in = sorted(_built_in(), key=lambda platform: platform.name)
    return (*built_in, *_installed())


def _installed() -> Iterator[Platform]:
    """The parsers of installed packages; one that cannot be loaded is left out with a warning."""
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            yield entry.load()()
        except (ImportError, AttributeError, TypeError) as error:
            warnings.warn(
                f"the platform parser {entry.value} of an installed package does not load: {error}",
                stacklevel=2,
            )


def _built_in() -> Iterator[Platform]:
    for info in pkgutil.iter_modules(platforms.__path__):
        module = importlib.import_module(f"{platforms.__name__}.{info.name}")
        for value in vars(module).values():
            if _is_parser(value) and value.__module__ == module.__name__:
                yield value()


def _is_parser(value: object) -> TypeGuard[type[Platform]]:
    return isinstance(value, type) and issubclass(value, Platform) and "name" in vars(value)
