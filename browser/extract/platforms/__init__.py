"""Typed records from pages of known platforms; each parser is a class here, found automatically.

This package has everything that a parser needs: `RecordPaths` locate the fields on a page. A
`DeclaredPlatform` consists only of these; a `Platform` has code that receives a `SitePage`.
"""

from browser.extract.platforms.lookup import all_platforms, parse_platform
from browser.extract.platforms.parsing import number, parse_date, parse_duration
from browser.extract.platforms.paths import DeclaredPlatform, RecordPaths
from browser.extract.platforms.site import (
    LinkedData,
    Platform,
    SitePage,
    attribute,
    find_objects,
    line,
    parse_json,
)
from browser.extract.platforms.site_record import Record, facts, listing, nested, opened_by, thread

__all__ = [
    "DeclaredPlatform",
    "LinkedData",
    "Platform",
    "Record",
    "RecordPaths",
    "SitePage",
    "all_platforms",
    "attribute",
    "facts",
    "find_objects",
    "line",
    "listing",
    "nested",
    "number",
    "opened_by",
    "parse_date",
    "parse_duration",
    "parse_json",
    "parse_platform",
    "thread",
]
