"""Skills that people write: folders with a SKILL.md, whose text a model reads when it needs it.

The front matter of a SKILL.md has `name` and `description`, which runs are told of. Nothing in a
folder is ever run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from agent.errors import ToolError, UsageError
from browser.text.words import content_words, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

FILE: Final = "SKILL.md"
LONGEST_NAME, LONGEST_DESCRIPTION = 64, 1_024
"""Characters, as in the form that other programs use."""
LARGEST: Final = 32 * 1024
"""Bytes of a file that is read: a quarter of a small model's window."""
MOST_SKILLS, MOST_FILES, MOST_SHOWN = 100, 50, 12
"""Skills of a folder, files of a skill, and skills that a run is told of."""

Owner = Literal["person", "project"]


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill by its front matter, its folder, and whose it is; `broken` says why it is none."""

    name: str
    description: str
    folder: Path
    owner: Owner
    broken: str = ""

    def files(self) -> list[str]:
        """Name the files beside SKILL.md, within the folder."""
        found = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        names = (path.relative_to(self.folder).as_posix() for path in found)
        return [name for name in names if name != FILE][:MOST_FILES]

    def read(self, file: str = "") -> str:
        """Read a file of the skill, without front matter; raises `ToolError`."""
        path = (self.folder / (file or FILE)).resolve()
        # A link, or `..`, would lead out of the skill to any file of the person's.
        if not path.is_relative_to(self.folder.resolve()) or not path.is_file():
            raise ToolError(f"the skill {self.name!r} has no file {file!r}")
        text = _read(path)
        return text if file else _split(text)[1].strip()


def find_skills(folders: Iterable[tuple[Path, Owner]]) -> list[Skill]:
    """Find the skills of some folders; of two of one name the first counts."""
    found: dict[str, Skill] = {}
    for folder, owner in folders:
        paths = sorted(folder.glob(f"*/{FILE}"))[:MOST_SKILLS] if folder.is_dir() else []
        for path in paths:
            skill = _skill(path, owner)
            found.setdefault(skill.name, skill)
    return list(found.values())


def _skill(path: Path, owner: Owner) -> Skill:
    try:
        if not path.resolve().is_relative_to(path.parents[1].resolve()):
            raise ToolError("it is a link to somewhere else")
        fields = _split(_read(path))[0]
    except (ToolError, UsageError) as error:
        return Skill(path.parent.name, "", path.parent, owner, str(error))
    name, told = (" ".join(str(fields.get(key) or "").split()) for key in ("name", "description"))
    broken = "" if name and told else "its front matter has no name, or no description"
    if len(name) > LONGEST_NAME or len(told) > LONGEST_DESCRIPTION:
        broken = f"name or description is longer than {LONGEST_NAME} or {LONGEST_DESCRIPTION}"
    return Skill(name or path.parent.name, told, path.parent, owner, broken)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise ToolError(f"{path.name} is larger than {LARGEST // 1024} KB")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{path.name} cannot be read as text: {error}") from error


def _split(text: str) -> tuple[Mapping[str, Any], str]:
    """Split the front matter from the text; raises `UsageError` where it is broken."""
    head, fence, body = text.removeprefix("---\n").partition("\n---")
    if not text.startswith("---\n") or not fence:
        return {}, text
    try:
        fields = YAML(typ="safe", pure=True).load(head)
    except YAMLError as error:
        raise UsageError(f"its front matter is no YAML: {error}") from error
    return fields if isinstance(fields, dict) else {}, body.partition("\n")[2]


def choose_skills(skills: Sequence[Skill], question: str) -> list[Skill]:
    """Choose the skills to tell of: the nearest by the question's words first.

    A project's skill is told of only where it shares a word with the question.
    """
    wanted = {stem(word) for word in content_words(question)}
    near = [
        (len(wanted & {stem(w) for w in content_words(f"{s.name} {s.description}")}), s)
        for s in skills
        if not s.broken
    ]
    fit = [(shared, skill) for shared, skill in near if shared or skill.owner == "person"]
    return [skill for _, skill in sorted(fit, key=lambda row: -row[0])][:MOST_SHOWN]


def skill_md(name: str, instruction: str) -> str:
    """Write a learned skill in the form of a SKILL.md."""

    def quoted(text: str) -> str:
        return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'

    first = " ".join(instruction.split())[:LONGEST_DESCRIPTION]
    return f"---\nname: {quoted(name)}\ndescription: {quoted(first)}\n---\n\n{instruction}\n"
