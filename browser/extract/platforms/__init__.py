"""Typed records from the pages of known platforms; each parser a class here, found by itself."""

from browser.extract.platforms.lookup import all_platforms, parse_platform
from browser.extract.platforms.paths import DeclaredPlatform, RecordPaths
from browser.extract.platforms.site import Platform, Record, SitePage, facts

__all__ = [
    "DeclaredPlatform",
    "Platform",
    "Record",
    "RecordPaths",
    "SitePage",
    "all_platforms",
    "facts",
    "parse_platform",
]
