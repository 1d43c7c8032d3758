"""`research serve`: the page, the REST interface and the OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import given, run_flags_showing
from agent.cli.job_place import jobs_url_option, opened
from agent.cli.progress import told
from agent.cli.terminal import note
from agent.config import options
from agent.errors import UsageError
from agent.listening import HOST, checked_token

if TYPE_CHECKING:
    from types import ModuleType

    from agent.serve.job_book import JobBook

SHOWN = ("--model", "--judge", "--depth", "--search", "--corpus", "--attach", "--cdp", "--budget")
PORT = 8321


@click.command()
@click.option("--port", default=PORT, show_default=True, help="The port; 0: any that is free.")
@click.option("--host", default=HOST, show_default=True, help="The address to listen on.")
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME[:PORT]",
    help="A name under which it is called, behind a proxy or in a network.",
)
@click.option(
    "--token",
    envvar="RESEARCH_SERVE_TOKEN",
    metavar="TEXT",
    help="What clients have to show; made up where there is none.",
)
@click.option(
    "--folder",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder that questions may be asked of.",
)
@click.option("--at-once", default=20, show_default=True, help="Runs at work at most.")
@jobs_url_option
@run_flags_showing(*SHOWN, "--allow-private", "--share", "--data-dir", "--no-memory")
def serve(
    *,
    port: int,
    host: str,
    names: tuple[str, ...],
    token: str | None,
    folder: tuple[Path, ...],
    at_once: int,
    jobs_url: str | None,
    **flags: Any,
) -> None:
    """Serve the page and the API on loopback; takes the flags of a question for its runs."""
    named = {name: _plain(value) for name, value in given(flags).items()}
    settings = options(named, config=True)
    app = _loaded()
    made = checked_token(token) if token is not None else secrets.token_urlsafe(32)

    async def checkup() -> list[dict[str, Any]]:
        from agent.cli.doctor import machine, network  # noqa: PLC0415 - only where it is asked for

        return [asdict(one) for one in [*machine(settings), *await network(settings)]]

    def book() -> JobBook:
        jobs = opened(jobs_url, settings.data)
        from agent.serve.job_book import JobBook  # noqa: PLC0415 - loads DBOS, an extra

        return JobBook(jobs, {name: value for name, value in named.items() if name != "data_dir"})

    ticket = secrets.token_urlsafe(16) if token is None else ""

    def ready(address: str) -> None:
        print(f"{address}/?ticket={ticket}" if ticket else address, flush=True)
        if ticket:
            said = f"The address lets one browser in, once. The token is {made}"
            note(said, "Programs send it as `Authorization: Bearer TOKEN`.")

    flags = {**named, "folder": [str(path) for path in folder]}
    asyncio.run(
        app.serve(
            settings,
            flags,
            port=port,
            host=host,
            names=names,
            token=made,
            ticket=ticket,
            told=lambda event: told(event, 0),
            checkup=checkup,
            ready=ready,
            at_once=at_once,
            opened=book,
        )
    )


def _plain(value: Any) -> Any:
    """Write paths as text: what is handed to a run's process is JSON."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value.resolve()) if isinstance(value, Path) else value


def _loaded() -> ModuleType:
    """Load the server; raises `UsageError` where it is not installed."""
    try:
        from agent.serve import app  # noqa: PLC0415 - an extra, of this command alone
    except ModuleNotFoundError as error:
        hint = "pip install 'urchin-research[serve]'"
        raise UsageError(f"{error.name} is not installed", hint=hint) from error
    return app
