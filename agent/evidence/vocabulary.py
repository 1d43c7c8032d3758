"""The closed classes of English that decide what a sentence claims.

Words stand as roots (`agent.evidence.spelling.root`), so that one entry covers its inflections.
"""

from __future__ import annotations

from agent.evidence.spelling import root


def _roots(words: str) -> frozenset[str]:
    return frozenset(root(word) for word in words.split())


ARTICLES = _roots("a an the")

AUXILIARIES = _roots(
    """be am is are was were been being have has had do does did will would shall should can could
    may might must"""
)

PRONOUNS = _roots(
    """i you he she it we they me him her us them my your his its our their mine yours hers ours
    theirs this that these those who whom whose which what myself himself herself itself
    themselves one"""
)

PREPOSITIONS = _roots(
    """of in on at by for with from to into onto upon about over under between among through during
    before after since until till against toward towards across along around near off out up down
    within per via as than"""
)

CONJUNCTIONS = _roots(
    """and or but nor so yet if because although though while whereas whether when where that which
    who both either neither then also too only not no there here how why such own same other very
    just even more most less least"""
)

FUNCTION = ARTICLES | AUXILIARIES | PRONOUNS | PREPOSITIONS | CONJUNCTIONS
"""Words that name nothing: left out when contents are compared."""

NEGATORS = _roots(
    """not no never none nobody nothing nowhere neither nor without hardly barely scarcely cannot"""
)

# Verbs and adjectives that deny what they govern: `failed to arrive`, `stopped using`.
DENIALS = _roots(
    """fail refuse reject deny decline lack absent stop cease halt abandon cancel abolish forbid
    prohibit ban exclude prevent avoid unable impossible exempt omit miss dismiss discontinue
    disprove refute withhold oppose exclusion absence refusal rejection failure"""
)

HEDGES = _roots(
    """may might could can would perhaps possibly possible probably probable likely seem appear
    suggest presumably apparently allegedly alleged reportedly reported supposedly suppose believe
    think estimate propose proposal plan expect hope claim argue potentially tentative unclear
    uncertain disputed assume speculate intend consider rumour planned proposed should hypothesis
    hypothesize theorize theory"""
)

QUANTIFIERS = _roots(
    """all every each always any entire whole everyone everything both most majority many several
    some few often usually generally sometimes rarely seldom mainly mostly largely partly typically
    frequently occasionally never only solely exclusively always almost nearly half third quarter
    minority universally completely entirely"""
)

CONDITIONS = _roots("if unless whether provided except when until apart")

EMBEDDING = CONDITIONS | _roots("that")
"""Words after which a clause is thought, doubted or supposed, not stated."""

ORDERINGS = _roots(
    """before after earlier later since until because due thanks despite although more less than
    fewer higher lower over under above below least most first last previous next former latter
    up down against from to by instead rather except"""
)
"""Words that turn a relation round; their loss or gain is never a mere change of style."""

OPERATORS = NEGATORS | DENIALS | HEDGES | QUANTIFIERS | CONDITIONS | ORDERINGS

COMPARATIVES = _roots("more less fewer better worse than before other else")

UNIVERSAL = _roots("all every each always everyone everything entire whole only solely never any")

PARTIAL = _roots(
    """some several many few most usually often generally sometimes partly mainly mostly largely
    half third quarter majority typically except rarely apart chiefly"""
)
