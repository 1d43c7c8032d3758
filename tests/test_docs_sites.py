"""docs/sites.md says what the code does."""

from __future__ import annotations

from pathlib import Path

from browser.extract.platforms import all_platforms
from browser.search.engines import ENGINES, load
from browser.search.html_engines import HTML_PROVIDERS
from browser.search.json_engines import JSON_PROVIDERS
from dev.sites import PAGE, page

ROOT = Path(__file__).parent.parent


def test_sites_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python dev/sites.py"


def test_every_engine_and_site_is_listed_with_its_test_source() -> None:
    rows = [line for line in page().splitlines() if line.startswith("| ")]
    names = {row.split("|")[1].split()[0] for row in rows}
    assert {*JSON_PROVIDERS, *HTML_PROVIDERS} == set(ENGINES), "add it to browser/search/engines.py"
    assert set(ENGINES) <= names
    assert {platform.name for platform in all_platforms()} <= names
    tested = {row.rsplit("|", 2)[1].strip() for row in rows[1:]}
    kinds = {"saved responses", "documentation", "saved pages", "unverified layout", "tested on"}
    assert tested == kinds


def test_readme_links_to_sites_page() -> None:
    assert "docs/sites.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_sites_page_marks_unverified_layouts() -> None:
    unverified = {platform.name for platform in all_platforms() if not platform.verified}
    engines = {name: load(name) for name in ENGINES}
    unverified |= {n for n, one in engines.items() if not one.verified and not one.documented}
    rows = [line for line in page().splitlines() if line.endswith("| unverified layout |")]
    marked = {row.split("|")[1].split()[0] for row in rows}
    assert unverified <= marked
