"""`research wiki`: what is known as plain Markdown, kept in step with the memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from agent.cli.flags import MANY, Anywhere, data_dir_option, number_option, require_words
from agent.cli.stores import namespace_option, opened
from agent.cli.terminal import counted, note
from agent.config import default_data_dir, load_options
from agent.errors import CHECK_FAILED, NotFound, UsageError
from browser.text.words import clean

if TYPE_CHECKING:
    from agent.limits import WikiRules
    from agent.wiki import Wiki

Place = tuple[Path, Path, str]
"""The data folder, the wiki's own folder, the namespace."""


@click.group(cls=Anywhere, invoke_without_command=True)
@click.option(
    "--wiki",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="RESEARCH_WIKI",
    metavar="DIR",
    help="Where the wiki is; as settings say, else `wiki` in the data folder.",
)
@namespace_option
@data_dir_option
@click.pass_context
def wiki(ctx: click.Context, folder: Path | None, namespace: str, data_dir: Path | None) -> None:
    """Say where the wiki is; sync, check, read or search it."""
    data = data_dir or default_data_dir()
    folder = folder or load_options({"data_dir": data}, config=True).wiki_folder
    ctx.obj = (data, folder, namespace)
    if ctx.invoked_subcommand is None:
        files = _opened(ctx.obj).list_files()
        print(f"{folder}: {counted(len(files), 'file', 'files')}")


@wiki.command()
@click.pass_obj
def sync(place: Place) -> None:
    """Take up what was edited by hand, then write what is known."""
    from agent.memory.wiki_sync import sync_wiki  # noqa: PLC0415 - `--help` needs none of it

    data, folder, namespace = place
    with opened((data, namespace)) as store:
        changed = sync_wiki(store, folder, _rules())
    for path in changed:
        print(clean(f"wrote {path}"))
    if not changed:
        note("All pages are as they should be.")


@wiki.command()
@click.pass_obj
def lint(place: Place) -> int:
    """Find what is wrong; exit 8 where something critical is."""
    found = _opened(place).lint()
    for finding in found:
        where = f"{finding.path}:{finding.line}" if finding.line else finding.path
        print(clean(f"{finding.severity}: {where} {finding.message}"))
    if not found:
        note("Nothing is wrong.")
    return CHECK_FAILED if any(finding.severity == "critical" for finding in found) else 0


@wiki.command()
@click.argument("path", default="index.md")
@click.option("--start", default=1, type=MANY, show_default=True, help="The first line.")
@click.option("--lines", default=120, type=MANY, show_default=True, help="How many lines.")
@click.pass_obj
def show(place: Place, path: str, start: int, lines: int) -> None:
    """Show a page, the index unless told."""
    window = _opened(place).read_lines(path, start, lines)
    if window is None:
        raise UsageError(f"no such page: {path}", hint="`research wiki show` lists the pages.")
    if start > max(1, window.total):
        told = counted(window.total, "line", "lines")
        raise UsageError(f"{path} has {told}, --start {start} is past its end")
    print(clean(window.content).rstrip())
    if window.end < window.total:
        print(f"… {window.end} of {window.total} lines; go on with --start {window.end + 1}")


@wiki.command()
@click.argument("query")
@number_option(8, "How many.")
@click.option("--in", "part", type=click.Choice(["wiki", "raw", "sessions"]), help="Only there.")
@click.pass_obj
def search(
    place: Place, query: str, number: int, part: Literal["wiki", "raw", "sessions"] | None
) -> None:
    """Search the pages; exit 3 where nothing is found."""
    require_words(query, "a search")
    pages = _opened(place).search(query, number, part)
    if not pages:
        raise NotFound(f"no page bears on {query!r}")
    for found in pages:
        print(clean(f"{found.score:.2f}  {found.path}: {found.title}"))


def _rules() -> WikiRules:
    return load_options({}, config=True).wiki_rules


def _opened(place: Place) -> Wiki:
    from agent.wiki import Wiki  # noqa: PLC0415 - `--help` needs none of it

    if not place[1].is_dir():
        raise UsageError(f"there is no wiki at {place[1]}", hint="`research wiki sync` makes one.")
    return Wiki(place[1], _rules())
