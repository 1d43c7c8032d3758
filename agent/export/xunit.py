"""JUnit's XML, as continuous integration reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Sequence

_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class TestCase:
    """One case: it passed where `kind` is empty; else `kind` names the sort of failure.

    `seconds` is how long it took, `details` what a person reads to find out why.
    """

    __test__ = False  # pytest collects classes by this name

    suite: str
    name: str
    kind: str = ""
    message: str = ""
    details: str = ""
    seconds: float = 0.0


def to_xml(name: str, cases: Sequence[TestCase]) -> bytes:
    """Write cases as one suite."""
    suite = ET.Element(
        "testsuite",
        name=_plain(name),
        tests=str(len(cases)),
        failures=str(sum(bool(case.kind) for case in cases)),
        errors="0",
        skipped="0",
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        _add(suite, case)
    ET.indent(suite)
    document: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add(suite: ET.Element, case: TestCase) -> None:
    element = ET.SubElement(
        suite,
        "testcase",
        classname=_plain(case.suite),
        name=_plain(case.name),
        time=f"{case.seconds:.3f}",
    )
    if case.kind:
        failure = ET.SubElement(element, "failure", type=case.kind, message=_plain(case.message))
        failure.text = _plain(case.details)


def _plain(text: str) -> str:
    """Leave out what XML cannot hold, escaped or not."""
    return _NO_XML.sub("\ufffd", text)
