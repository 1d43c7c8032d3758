"""`research doctor`: check the installation and the network, and suggest fixes."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import drop_unset, only_run_flags, switch
from agent.cli.terminal import print_error, print_json, print_text
from agent.config import load_options, private_folder
from agent.errors import ModelError, ResearchError
from agent.models.adaptation import Abilities, remember
from agent.models.base import SystemPrompt, Usage
from agent.models.providers import MAX_SMALL_BILLIONS, find_endpoint, is_small, with_price
from agent.models.remote import RemoteModel
from agent.run.models import open_endpoint
from agent.run.web import open_web
from agent.types import Image, Message, format_usd
from browser.errors import BrowserError, BrowserMissing
from browser.search.chain import DEADLINE
from browser.session.chrome import EXECUTABLE_VARIABLES, find_chrome
from browser.types import Outcome, SearchQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.options import Options
    from browser.search.provider import SearchSource

_PROBE_QUERY = "lighthouse"
"""A query for which every search engine and encyclopedia has results."""
_MIN_PYTHON = (3, 11)  # keep in sync with pyproject.toml
MAX_PROBES = 4
"""Maximum number of calls used to determine what an endpoint supports."""
_PROBE_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string"}},
    "required": ["word"],
    "additionalProperties": False,
}
_PROBE_IMAGE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
_MIN_MERGED_PROVIDERS = 3
"""Minimum number of providers that are reported on one line if none of them can be reached."""
_BROWSER_PACKAGES = {
    "linux": "sudo apt install chromium (Debian, Ubuntu), sudo dnf install chromium (Fedora)",
    "darwin": "brew install --cask google-chrome",
    "win32": "winget install Google.Chrome",
}
_PROVIDER_FIXES = {
    "searxng": "Set its address with --searxng-url URL or RESEARCH_SEARXNG_URL.",
    "corpus": "Check the folder given with --corpus.",
}
_DEFAULT_PROVIDER_FIX = "Set its API key if it needs one, check the network, or use --corpus DIR."
_CHECKED_FLAGS = (
    "--model --base-url --native-tools/--text-tools --model-sees/--model-blind "
    "--context-window --search --searxng-url --search-url --corpus --allow --deny "
    "--allow-private --proxy --data-dir"
).split()
"""Flags that choose the providers and the model."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """A finding: the check, whether it passed, the observed value, and how to fix a failure."""

    name: str
    well: bool
    seen: str
    fix: str = ""


@click.command()
@switch("--fix", "Install Chromium if no browser is found.")
@switch(("--json", "as_json"), "Print the findings as JSON.")
@only_run_flags(*_CHECKED_FLAGS)
def doctor(*, fix: bool, as_json: bool, **flags: Any) -> int:
    """Check Python, the browser, the data folder, each search provider and the model."""
    if fix:
        _install_browser()
    settings = load_options(drop_unset(flags), config=True)
    findings = check_machine(settings)
    if not as_json:
        _print(findings)  # print these first, as they do not depend on the network
    online = asyncio.run(check_network(settings))
    if as_json:
        print_json([*findings, *online])
    else:
        _print(online)
    # One working search provider is enough; all other checks must pass.
    search = [one.well for one in online if one.name.startswith("search ")]
    rest = [one.well for one in (*findings, *online) if not one.name.startswith("search ")]
    return 0 if any(search) and all(rest) else 1


def _print(findings: Sequence[Checkup]) -> None:
    for one in findings:
        print_text(f"{'ok  ' if one.well else 'FAIL'}  {one.name:<20} {one.seen}")
        if not one.well and one.fix:
            print_text(f"      {'':<20} → {one.fix}")


def check_machine(settings: Options) -> list[Checkup]:
    """Run the checks that do not need the network: Python, the data folder, the browser."""
    version = ".".join(map(str, sys.version_info[:3]))
    new_enough = sys.version_info[:2] >= _MIN_PYTHON
    findings = [Checkup("python", new_enough, version, "Install Python 3.11 or newer.")]
    try:
        folder = private_folder(settings.data)
    except ResearchError as error:
        findings.append(Checkup("data folder", well=False, seen=str(error), fix=error.hint))
    else:
        disk = os.statvfs(folder) if hasattr(os, "statvfs") else None  # not available on Windows
        room = f", {disk.f_bavail * disk.f_frsize // 2**20:,} MB free" if disk else ""
        findings.append(Checkup("data folder", well=True, seen=f"{folder}{room}"))
    try:
        findings.append(Checkup("browser", well=True, seen=str(find_chrome())))
    except BrowserError as error:
        findings.append(Checkup("browser", well=False, seen=str(error), fix=error.hint))
    return findings


async def check_network(settings: Options) -> list[Checkup]:
    """Query each search provider and the model."""
    try:
        async with open_web(settings, os.environ) as web:
            probes = [_check_provider(source, web.http) for source in web.chain.providers]
            findings = _merge_unreachable(await asyncio.gather(*probes))
    except ResearchError as error:
        findings = [Checkup("search", well=False, seen=str(error), fix=error.hint)]
    return [*findings, *await _check_model(settings)]


def _merge_unreachable(findings: list[Checkup]) -> list[Checkup]:
    """Merge the findings into one line if no provider on the web can be reached."""
    web = [found for found in findings if found.name != "search corpus"]
    away = [found for found in web if found.seen.startswith(Outcome.UNREACHABLE)]
    if len(web) < _MIN_MERGED_PROVIDERS or len(away) < len(web):
        return findings
    names = ", ".join(found.name.removeprefix("search ") for found in web)
    seen = f"none of {len(web)} providers can be reached: {names}"
    fix = "You seem to be offline: check the network and --proxy, or use --corpus DIR."
    corpus = [found for found in findings if found.name == "search corpus"]
    return [*corpus, Checkup("search web", well=False, seen=seen, fix=fix)]


async def _check_provider(source: SearchSource, http: Any) -> Checkup:
    name, fix = f"search {source.name}", _PROVIDER_FIXES.get(source.name, _DEFAULT_PROVIDER_FIX)
    if reason := source.unavailable():
        return Checkup(name, well=False, seen=f"not queried: {reason}", fix=fix)
    page = await source.search(SearchQuery(_PROBE_QUERY, limit=3), http, deadline=DEADLINE)
    found = f", {len(page.results)} results" if page.results else ""
    detail = f": {page.detail}" if page.detail else ""
    well = page.outcome in (Outcome.OK, Outcome.EMPTY)
    return Checkup(name, well, f"{page.outcome}{found}{detail}", fix)


async def _check_model(settings: Options) -> list[Checkup]:
    try:
        endpoint = find_endpoint(settings.model, settings.base_url, os.environ, settings)
        if endpoint is None:
            seen = settings.model or "extractive (no key needed)"
            return [Checkup("model", well=True, seen=seen)]
        async with AsyncExitStack() as stack:
            model = await open_endpoint(stack, settings, endpoint)
            if settings.model and isinstance(model, RemoteModel):
                return await _probe(model)
            reply = await model.reply("Answer with one word.", [Message("user", "Say ok.")])
    except ResearchError as error:
        own = "Check --model, --base-url and the key, or use `--model extractive`."
        # The default hint recommends `research doctor`, which is already running.
        fix = own if error.hint == ModelError.hint else error.hint
        return [Checkup("model", well=False, seen=str(error), fix=fix)]
    calls = "functions" if endpoint.native else "text tags"
    if is_small(endpoint.model) if settings.guided is None else settings.guided:
        calls = (
            f"guided: models of up to {MAX_SMALL_BILLIONS:g} billion parameters "
            "pick passages but do not plan"
        )
    abilities = f"{calls}{', pictures' * endpoint.sees}"
    return [Checkup("model", well=True, seen=f"{reply.model} answers ({abilities})")]


async def _probe(model: RemoteModel) -> list[Checkup]:
    """Probe an endpoint's features with at most `MAX_PROBES` calls; save the result for runs."""
    model.abilities, model.calls_left = Abilities(), MAX_PROBES
    takes, model.endpoint = model.abilities, replace(model.endpoint, sees=True)
    # Streaming, functions and an image in one call; later calls omit what the endpoint rejects.
    tool = {"name": "WORD", "description": "Say a word.", "parameters": _PROBE_SCHEMA}
    prompt = SystemPrompt("Call WORD.", [{"type": "function", "function": tool}])
    picture = Image("image/png", _PROBE_IMAGE, sha256(_PROBE_IMAGE).hexdigest())
    asked = [Message("user", "Call WORD with the word ok.", images=(picture,))]
    reply = await model.reply(prompt, asked, lambda _: None)
    called = "" if "<<TOOL:WORD" in reply.text else ", but it did not call one"
    left = model.calls_left
    if left:
        await model.reply_as(
            "Reply in JSON.", [Message("user", "The word is ok.")], _PROBE_SCHEMA, 50
        )
    remember(model.endpoint, takes)
    known = with_price(
        Usage(1_000_000), reply.model, model.endpoint.prices, asked=model.endpoint.model
    )
    rows = {
        "tools": f"functions{called}"
        if takes.tools
        else "not supported; text tags are used instead",
        "streaming": "yes" if takes.streams else "no",
        "schemas": ("yes" if takes.schemas else "no") if left else "not tried",
        "vision": "yes" if model.sees else "no",
        "system role": "yes"
        if takes.system
        else "not supported; the prompt is sent before the question",
        "context": f"{takes.context:,} tokens"
        if takes.context
        else "unknown: set --context-window",
        "price": f"{format_usd(known.usd)} per million tokens in" if known.usd else "unknown",
    }
    calls = MAX_PROBES - model.calls_left
    first = Checkup("model", well=True, seen=f"{reply.model} answers ({calls} calls made)")
    return [first, *(Checkup(f"  {name}", well=True, seen=seen) for name, seen in rows.items())]


def _install_browser() -> None:
    """Install Playwright's Chromium if no browser is found; on failure, print instructions."""
    if _has_browser():
        return
    if named := next((name for name in EXECUTABLE_VARIABLES if os.environ.get(name)), None):
        print_error(f"{named} does not point to a browser", f"Correct it, or run `unset {named}`.")
        return
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    print("installing Chromium: playwright install chromium", file=sys.stderr, flush=True)
    done = subprocess.run(command, check=False, stdout=sys.stderr)  # noqa: S603 - a fixed command
    if done.returncode or not _has_browser():
        package = _BROWSER_PACKAGES.get(sys.platform, "install Google Chrome or Chromium")
        print_error(
            "Chromium could not be installed",
            f"Install it with the system's package manager: {package}.",
        )


def _has_browser() -> bool:
    try:
        find_chrome()
    except BrowserMissing:
        return False
    return True
