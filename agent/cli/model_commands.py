"""`research models`: list the available language models, and download a small one."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import ListingGroup, data_dir_option, drop_unset, only_run_flags, option
from agent.cli.terminal import note, print_rows, print_text, wrap
from agent.config import load_options, private_folder
from agent.errors import UsageError
from agent.models.available import ollama_models
from agent.models.providers import EXTRACTIVE, PROVIDERS, default_model
from agent.models.weights import KNOWN_MODELS, Weights, downloaded, pull
from browser.net.egress import EgressPolicy
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SHA256_RE = re.compile(r"[0-9a-f]{64}")
_EXTRACTIVE_DESCRIPTION = "finds and quotes passages without a language model; always available"


@click.group(cls=ListingGroup, invoke_without_command=True)
@data_dir_option
@click.pass_context
def models(ctx: click.Context, data_dir: Path) -> None:
    """List the available language models, with test results for the small ones."""
    ctx.obj = data_dir
    if ctx.invoked_subcommand is None:
        print_rows(_rows(data_dir), _format_row)


def _format_row(row: tuple[str, str]) -> str:
    return f"{row[0]:<44} {row[1]}"


def _rows(data: Path) -> list[tuple[str, str]]:
    """Return each model's name, as accepted by --model, and its description."""
    rows = [(EXTRACTIVE, _EXTRACTIVE_DESCRIPTION)]
    for provider in PROVIDERS:
        if provider.key and provider.default:
            has_key = bool(os.environ.get(provider.key))
            state = "key is set" if has_key else f"`research keys set {provider.prefix}`"
            rows.append((f"{provider.prefix}/{provider.default}", state))
    rows += [(f"ollama/{name}", "Ollama on this machine") for name in ollama_models(os.environ)]
    measured = {one.file: one.measured for one in KNOWN_MODELS}
    files = downloaded(data)
    rows += [(f"local:{path}", measured.get(path.name, "not measured")) for path in files]
    there = {path.name for path in files}
    rows += [
        (f"research models pull {one.name}", f"{_gigabytes(one.size)}; {one.measured}")
        for one in KNOWN_MODELS
        if one.file not in there
    ]
    used = load_options({}, config=True).model or default_model(os.environ) or EXTRACTIVE
    return [(name, f"{about} (used now)" if name == used else about) for name, about in rows]


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


@models.command(name="pull")
@click.argument("name", required=False, default="")
@option("--sha256", "HEX", "SHA-256 of the file, if NAME is a URL.")
@only_run_flags("--allow-private", "--proxy")
@click.pass_obj
def pull_model(data: Path, /, name: str, sha256: str | None, **flags: Any) -> None:
    """Download the model NAME (`small`), or a .gguf file from its URL with --sha256."""
    weights = find_weights(name, sha256 or "")
    settings = load_options(drop_unset(flags), config=True)
    policy = EgressPolicy(allow_private=settings.allow_private, upstream_proxy=settings.proxy)
    path = pull_with_progress(weights, private_folder(data), policy)
    print_text(f"local:{path}")
    note(
        "Use it:",
        f'research --model local:{path} "…", or `research config set model local:{path}`.',
    )


def find_weights(name: str, hexadecimal: str) -> Weights:
    """Return the model for a name or URL; raises `UsageError` for a URL without a hash."""
    known = {one.name: one for one in KNOWN_MODELS}
    if name in known:
        return known[name]
    if not is_web_url(name):
        models = ", ".join(f"{one.name} ({_gigabytes(one.size)})" for one in KNOWN_MODELS)
        raise UsageError(
            f"no model named {name!r}" if name else "no model was given",
            hint=f"Choose one of {models}, or use the URL of a .gguf file with --sha256.",
        )
    if not _SHA256_RE.fullmatch(hexadecimal.lower()):
        raise UsageError(
            "a model file from another URL requires a hash",
            hint="Add --sha256 with the hash that the publisher provides: 64 hexadecimal digits.",
        )
    weights = Weights(name, name, 0, hexadecimal.lower())
    if not weights.file.endswith(".gguf"):
        raise UsageError(f"{name} is not the URL of a .gguf file")
    return weights


def pull_with_progress(weights: Weights, data: Path, policy: EgressPolicy) -> Path:
    """Describe a download, then run it, with a progress bar on a terminal."""
    size = f"\n  size    {weights.size:,} bytes" if weights.size else ""
    note(f"Downloading\n  from    {weights.url}{size}\n  SHA-256 {weights.sha256}")
    if not sys.stderr.isatty():
        return asyncio.run(pull(weights, data, policy))
    from rich.console import Console  # noqa: PLC0415 - rich only on a terminal
    from rich.progress import (  # noqa: PLC0415 - as above
        BarColumn,
        DownloadColumn,
        Progress,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as view:
        task = view.add_task(weights.file, total=weights.size or None)

        def show(done: int, total: int) -> None:
            view.update(task, completed=done, total=total or None)

        return asyncio.run(pull(weights, data, policy, show))


def ask_first_choice(data: Path, choose: Callable[[str], str]) -> str:
    """On the first run, ask which model should answer, save the choice, and return its name."""
    from agent.cli.settings_commands import prompt_for_key, save_setting  # noqa: PLC0415 - needed only on the first run

    small = KNOWN_MODELS[0]
    found = ollama_models(os.environ)
    ways = [("an API key (OpenAI, Anthropic, …)", "key")]
    ways += [(f"Ollama on this machine ({found[0]})", "ollama")] if found else []
    size = _gigabytes(small.size)
    ways += [(f"a small model, downloaded once ({size}; {small.measured})", "small")]
    ways += [("no language model: find and quote passages", "none")]
    lines = [wrap(f"  {n}  {text}", indent=5) for n, (text, _) in enumerate(ways, 1)]
    question = "Which model should answer? To change it later, use `research config set model …`."
    note("\n".join([wrap(question), *lines]))
    number = 0
    while not 0 < number <= len(ways):
        answer = choose(f"1-{len(ways)} [{len(ways)}]").strip() or str(len(ways))
        number = int(answer) if answer.isdecimal() else 0
    match ways[number - 1][1]:
        case "key":
            prefixes = [one.prefix for one in PROVIDERS if one.key and one.default]
            name = choose(
                f"Which provider is the key for? {', '.join(prefixes)} [{prefixes[0]}]"
            ).strip()
            prompt_for_key(name or prefixes[0])
            return default_model(os.environ) or EXTRACTIVE
        case "ollama":
            model = f"ollama/{found[0]}"
        case "small":
            path = pull_with_progress(small, private_folder(data), EgressPolicy())
            model = f"local:{path}"
        case _:
            model = EXTRACTIVE
    save_setting("model", model)
    return model
