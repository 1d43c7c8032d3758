"""User-written skill folders: each has a SKILL.md, which a model reads when needed.

The front matter of a SKILL.md has `name` and `description`, which are listed in a run's prompt.
Nothing in a skill folder is ever executed.
"""

from __future__ import annotations

import json
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
MAX_NAME_CHARS, MAX_DESCRIPTION_CHARS = 64, 1_024
"""Maximum lengths in characters, as in the SKILL.md format of other programs."""
MAX_SKILL_BYTES: Final = 131_072
"""Maximum size in bytes of a file that is read, as in the reference engine."""
MAX_SKILLS, MAX_FILES, MAX_LISTED = 100, 50, 12
"""Maximum number of skills in a folder, files of a skill, and skills listed in a run's prompt."""

Owner = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill's front matter, folder and owner; `broken` is the reason why it cannot be used."""

    name: str
    description: str
    folder: Path
    owner: Owner
    broken: str = ""

    def files(self) -> list[str]:
        """List the other files next to SKILL.md, relative to the folder."""
        found = (path for path in sorted(self.folder.rglob("*")) if path.is_file())
        names = (path.relative_to(self.folder).as_posix() for path in found)
        return [name for name in names if name != FILE][:MAX_FILES]

    def read(self, file: str = "") -> str:
        """Read a file of the skill, or SKILL.md without front matter; raises `ToolError`."""
        path = (self.folder / (file or FILE)).resolve()
        # A symlink or `..` must not lead out of the skill's folder to the user's other files.
        if not path.is_relative_to(self.folder.resolve()) or not path.is_file():
            raise ToolError(f"the skill {self.name!r} has no file {file!r}")
        text = _read(path)
        return text if file else _split(text)[1].strip()


def find_skills(folders: Iterable[tuple[Path, Owner]]) -> list[Skill]:
    """Find the skills in and directly below these folders; the first one of each name is used."""
    found: dict[str, Skill] = {}
    for folder, owner in folders:
        paths = [folder / FILE, *sorted(folder.glob(f"*/{FILE}"))[:MAX_SKILLS]]
        for path in (path for path in paths if path.is_file()):
            skill = _skill(path, folder, owner)
            found.setdefault(skill.name, skill)
    return list(found.values())


def _skill(path: Path, root: Path, owner: Owner) -> Skill:
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            raise ToolError("the path leads out of the skills folder through a link")
        fields = _split(_read(path))[0]
    except (ToolError, UsageError) as error:
        return Skill(path.parent.name, "", path.parent, owner, str(error))
    name = " ".join(str(fields.get("name") or "").split())
    description = " ".join(str(fields.get("description") or "").split())
    broken = ""
    if not name or not description:
        broken = "its front matter lacks a name or a description"
    if len(name) > MAX_NAME_CHARS or len(description) > MAX_DESCRIPTION_CHARS:
        broken = (
            f"its name is longer than {MAX_NAME_CHARS} characters, or its description longer than"
            f" {MAX_DESCRIPTION_CHARS}"
        )
    return Skill(name or path.parent.name, description, path.parent, owner, broken)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_SKILL_BYTES:
            raise ToolError(f"{path.name} is larger than {MAX_SKILL_BYTES // 1024} KB")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{path.name} cannot be read as text: {error}") from error


def _split(text: str) -> tuple[Mapping[str, Any], str]:
    """Split a file into front matter and text; raises `UsageError` if the YAML is invalid."""
    head, fence, body = text.removeprefix("---\n").partition("\n---")
    if not text.startswith("---\n") or not fence:
        return {}, text
    try:
        fields = YAML(typ="safe", pure=True).load(head)
    except YAMLError as error:
        raise UsageError(f"its front matter is not valid YAML: {error}") from error
    return fields if isinstance(fields, dict) else {}, body.partition("\n")[2]


def choose_skills(skills: Sequence[Skill], question: str) -> list[Skill]:
    """Choose the skills to list in a prompt, beginning with those most similar to the question.

    A project's skill is listed only if it shares a word with the question.
    """
    terms = {stem(word) for word in content_words(question)}
    chosen: list[tuple[int, Skill]] = []
    for skill in skills:
        text = f"{skill.name} {skill.description}"
        shared = len(terms & {stem(word) for word in content_words(text)})
        if not skill.broken and (shared or skill.owner == "user"):
            chosen.append((shared, skill))
    return [skill for _, skill in sorted(chosen, key=lambda row: -row[0])][:MAX_LISTED]


def skill_md(name: str, instruction: str) -> str:
    """Format a learned skill as a SKILL.md."""

    def quote(text: str) -> str:  # a JSON string is also valid YAML
        return json.dumps(" ".join(text.split()), ensure_ascii=False)

    description = " ".join(instruction.split())[:MAX_DESCRIPTION_CHARS]
    return f"---\nname: {quote(name)}\ndescription: {quote(description)}\n---\n\n{instruction}\n"
