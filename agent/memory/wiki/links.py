"""`[[links]]` of a page, as Obsidian reads them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^(?P=fence)[^\n]*$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")


def links(text: str) -> Iterator[tuple[int, str]]:
    """Give the target of each link with its line; alias and anchor taken off, code left out."""
    plain = _CODE.sub(_blank, _FENCE.sub(_blank, text))
    for match in _LINK.finditer(plain):
        target = match[1].partition("|")[0].partition("#")[0].strip()
        if target:  # `[[#heading]]` stays on the page
            yield plain.count("\n", 0, match.start()) + 1, target


def resolve(target: str, files: Iterable[str]) -> str | None:
    """Find the file that a link means: by path, else by name alone; case does not count."""
    wanted = target.replace("\\", "/").lstrip("/").casefold()
    names = {wanted, f"{wanted}.md", f"{wanted}.mdx"}
    by_name = None
    for path in files:
        folded = path.casefold()
        if folded in names:
            return path
        if by_name is None and "/" not in wanted and folded.rpartition("/")[2] in names:
            by_name = path
    return by_name


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")
