"""`research wiki`: memory as Markdown pages, kept in sync."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from agent.cli.flags import (
    POSITIVE_COUNT,
    NonBlank,
    data_dir_option,
    namespace_option,
    number_option,
    option,
    setting_option,
)
from agent.cli.stores import memory_at
from agent.cli.terminal import note, plural, print_text
from agent.config import load_options
from agent.errors import CHECK_FAILED, NotFound, UsageError

if TYPE_CHECKING:
    from agent.wiki import Wiki

WikiLocation = tuple[Path, Path, str]
"""The data folder, the wiki folder, and the namespace."""


@click.group(invoke_without_command=True)
@setting_option("wiki")
@namespace_option
@data_dir_option
@click.pass_context
def wiki(ctx: click.Context, wiki: Path | None, namespace: str, data_dir: Path) -> None:
    """Sync, check, read or search the wiki; without a subcommand, print its folder."""
    folder = wiki or load_options({"data_dir": data_dir}, config=True).wiki_folder
    ctx.obj = (data_dir, folder, namespace)
    if ctx.invoked_subcommand is None:
        files = _open(ctx.obj).list_files()
        print(f"{folder}: {plural(len(files), 'file', 'files')}")


def _open(location: WikiLocation) -> Wiki:
    from agent.wiki import Wiki  # noqa: PLC0415 - not needed for `--help`

    folder = location[1]
    if not folder.is_dir():
        raise UsageError(f"no wiki at {folder}", hint="`research wiki sync` creates one.")
    return Wiki(folder, load_options({}, config=True).wiki_rules)


@wiki.command()
@click.pass_obj
def sync(location: WikiLocation) -> None:
    """Import manual edits, then update the pages from memory."""
    from agent.memory.wiki_sync import sync_wiki  # noqa: PLC0415 - not needed for `--help`

    data, folder, namespace = location
    with memory_at((data, namespace)) as store:
        written = sync_wiki(store, folder, load_options({}, config=True).wiki_rules)
    for path in written:
        print_text(f"wrote {path}")
    if not written:
        note("All pages are up to date.")


@wiki.command()
@click.pass_obj
def lint(location: WikiLocation) -> int:
    """Find problems; exits with code 8 if any is critical."""
    findings = _open(location).lint()
    for finding in findings:
        where = f"{finding.path}:{finding.line}" if finding.line else finding.path
        print_text(f"{finding.severity}: {where} {finding.message}")
    if not findings:
        note("No problems found.")
    return CHECK_FAILED if any(finding.severity == "critical" for finding in findings) else 0


@wiki.command()
@click.argument("path", default="index.md")
@option("--start", None, "First line to show.", default=1, type=POSITIVE_COUNT, show_default=True)
@option("--lines", None, "Number of lines.", default=120, type=POSITIVE_COUNT, show_default=True)
@click.pass_obj
def show(location: WikiLocation, path: str, start: int, lines: int) -> None:
    """Show a page (default: the index)."""
    window = _open(location).read_lines(path, start, lines)
    if window is None:
        raise UsageError(f"page not found: {path}", hint="`research wiki show` lists the pages.")
    if start > max(1, window.total):
        length = plural(window.total, "line", "lines")
        raise UsageError(f"{path} has {length}; --start {start} is past the end")
    print_text(window.content.rstrip())
    if window.end < window.total:
        print(f"… {window.end} of {window.total} lines; continue with --start {window.end + 1}")


@wiki.command()
@click.argument("query", type=NonBlank("a search"))
@number_option(8, "Maximum number of results.")
@option(
    ("--in", "part"), None, "Search only this part.", type=click.Choice(["wiki", "raw", "sessions"])
)
@click.pass_obj
def search(
    location: WikiLocation, query: str, number: int, part: Literal["wiki", "raw", "sessions"] | None
) -> None:
    """Search the pages; exits with code 3 if nothing is found."""
    pages = _open(location).search(query, number, part)
    if not pages:
        raise NotFound(f"no page matches {query!r}")
    for page in pages:
        print_text(f"{page.score:.2f}  {page.path}: {page.title}")
