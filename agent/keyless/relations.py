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
cost price fee charge paid crown dollar euro pound usd eur gbp
"""

# Forms that no stemmer brings together.
_IRREGULAR = """
arise arose arisen
beat beaten
become became
begin began begun
bear bore borne born
bind bound
break broke broken
bring brought
build built builder
burn burnt
buy bought
catch caught
choose chose chosen
come came
deal dealt
dig dug
do did done
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
hang hung
have had
hear heard
hide hid hidden
hold held
keep kept
know knew known
lay laid
lead led
leave left
lend lent
light lit
lose lost
make made
mean meant
meet met
pay paid
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shine shone
shoot shot
show shown
sing sang sung
sink sank sunk
sit sat
sleep slept
speak spoke spoken
spend spent
spring sprang sprung
stand stood
steal stole stolen
stick stuck
strike struck
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
weave wove woven
win won
wind wound
write wrote written
man men
woman women
child children
foot feet
"""


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in (_GROUPS + _IRREGULAR).strip().splitlines():
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
