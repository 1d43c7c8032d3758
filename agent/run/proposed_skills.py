"""Skills proposed after a site has repeatedly failed in the same way.

A proposal is a SKILL.md in the `proposed` folder of the data folder. Runs do not read it. The user
reads it, edits it, and enables it with `research skills enable`, which moves it to the user's
skills.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agent.errors import UsageError
from agent.files import write_file
from agent.prompts.skill_files import FILE, Skill, find_skills, skill_md
from browser.types import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from browser.read.habits import Habit

FOLDER: Final = "proposed"

_BLOCKED_ADVICE = (
    "Do not read its pages again and again. Search for the same content on other sites, and for "
    "the source that the page itself names. If only this site has it, say so in the answer, and "
    "that `--attach` reads the page in the user's own Chrome."
)
_ADVICE: Final = {
    Outcome.TIMEOUT: (
        "Read at most one of its pages in a run, after the other sources. If it takes too long, "
        "go on with what the other sources say."
    ),
    Outcome.RATE_LIMITED: (
        "Read its pages one at a time, at most two in a run, and only those that a search result "
        "shows to be needed."
    ),
    Outcome.LOGIN: (
        "Its pages need a login. Search for the same content elsewhere. If only this site has it, "
        "say so in the answer, and that the user can run `research login NAME https://{site}` "
        "once and ask again with `--login NAME`."
    ),
    Outcome.PAYWALL: (
        "Quote only what the page shows without a subscription. Search for the source that the "
        "page names: a study, a court, an authority, a press release."
    ),
    Outcome.BLOCKED: _BLOCKED_ADVICE,
    Outcome.BOT_CHECK: _BLOCKED_ADVICE,
    Outcome.CAPTCHA: _BLOCKED_ADVICE,
}
_SYMPTOMS: Final = {
    Outcome.TIMEOUT: "took too long",
    Outcome.RATE_LIMITED: "refused further requests",
    Outcome.LOGIN: "asked for a login",
    Outcome.PAYWALL: "was behind a paywall",
    Outcome.BLOCKED: "refused to be read",
    Outcome.BOT_CHECK: "checked for robots",
    Outcome.CAPTCHA: "asked to solve a captcha",
}


def propose_skill(data: Path, site: str, habit: Habit) -> Path | None:
    """Write the proposal for a site; returns None if a proposal or resulting skill exists."""
    outcome = Outcome(habit.failed)
    name = f"{site}-{outcome.value}".replace("_", "-")
    if any((data / folder / name / FILE).exists() for folder in (FOLDER, "skills")):
        return None
    path = data / FOLDER / name / FILE
    advice = _ADVICE[outcome].format(site=site)
    reason = f"{site} {_SYMPTOMS[outcome]} {habit.times} times in a row, last on {habit.at[:10]}."
    write_file(path, skill_md(name, f"How to research with {site}: {reason} {advice}").encode())
    return path


def proposed_skills(data: Path) -> list[Skill]:
    """List the proposals."""
    return find_skills([(data / FOLDER, "user")])


def enable_skill(data: Path, name: str) -> Path:
    """Move a proposal to the user's skills; returns its new folder. Raises `UsageError`."""
    found = next((skill for skill in proposed_skills(data) if skill.folder.name == name), None)
    if found is None:
        hint = "`research skills list` shows the proposals."
        raise UsageError(f"no proposed skill named {name!r}", hint=hint)
    if found.broken:
        raise UsageError(f"{found.folder / FILE}: {found.broken}", hint="Correct the file first.")
    target = data / "skills" / name
    if target.exists():
        raise UsageError(f"{target} already exists", hint="Delete it or the proposal.")
    target.parent.mkdir(parents=True, exist_ok=True)
    return found.folder.rename(target)
