"""Typed records from the pages of known platforms; one platform a file, found by itself."""

from browser.extract.platforms.base import Platform
from browser.extract.platforms.drawn import Drawn, DrawnPlatform
from browser.extract.platforms.lines import facts
from browser.extract.platforms.record import Record
from browser.extract.platforms.registry import all_platforms, parse_platform
from browser.extract.platforms.source import Source

__all__ = [
    "Drawn",
    "DrawnPlatform",
    "Platform",
    "Record",
    "Source",
    "all_platforms",
    "facts",
    "parse_platform",
]
