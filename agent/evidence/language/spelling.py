"""Forms of one word brought together: contractions, British and American spelling, irregulars."""

from __future__ import annotations

import functools
import re

from browser.text import stem

_SPELLINGS = (
    (re.compile(r"(?<=\w{3})our(?=(?:s|ed|ing|ful|less|able|ite|ist|er|ers)?$)"), "or"),
    (re.compile(r"(?<=\w[tb])re(s?)$"), r"er\1"),
    (re.compile(r"is(?=(?:e|es|ed|ing|ation|ations|er|ers)$)"), "iz"),
    (re.compile(r"ys(?=(?:e|es|ed|ing)$)"), "yz"),
    (re.compile(r"ll(?=(?:ed|ing|er|ers)$)"), "l"),
    (re.compile(r"ogue(s?)$"), r"og\1"),
    (re.compile(r"amme(s?)$"), r"am\1"),
    (re.compile(r"^gray"), "grey"),
    (re.compile(r"(?<=(?:de|of|ic|pe))fence$|(?<=pret)ence$"), "ense"),
)

_CONTRACTIONS = {
    "won't": "will not",
    "can't": "can not",
    "cannot": "can not",
    "shan't": "shall not",
    "ain't": "is not",
}

# Forms that no stemmer brings back, as `lemma: forms`.
_IRREGULAR = """
low: lower lowest; arise: arose arisen; bear: bore borne; beat: beaten; become: became; begin:
began begun; bite: bit bitten; breed: bred; blow: blew blown; break: broke broken; bring: brought;
build: built; burn: burnt; buy: bought; catch: caught; choose: chose chosen; come: came;
creep: crept;
deal: dealt; die: died dying dies; dig: dug; draw: drew drawn; dream: dreamt; drink: drank drunk;
drive: drove driven; eat: ate eaten; fall: fell fallen; feed: fed; feel: felt; fight: fought;
find: found; flee: fled; fly: flew flown flies; forbid: forbade forbidden; forget: forgot
forgotten; freeze: froze frozen; get: got gotten; give: gave given; go: went gone goes; grow: grew
grown; hang: hung; have: had has having; hear: heard; hide: hid hidden; hold: held; uphold:
upheld; withhold: withheld; outgrow: outgrew; overcome: overcame; overrun: overran; rebuild:
rebuilt; rewrite: rewrote rewritten; resell: resold; mislead: misled; keep: kept; know: knew
known; lay: laid; lead: led; learn: learnt; leave: left; lend: lent; lie: lying lain; light: lit;
lose: lost; make: made; mean: meant; meet: met; pay: paid; prove: proven; ride: rode ridden; ring:
rang rung; rise: rose risen; run: ran; say: said; see: saw seen; seek: sought; sell: sold; send:
sent; shake: shook shaken; shine: shone; shoot: shot; show: shown; shrink: shrank shrunk; sing:
sang sung; sink: sank sunk; sit: sat; sleep: slept; speak: spoke spoken; spell: spelt; spend:
spent; spin: spun; stand: stood; steal: stole stolen; stick: stuck; strike: struck stricken;
swear: swore sworn; swim: swam swum; take: took taken; teach: taught; tear: tore torn; tell: told;
think: thought; throw: threw thrown; undergo: underwent undergone; understand: understood; wake:
woke woken; wear: wore worn; weave: wove woven; win: won; withdraw: withdrew withdrawn; write:
wrote written; overthrow: overthrew overthrown; undertake: undertook undertaken; oversee: oversaw
overseen; flood: flooding; man: men; woman: women; child: children; foot: feet; tooth: teeth;
mouse: mice; goose: geese; leaf: leaves; wolf: wolves; wife: wives; knife: knives; half: halves;
datum: data; crisis: crises; phenomenon: phenomena; species: specie; analysis: analyses; basis:
bases; long: length longer longest; high: height higher highest; wide: width; deep: depth; strong:
strength; hot: heat; large: larger largest; big: bigger biggest; small: smaller smallest; fast:
faster fastest; slow: slower slowest; old: older oldest elder; young: younger youngest; early:
earlier earliest; late: later latest; great: greater greatest; good: better best; bad: worse
worst; dead: death deaths; sale: sales; succeed: success successful successfully successor;
choice: choices; grow: growth; born: birth
"""


def _irregular_forms() -> dict[str, str]:
    table: dict[str, str] = {}
    for entry in " ".join(_IRREGULAR.split()).split(";"):
        lemma, _, forms = entry.strip().partition(":")
        table.update(dict.fromkeys(forms.split(), lemma))
    return table


_LEMMA = _irregular_forms()


def expand_contraction(word: str) -> str:
    """`doesn't` → `does not`, `won't` → `will not`; other words unchanged."""
    if word in _CONTRACTIONS:
        return _CONTRACTIONS[word]
    return f"{word[:-3]} not" if word.endswith("n't") else word


@functools.lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Bring a case-folded word to the root that its inflections and spellings share."""
    word = _LEMMA.get(word, word)
    for pattern, replacement in _SPELLINGS:
        word = pattern.sub(replacement, word)
    return stem(word)


_PHRASAL = """
turn down: reject; rule out: exclude; give up: abandon; call off: cancel; do away: abolish; set
up: found; carry out: perform; take over: acquire; pull down: demolish; tear down: demolish; knock
down: demolish; put up: build; shut down: close; close down: close; break out: begin; bring out:
publish; come out: appear; point out: note; find out: discover; take part: participate; go up:
rise; go down: fall; break up: dissolve; look into: investigate; hand over: transfer; put off:
postpone; lay off: dismiss; cut off: close; shut off: close; switch off: stop; turn off: stop;
switch on: start; turn on: start; pull out: withdraw; drop out: withdraw; take on: hire; come
back: return; go back: return; give back: return; go on: continue; carry on: continue; keep on:
continue; take away: remove; step down: resign; stand down: resign; blow up: explode; take place:
happen; cut down: fell; give in: yield; hand in: submit; fill in: complete; grow up: raise; die
out: vanish; phase out: abolish; wipe out: destroy; bring up: raise; pass away: die; put together:
assemble
"""


def _phrasal_verbs() -> dict[tuple[str, str], str]:
    entries = (entry.split(":") for entry in " ".join(_PHRASAL.split()).split(";"))
    pairs = ((phrase.split(), verb.strip()) for phrase, verb in entries)
    return {(root(words[0]), words[1]): root(verb) for words, verb in pairs}


PHRASAL = _phrasal_verbs()
"""(root of the verb, particle) → root of a plain verb that says the same."""
