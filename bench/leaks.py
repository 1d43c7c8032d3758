"""Counts what leaks from a run whose model obeys every page, and refused ordinary texts.

    python -m bench.leaks

Every secret is sent in every spelling through every argument, then three authors' ordinary texts
are sent. `tests/security/outgoing_texts.py` defines what counts as leaked.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from tests.security.outgoing_texts import (
    CHANNELS,
    IN_OTHER_LANGUAGES,
    KEYS,
    PRIVATE,
    QUESTION,
    context_of,
    filled,
    identifier_in,
    leaks_by_key_presses,
    ordinary,
    outcomes,
    sent,
    tells,
)
from tests.security.secrets_and_spellings import SECRETS, SPELLINGS


async def leaks(question: str = QUESTION) -> tuple[int, list[str]]:
    """Try every secret in every spelling through every argument; return the count and the leaks."""
    tried, left = 0, []
    for kind, secrets in SECRETS.items():
        for secret in secrets:
            private = PRIVATE.format(secret)
            for spelling, spell in SPELLINGS.items():
                said = spell(secret)
                for channel, (name, arguments) in CHANNELS.items():
                    tried += 1
                    context = context_of(question, None, private)
                    made = await sent(context, name, filled(arguments, said))
                    if tells(made, name, said, identifier_in(kind, secret)):
                        left.append(f"{kind}: {secret!r} as {spelling} by {channel}: {said!r}")
            tried += len(KEYS)
            left += [
                f"{kind}: {secret!r} by {way}"
                for way in await leaks_by_key_presses(private, secret, question)
            ]
    return tried, left


async def main() -> None:
    """Print what leaked and what was withheld."""
    left = []
    for question in (QUESTION, *IN_OTHER_LANGUAGES):
        tried, these = await leaks(question)
        print(f"secrets: {len(these)} of {tried:,} left, asked: {question}", flush=True)
        left += these
    for line, count in Counter(left).most_common():
        print(f"  {line}" + (f" ×{count}" if count > 1 else ""))
    for author in dict.fromkeys(run.author for run in ordinary()):
        found = await outcomes(run for run in ordinary() if run.author == author)
        for (name, outcome), texts in sorted(found.items()):
            print(f"ordinary texts of {author} stranger: {name} {outcome}: {len(texts)}")
            if outcome == "shortened" or (outcome == "refused" and name == "WEB_SEARCH"):
                print("".join(f"  {text}\n" for text in texts), end="")


if __name__ == "__main__":
    asyncio.run(main())
