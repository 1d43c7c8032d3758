"""Words of a question that carry no content, in some languages besides English.

Memories keep all their words: which of them mean nothing, only the language of the question tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser.text import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = 2  # function words of a language that show that a question is in it; one may be chance

# Case-folded and without accents, as `browser.text.words` gives them.
_LANGUAGES = {
    "German": frozenset(
        """
        der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren
        hat haben hatte wird werden wurde wurden kann was wer wen wem wessen wie wo woher wohin wann
        warum womit wozu wofur welche welcher welches welchen welchem viel viele in im an am auf aus
        bei beim mit nach von vom zu zum zur fur uber unter um sich er sie es ihr ihre ihren sein
        seine seinen nicht auch noch als so dass lange
        """.split()
    ),
    "French": frozenset(
        """
        le la les l un une des du de d au aux et ou mais est sont etait a ont avait sera qui que qu
        quoi quel quelle quels quelles quand comment combien pourquoi lequel laquelle dans en sur
        sous par pour avec sans chez il elle ils elles on se s son sa ses leur leurs ce cet cette
        ces ne pas plus y t c depuis
        """.split()
    ),
    "Spanish": frozenset(
        """
        el la los las un una unos unas y o pero es son era fue eran fueron ha han habia que quien
        quienes cual cuales cuando como cuanto cuanta cuantos cuantas donde porque por para con sin
        en de del a al se su sus lo le les no mas este esta ese esa
        """.split()
    ),
    "Italian": frozenset(
        """
        il lo la i gli le un uno una e o ma che chi cosa quale quali quando come quanto quanta
        quanti quante dove perche per con senza in di del della dei delle da dal dalla a al alla nel
        nella su sul si suo sua suoi sue non piu sono era ha hanno aveva
        """.split()
    ),
    "Portuguese": frozenset(
        """
        o a os as um uma uns umas e ou mas que quem qual quais quando como quanto quanta quantos
        quantas onde porque por para com sem em no na nos nas de do da dos das ao se seu sua seus
        suas nao mais foi eram tem tinha
        """.split()
    ),
    "Dutch": frozenset(
        """
        de het een en of maar is zijn was waren heeft hebben had wordt werd wie wat welke welk
        wanneer waar waarom hoe hoeveel in op aan bij met naar van voor uit over onder om zich hij
        zij ze haar niet ook nog dat die dit deze
        """.split()
    ),
}


def function_words(words: Sequence[str]) -> frozenset[str]:
    """Find the words of a question that mean nothing in its language; none for English."""
    asked = frozenset(words)
    found = [asked & language for language in _LANGUAGES.values()]
    best = max(found, key=len)
    return best if len(best) >= LEAST and len(best) > len(asked & STOP_WORDS) else frozenset()
