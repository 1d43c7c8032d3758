"""Words by which a sentence may deny in its own way what another one denies outright.

Writers who retell a denial seldom repeat its `not`: `was not admitted` becomes `was kept out`. A
sentence without any such word hardly retells a denial.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.evidence.language.thesaurus import denying
from agent.evidence.language.vocabulary import DENIALS, NEGATORS, root_set

if TYPE_CHECKING:
    from agent.evidence.language.statements import Sentence

CONCESSIVE = root_set("but though although however despite yet still")
"""Words that set one part of a sentence against another, and deny nothing by themselves."""

_BUILT = re.compile(r"un(?!der|i[ofqtv])[a-z]{4,}|non[a-z-]{4,}|[a-z]{3,}-?(?:less|free)")
"""Words with a prefix or an ending that denies: `unpaid`, `hairless`, `smoke-free`."""


def is_plain(claim: Sentence) -> bool:
    """Whether a claim affirms outright or denies outright, with one negator and no more."""
    hints = _hints(claim)
    return not hints or (len(hints) == 1 and hints[0] in NEGATORS | DENIALS)


def plainly_apart(claim: Sentence, page: Sentence) -> bool:
    """Whether a plain claim and a sentence of the page cannot say the same in two ways.

    A claim that affirms is set against any sentence; one that denies against a plain one alone.
    """
    return not _hints(claim) or CONCESSIVE.issuperset(_hints(page))


def _hints(sentence: Sentence) -> list[str]:
    """Give the roots of the words that may deny something, negators included."""
    return [token.root for token in sentence.words if _may_deny(token.form, token.root)]


def _may_deny(form: str, root: str) -> bool:
    listed = root in denying() or root in NEGATORS or root in DENIALS
    return listed or _BUILT.fullmatch(form) is not None
