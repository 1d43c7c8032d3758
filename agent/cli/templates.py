"""Templates: a question with options under a name, as TOML in the folder of the settings file.

    # templates/changes.toml
    question = "What changed in {input} since last year?"
    depth = "deep"

`research -t changes "Python"` asks it; `{input}` takes what is typed, which else comes after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agent.config import Options, config_path, options, read_file
from agent.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_QUESTION = "urchin.template"


def template_option(function: Any) -> Any:
    """Add `-t`: it is read before the other options, and stands below them and the environment."""
    add = click.option(
        "-t",
        "--template",
        metavar="NAME",
        is_eager=True,
        expose_value=False,
        callback=_take,
        help="A saved question with options: templates/NAME.toml beside the settings file.",
    )
    return add(function)


def filled(question: str) -> str:
    """Put the question into the template that was named, if one was."""
    template = click.get_current_context().meta.get(_QUESTION, "")
    if "{input}" in template and not question.strip():
        raise UsageError(
            f"the template asks {template!r} and wants words in the place of {{input}}",
            hint='Give them behind it: `research -t NAME "…"`.',
        )
    if "{input}" in template:
        return str(template.replace("{input}", question))
    return f"{template} {question}".strip()


def _take(ctx: click.Context, _: click.Parameter, name: str | None) -> None:
    if not name or ctx.resilient_parsing:
        return
    folder = config_path().parent / "templates"
    values = read_file(_file(folder, name))
    ctx.meta[_QUESTION] = str(values.pop("question", ""))
    known = {field.alias or key for key, field in Options.model_fields.items()} | {"export"}
    if unknown := sorted(values.keys() - known):
        raise UsageError(
            f"the template {name} has no such option: {unknown[0]}",
            hint="It takes `question` and the options of `research ask --help`.",
        )
    options({key: value for key, value in values.items() if key != "export"})
    ctx.default_map = {**(ctx.default_map or {}), **values}


def _file(folder: Path, name: str) -> Path:
    found = {path.stem: path for path in sorted(folder.glob("*.toml"))}
    if name not in found:
        there = ", ".join(found) or "none yet"
        raise UsageError(f"no template {name!r} in {folder}", hint=f"There are: {there}.")
    return found[name]
