"""Words that say the same relation in different forms, so that a question meets its sentence."""

from __future__ import annotations

import functools

from browser.text import stem

# Groups of English words that stand for one relation in encyclopedic prose.
_GROUPS = """
spouse wife husband married marry marriage wed
birthplace born birth native
die died death dead killed
father mother parent son daughter child children
director directed directing
writer wrote written author penned writing
singer sang sung performer performed song vocalist recorded
actor actress starred starring played portrayed cast role
film movie motion picture
founder founded established establish founding created creation formed inception
located located situated lies location
company corporation firm manufacturer
country nation state
nationality citizen citizenship
university college school alma mater studied graduated attended
team club side played
plane aircraft airplane bomber jet
capacity seat seats seating seated
publish published publication released release premiered
headquarters headquartered based
population inhabitants residents
bordered border borders neighbouring neighboring
named called known
begin began start started opened launched commenced
end ended concluded ceased finished
earlier first older oldest
won winner win champion victory defeated
employer worked works
rank ranked ranking placed populous
hail from formed origin
cost price paid
"""


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _GROUPS.strip().splitlines():
        group = {stem(w) for w in line.split()}
        for member in group:
            table.setdefault(member, set()).update(group)
    return {k: frozenset(v - {k}) for k, v in table.items()}


_RELATED = _table()


@functools.lru_cache(maxsize=4096)
def related(term: str) -> frozenset[str]:
    """Stems that say the same in other words; without the stem itself."""
    return _RELATED.get(term, frozenset())


def alike(a: str, b: str) -> bool:
    """Whether two stems are forms of one word that the stemmer left apart (direct, director)."""
    short, long = sorted((a, b), key=len)
    return len(short) >= 5 and long.startswith(short) and len(long) - len(short) <= 4
