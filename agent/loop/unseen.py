"""Removes addresses and references that the run never saw from an answer; models invent them."""

from __future__ import annotations

import re

from agent.types import PASSAGE_MARK

_ADDRESS_RE = re.compile(r"https?://[^\s<>\"'\])}|]+")
_LINK_RE = re.compile(
    r"!?\[([^\]]*)\]\((https?://[^\s)]+)[^)]*\)|\s?[(<]?(https?://[^\s<>\"'\])}|]+)[)>]?"
)
_LIST_ITEM_RE = re.compile(r"\s*(?:[-*•]\s|\d{1,3}[.)]\s|\[\^?\w{1,8}\]:?\s)")
_HEADING_RE = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?|[^.!?]{1,40}:)\s*")
_FOOTNOTE_RE = re.compile(r"\[\^(\w{1,8})\](:?)")


def remove_unseen_addresses(answer: str, seen: str) -> tuple[str, list[str]]:
    """Remove addresses not in `seen` from an answer; returns the rest and the removed addresses.

    A list item based on such an address is removed entirely, together with its list's heading and
    uncited items; in a sentence, only the address is removed.
    """
    unseen = [a for a in _ADDRESS_RE.findall(answer) if a.rstrip(".,;:/") not in seen]
    if not unseen:
        return answer, []
    lines = answer.split("\n")
    blocks: list[list[int]] = []  # consecutive list items
    for n, line in enumerate(lines):
        if _LIST_ITEM_RE.match(line):
            if blocks and not "".join(lines[blocks[-1][-1] + 1 : n]).strip():
                blocks[-1].append(n)
            else:
                blocks.append([n])
    gone: set[int] = set()
    for block in blocks:
        if any(address in lines[n] for n in block for address in unseen):
            gone |= {n for n in block if _is_invented(lines[n], unseen)}
            above = next((n for n in range(block[0] - 1, -1, -1) if lines[n].strip()), -1)
            if gone >= set(block) and above >= 0 and _HEADING_RE.fullmatch(lines[above]):
                gone.add(above)
    kept = [line for n, line in enumerate(lines) if n not in gone]
    text = _LINK_RE.sub(lambda m: _without_address(m, unseen), "\n".join(kept))
    defined = {name for name, colon in _FOOTNOTE_RE.findall(text) if colon}
    text = _FOOTNOTE_RE.sub(lambda m: m[0] if m[1] in defined else "", text)
    return text.strip(), list(dict.fromkeys(unseen))


def _is_invented(line: str, unseen: list[str]) -> bool:
    addresses = _ADDRESS_RE.findall(line)
    return PASSAGE_MARK not in line and all(address in unseen for address in addresses)


def _without_address(found: re.Match[str], unseen: list[str]) -> str:
    address = found[2] or found[3]
    return (found[1] or "") if address in unseen else found[0]
