"""What an action changed: lines that came, went or changed, with refs."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from browser.page.snapshot import snapshot_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.page.view import View

# Beyond this many lines a diff by matching is slow, and a page so different is better shown anew.
_DIFF_LINES = 4_000
_LONG_LINE = 120  # characters; of a longer line only the changed parts are shown
_SEGMENTS = re.compile(r"\[[^\[\]]*\]|[^\s\[]+\s*|\s+|\[")
_GONE_SHOWN = 3  # of a run of lines that went, the first few say which


def changes(before: View | None, after: View, budget: int, query: str | None) -> str:
    """Describe the change between two views: a diff, or the new snapshot where that is shorter.

    `+` lines are new, `-` lines are gone, `~` lines changed, `>` lines moved below another one;
    where all lines are as they were, what looks otherwise is named. An empty string says that
    nothing visible changed.
    """
    snapshot, _ = snapshot_of(after, budget, query)
    if before is None or before.url.split("#")[0] != after.url.split("#")[0]:
        return snapshot.text
    old = [line.rendered() for line in before.lines]
    new = [line.rendered() for line in after.lines]
    if old == new:
        return "\n".join(f"~ [{ref}] looks otherwise: {how}" for ref, how in after.restyled)
    if len(old) + len(new) > _DIFF_LINES:
        return snapshot.text
    text = "\n".join(_diff(old, new))
    return text if len(text) <= len(snapshot.text) else snapshot.text


def _diff(old: Sequence[str], new: Sequence[str]) -> list[str]:
    out: list[str] = []
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    moved = _moved(old, new, steps)
    for tag, i1, i2, j1, j2 in steps:
        if tag == "equal":
            continue
        if tag == "replace" and j2 - j1 == i2 - i1:
            out += [f"~ {_changed(a, b)}" for a, b in zip(old[i1:i2], new[j1:j2], strict=True)]
            continue
        for at in range(j1, j2):
            above = f" (now below: {new[at - 1].strip()[:60]})" if at else " (now first)"
            out.append(f"> {new[at].strip()}{above}" if new[at] in moved else f"+ {new[at]}")
        gone = [f"- {text[:80]}" for text in old[i1:i2] if text not in moved]
        out += gone[:_GONE_SHOWN]
        if len(gone) > _GONE_SHOWN:
            out.append(f"- ({len(gone) - _GONE_SHOWN} more lines went)")
    return out


def _moved(
    old: Sequence[str], new: Sequence[str], steps: Sequence[tuple[str, int, int, int, int]]
) -> frozenset[str]:
    """Lines with a control that went at one place and came at another, as they were."""
    apart = [
        step for step in steps if step[0] != "equal" and step[2] - step[1] != step[4] - step[3]
    ]
    gone = {text for _, i1, i2, _, _ in apart for text in old[i1:i2]}
    came = {text for _, _, _, j1, j2 in apart for text in new[j1:j2]}
    return frozenset(text for text in gone & came if "[" in text)


def _changed(old: str, new: str) -> str:
    """Reduce a long line to the controls and words in it that changed."""
    if len(new) <= _LONG_LINE:
        return new.strip()
    before, after = _SEGMENTS.findall(old), _SEGMENTS.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    came = ["".join(after[j1:j2]).strip() for _, _, _, j1, j2 in steps if j2 > j1]
    went = "".join("".join(before[i1:i2]) for _, i1, i2, _, _ in steps).strip()
    if came:
        return "… " + " … ".join(came) + " …"
    return f"… (without {went[:_LONG_LINE]}) …" if went else new.strip()
