"""`research skills`: what was learned, and the person's say over it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import Anywhere, json_option
from agent.cli.stores import Place, opened, placed
from agent.cli.terminal import print_json, print_rows
from agent.config import load_options
from agent.errors import UsageError
from agent.files import write_file
from agent.prompts.skill_files import FILE, skill_md
from agent.run.settings import load_skills
from browser.text.words import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.prompts.skill_files import Skill

_LINE = 100  # characters of an instruction in a list


@click.group(cls=Anywhere)
@placed
def skills() -> None:
    """Look at and delete the instructions that runs are given."""


@skills.command(name="list")
@json_option
@click.pass_obj
def list_(place: Place, /, *, as_json: bool) -> None:
    """List the skills: score, how often used, where from, instruction."""
    known = _skills(place)
    written = _written(place)
    if as_json:
        print_json(
            [*known, *({"name": s.name, "source": s.owner, "folder": s.folder} for s in written)]
        )
        return
    lines = [*map(_written_line, written), *map(_learned_line, known)]
    print_rows(lines, str, empty=["No skills were learned yet."])


@skills.command()
@click.argument("name")
@click.pass_obj
def show(place: Place, name: str) -> None:
    """Show all that is kept of the skill NAME."""
    for key, value in _skill(place, name).items():
        print(clean(f"{key}: {value}"))


@skills.command()
@click.argument("name")
@click.pass_obj
def trust(place: Place, name: str) -> None:
    """Take the skill NAME for your own instruction: runs are told to apply it from now on."""
    found = _skill(place, name)
    found.pop("trusted", None)
    with opened(place) as memory:
        memory.upkeep("").put_skills([found])
    print(clean(f"trusted {name}: {found.get('instruction', '')}"))


@skills.command()
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.pass_obj
def export(place: Place, name: str, folder: Path) -> None:
    """Write the learned skill NAME as FOLDER/SKILL.md, as other programs read it."""
    found = _skill(place, name)
    path = folder / FILE
    write_file(path, skill_md(name, str(found.get("instruction", ""))).encode())
    print(clean(f"wrote {path}"))


@skills.command()
@click.argument("name")
@click.pass_obj
def rm(place: Place, name: str) -> None:
    """Forget the skill NAME."""
    with opened(place) as memory:
        if not memory.upkeep("").drop_skill(name):
            raise _unknown(name)
    print(clean(f"forgot {name}"))


def _written_line(one: Skill) -> str:
    said = f"left out: {one.broken}" if one.broken else one.description[:_LINE]
    return f"  –    –  {one.owner:<7} {one.name}: {said}"


def _learned_line(skill: dict[str, Any]) -> str:
    said = " ".join(str(skill.get("instruction", "")).split())
    said = said if len(said) <= _LINE else said[:_LINE] + "…"
    source = skill.get("source", "") if skill.get("trusted", True) else "quoted"
    used = skill.get("usageCount") or 0
    return f"{skill.get('score', 50):>3}  {used:>3}×  {source:<6}  {skill['name']}: {said}"


def _skill(place: Place, name: str) -> dict[str, Any]:
    """Find a learned skill; raises `UsageError`."""
    found = next((skill for skill in _skills(place) if skill["name"] == name), None)
    if found is None:
        raise _unknown(name)
    return found


def _skills(place: Place) -> list[dict[str, Any]]:
    with opened(place) as memory:
        return memory.upkeep("").skills()


def _written(place: Place) -> Sequence[Skill]:
    return load_skills(load_options({"data_dir": place[0]}, config=True), config=True)


def _unknown(name: str) -> UsageError:
    return UsageError(f"no skill is called {name!r}", hint="`research skills list` names them.")
