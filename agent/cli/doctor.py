"""`research doctor`: what is there, what can be reached, and how to mend what is not."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import given, some_run_flags
from agent.cli.terminal import complain, print_json
from agent.config import Options, load_options, private_folder
from agent.errors import ResearchError
from agent.models.providers import SMALL, find_endpoint, is_small
from agent.run.models import open_endpoint
from agent.run.web import open_web
from agent.types import Message
from browser.errors import BrowserError, BrowserMissing
from browser.search.chain import DEADLINE
from browser.session.chrome import OVERRIDES, find_chrome
from browser.types import Outcome, SearchQuery

if TYPE_CHECKING:
    from pathlib import Path

    from browser.search.provider import SearchSource

_PROBE = "lighthouse"
"""A word that every engine and encyclopedia knows."""
_OLDEST = (3, 11)
_SEVERAL = 3
"""Providers of which none answers are told in one line from so many on."""
_PACKAGES = {
    "linux": "sudo apt install chromium (Debian, Ubuntu), sudo dnf install chromium (Fedora)",
    "darwin": "brew install --cask google-chrome",
    "win32": "winget install Google.Chrome",
}
_FLAGS = (
    "--model", "--base-url", "--native-tools/--text-tools", "--model-sees/--model-blind",
    "--context-window", "--search", "--searxng-url", "--search-url", "--corpus", "--allow",
    "--deny", "--allow-private", "--proxy", "--data-dir",
)  # fmt: skip
"""What decides which providers and which model are asked."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """One line: what was looked at, whether it is well, what was seen, how to mend it."""

    name: str
    well: bool
    seen: str
    mend: str = ""


@click.command()
@click.option("--fix", is_flag=True, help="Fetch a browser where there is none.")
@click.option("--json", "as_json", is_flag=True, help="What was found, as JSON.")
@some_run_flags(*_FLAGS)
def doctor(*, fix: bool, as_json: bool, **flags: Any) -> int:
    """Check Python, browser, data folder, each search provider, and the model."""
    if fix:
        fetch_browser()
    settings = load_options(given(flags), config=True)
    findings = machine(settings)
    if not as_json:
        _show(findings)  # what needs no network need not wait for it
    more = asyncio.run(network(settings))
    if as_json:
        print_json([*findings, *more])
    else:
        _show(more)
    return 0 if all(finding.well for finding in _needed([*findings, *more])) else 1


def machine(settings: Options) -> list[Checkup]:
    """Look at what needs no network."""
    return [_python(), _data(settings), _browser()]


def _needed(findings: list[Checkup]) -> list[Checkup]:
    """One provider that answers is enough; all else must be well."""
    search = [finding for finding in findings if finding.name.startswith("search ")]
    rest = [finding for finding in findings if not finding.name.startswith("search ")]
    found = any(finding.well for finding in search)
    return [*rest, Checkup("search", found, "")]


def _show(findings: list[Checkup]) -> None:
    for finding in findings:
        print(f"{'ok  ' if finding.well else 'FAIL'}  {finding.name:<20} {finding.seen}")
        if not finding.well and finding.mend:
            print(f"      {'':<20} → {finding.mend}")


def _python() -> Checkup:
    version = ".".join(map(str, sys.version_info[:3]))
    well = sys.version_info[:2] >= _OLDEST
    return Checkup("python", well, version, "Install Python 3.11 or newer.")


def _data(settings: Options) -> Checkup:
    try:
        folder = private_folder(settings.data)
    except ResearchError as error:
        return Checkup("data folder", well=False, seen=str(error), mend=error.hint)
    free = os.statvfs(folder) if hasattr(os, "statvfs") else None
    room = f", {free.f_bavail * free.f_frsize // 2**20:,} MB free" if free else ""
    return Checkup("data folder", well=True, seen=f"{folder}{room}")


def _browser() -> Checkup:

    try:
        found: Path = find_chrome()
    except BrowserError as error:
        return Checkup("browser", well=False, seen=str(error), mend=error.hint)
    return Checkup("browser", well=True, seen=str(found))


async def network(settings: Options) -> list[Checkup]:
    """Ask each search provider, and the model."""
    try:
        async with open_web(settings, os.environ) as web:
            probes = [_provider(source, web.http) for source in web.chain.providers]
            findings = _together(await asyncio.gather(*probes))
    except ResearchError as error:
        findings = [Checkup("search", well=False, seen=str(error), mend=error.hint)]
    return [*findings, await _model(settings)]


def _together(findings: list[Checkup]) -> list[Checkup]:
    """One line in the place of many where nothing on the web can be reached."""
    web = [found for found in findings if found.name != "search corpus"]
    away = [found for found in web if found.seen.startswith(Outcome.UNREACHABLE)]
    if len(web) < _SEVERAL or len(away) < len(web):
        return findings
    names = ", ".join(found.name.removeprefix("search ") for found in web)
    seen = f"none of {len(web)} providers can be reached: {names}"
    mend = "You seem to be offline: check the network and --proxy, or use --corpus DIR."
    kept = [found for found in findings if found.name == "search corpus"]
    return [*kept, Checkup("search web", well=False, seen=seen, mend=mend)]


async def _provider(source: SearchSource, http: Any) -> Checkup:

    name = f"search {source.name}"
    if reason := source.unavailable():
        return Checkup(name, well=False, seen=f"not asked: {reason}", mend=_mend(source.name))
    page = await source.search(SearchQuery(_PROBE, limit=3), http, deadline=DEADLINE)
    seen = f"{page.outcome}, {len(page.results)} results" if page.results else f"{page.outcome}"
    detail = f": {page.detail}" if page.detail else ""
    well = page.outcome in (Outcome.OK, Outcome.EMPTY)
    return Checkup(name, well, f"{seen}{detail}", _mend(source.name))


def _mend(name: str) -> str:
    if name == "searxng":
        return "Give its address: --searxng-url URL, or RESEARCH_SEARXNG_URL."
    if name == "corpus":
        return "Check the folder of --corpus."
    return "Set its key if it wants one; else check the network, or use --corpus DIR."


async def _model(settings: Options) -> Checkup:
    try:
        where = find_endpoint(settings.model, settings.base_url, os.environ, settings)
        if where is None:
            return Checkup("model", well=True, seen=settings.model or "extractive (no key needed)")
        async with AsyncExitStack() as stack:
            model = await open_endpoint(stack, where, settings)
            reply = await model.reply("Answer with one word.", [Message("user", "Say ok.")])
    except ResearchError as error:
        return Checkup("model", well=False, seen=str(error), mend=error.hint)
    guided = is_small(where.model) if settings.guided is None else settings.guided
    way = f"guided, as models up to {SMALL:g} billion parameters are: it finds, and does not plan"
    calls = way if guided else "functions" if where.native else "text tags"
    abilities = f"{calls}{', pictures' * where.sees}"
    return Checkup("model", well=True, seen=f"{reply.model} answers ({abilities})")


def fetch_browser() -> bool:
    """Fetch Playwright's Chromium where no browser is found; says what is left to the person.

    Gives whether there is a browser now.
    """
    if _has_browser():
        return True
    named = next((name for name in OVERRIDES if os.environ.get(name)), None)
    if named:
        complain(f"{named} names no browser", f"Set it right, or `unset {named}`.")
        return False
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    print("fetching Chromium: playwright install chromium", file=sys.stderr, flush=True)
    done = subprocess.run(command, check=False, stdout=sys.stderr)  # noqa: S603 - our own words
    if done.returncode or not _has_browser():
        package = _PACKAGES.get(sys.platform, "install Google Chrome or Chromium")
        complain("Chromium could not be fetched", f"Install one from the system: {package}.")
    return _has_browser()


def _has_browser() -> bool:
    try:
        find_chrome()
    except BrowserMissing:
        return False
    return True
