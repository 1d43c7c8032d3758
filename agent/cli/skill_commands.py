"""`research skills`: inspect, trust and delete learned instructions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli.flags import FOLDER, json_option
from agent.cli.stores import MemoryLocation, memory_at, memory_group, with_memory
from agent.cli.terminal import print_json, print_rows, print_text
from agent.config import load_options
from agent.errors import UsageError
from agent.files import write_file
from agent.memory.kinds import SKILL
from agent.prompts import prompt
from agent.prompts.skill_files import FILE, skill_md
from agent.run.proposed_skills import enable_skill, proposed_skills
from agent.run.settings import load_skills
from browser.text.words import shorten

if TYPE_CHECKING:
    from agent.memory.memory_api import Memory

_CLIENT_SKILL_FOLDERS = {
    "claude": ".claude/skills",
    "codex": ".codex/skills",
    "cursor": ".cursor/skills",
    "gemini": ".gemini/skills",
}
"""Coding agents' folders for a user's skills, relative to the home folder."""
_SKILL_NAME = "urchin-browser"
_MAX_LINE_CHARS = 100  # maximum characters per instruction in a list

skills = memory_group("skills", "List and manage the instructions that runs learned.")


@skills.command(name="list")
@json_option
@click.pass_obj
def list_(location: MemoryLocation, /, *, as_json: bool) -> None:
    """List the skills with score, number of uses, origin and instruction."""
    with memory_at(location) as store:
        learned = store.skills()
    written = load_skills(load_options({"data_dir": location[0]}, config=True), config=True)
    if as_json:
        files = ({"name": s.name, "source": s.owner, "folder": s.folder} for s in written)
        print_json([*learned, *files])
        return
    proposed = proposed_skills(_data(location))
    lines = [f"  –    –  proposed {one.folder.name}: {one.folder / FILE}" for one in proposed]
    for one in written:
        text = f"skipped: {one.broken}" if one.broken else shorten(one.description, _MAX_LINE_CHARS)
        lines.append(f"  –    –  {one.owner:<7} {one.name}: {text}")
    print_rows([*lines, *map(_format, learned)], str, empty=["No skills yet."])


def _format(skill: dict[str, Any]) -> str:
    text = shorten(str(skill.get("instruction", "")), _MAX_LINE_CHARS)
    source = skill.get("source", "") if skill.get("trusted", True) else "quoted"
    used = skill.get("usageCount") or 0
    return f"{skill.get('score', 50):>3}  {used:>3}×  {source:<6}  {skill['name']}: {text}"


@skills.command()
@click.argument("name")
@with_memory
def show(store: Memory, name: str) -> None:
    """Show the details of the skill NAME."""
    for key, value in _find(store, name).items():
        print_text(f"{key}: {value}")


@skills.command()
@click.argument("name")
@click.pass_obj
def enable(location: MemoryLocation, name: str) -> None:
    """Enable the proposed skill NAME, so that runs can use it. Read the skill first."""
    print_text(f"enabled {name}: {enable_skill(_data(location), name) / FILE}")


@skills.command()
@click.argument("name")
@with_memory
def trust(store: Memory, name: str) -> None:
    """Trust the skill NAME: from now on, runs follow it as if you had written it."""
    skill = _find(store, name)
    skill.pop("trusted", None)
    store.save_skills([skill])
    print_text(f"trusted {name}: {skill.get('instruction', '')}")


@skills.command()
@click.argument("name")
@click.argument("folder", type=FOLDER)
@with_memory
def export(store: Memory, name: str, folder: Path) -> None:
    """Export the learned skill NAME as FOLDER/SKILL.md, for other programs."""
    skill = _find(store, name)
    path = folder / FILE
    write_file(path, skill_md(name, str(skill.get("instruction", ""))).encode())
    print_text(f"wrote {path}")


@skills.command()
@click.argument("client")
def install(client: str) -> None:
    """Teach a coding agent to use `research browser`: claude, codex, cursor, gemini or a folder.

    The skill is written to the client's skills folder and loaded the next time the client starts.
    """
    if client in _CLIENT_SKILL_FOLDERS:
        folder = Path.home() / _CLIENT_SKILL_FOLDERS[client]
    elif "/" in client or Path(client).is_dir():
        folder = Path(client)
    else:
        hint = f"Use one of {', '.join(_CLIENT_SKILL_FOLDERS)}, or a skills folder."
        raise UsageError(f"unknown client {client!r}", hint=hint)
    text = prompt("browser_skill")
    path = folder / _SKILL_NAME / FILE
    write_file(path, text.encode())
    print_text(f"wrote {path}")


@skills.command()
@click.argument("name")
@with_memory
def rm(store: Memory, name: str) -> None:
    """Delete the skill NAME."""
    _find(store, name)
    store.forget(name, SKILL)
    print_text(f"deleted {name}")


def _data(location: MemoryLocation) -> Path:
    return load_options({"data_dir": location[0]}, config=True).data


def _find(store: Memory, name: str) -> dict[str, Any]:
    """Find a learned skill; raises `UsageError`."""
    for skill in store.skills():
        if skill["name"] == name:
            return skill
    raise UsageError(f"no skill named {name!r}", hint="`research skills list` lists all skills.")
