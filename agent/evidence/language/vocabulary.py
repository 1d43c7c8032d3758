"""The closed classes of English that decide what a sentence claims.

Words stand as roots (`spelling.root`), so that one entry covers its inflections.
"""

from __future__ import annotations

from agent.evidence.language.spelling import root


def root_set(words: str) -> frozenset[str]:
    """Bring a list of words to the set of their roots."""
    return frozenset(root(word) for word in words.split())


ARTICLES = root_set("a an the der das den dem des ein eine einen einem einer eines")

AUXILIARIES = root_set(
    """be am is are was were been being have has had do does did will would shall should can could
    may might must ist sind wurde wurden wird werden worden haben hatte hatten"""
)

PRONOUNS = root_set(
    """i you he she it we they me him her us them my your his its our their mine yours hers ours
    theirs this that these those who whom whose which what myself himself herself itself
    themselves one er sie es sich sein seine seiner ihr ihre ihrer"""
)

SUBJECT_PRONOUNS = frozenset({"he", "she", "it", "they"})
"""Forms that stand for what was named before, as a clause's subject."""

RELATIVE = frozenset({"who", "which"})
"""Forms with which a relative clause begins, and little else."""

PREPOSITIONS = root_set(
    """of in on at by for with from to into onto upon about over under between among through during
    before after since until till against toward towards across along around near off out up down
    within per via as than im am vom zum zur mit von bei auf aus nach seit durch bis"""
)

PLACING = root_set("above below beneath beside beyond behind inside outside")
"""Prepositions that say something of their own, and so count as content."""

CONJUNCTIONS = root_set(
    """and or but nor so yet if because although though while whereas whether when where that which
    who both either neither then also too only not no there here how why such own same other very
    just even more most less least much very so quite rather still already well too either again
    there another each any some"""
)

FUNCTION = ARTICLES | AUXILIARIES | PRONOUNS | PREPOSITIONS | CONJUNCTIONS
"""Words that name nothing: left out when contents are compared."""

NEGATORS = root_set(
    """not no never none nobody nothing nowhere neither nor without hardly barely scarcely cannot
    non nicht kein keine keinen keinem keiner nie niemals niemand nichts ohne weder kaum"""
)

NOBODY = root_set("nobody nothing nowhere none niemand nichts")
"""Negators that deny their whole clause, wherever they stand: `it is sent to nobody`."""

PERSONS = root_set("nobody niemand")
"""Negators that stand for whoever a claim says it of."""

VERBAL = root_set("not non never cannot hardly barely scarcely nicht nie niemals kaum")
"""Negators that deny the verb after them; the others deny a noun."""

DENIALS = root_set(
    """reject deny lack absent cancel abolish forbid prohibit ban exclude prevent unable impossible
    miss exempt dismiss discontinue disprove refute oppose exclusion absence refusal rejection
    refuse verboten untersagt abgelehnt"""
)
"""Words that deny what they govern, as `not` does: `lacked a roof`, `was banned`."""

CEASING = root_set(
    """remove drop stop end abolish cease suspend discontinue withdraw scrap retire expire abandon
    free empty vacant gone zero abgeschafft eingestellt beendet"""
)
"""Words by which something is no longer so or not there, as a denial may say in turn."""

DENYING_NOUNS = root_set("lack absence unable impossible")
"""Of these, those that deny only what follows: `a lack of morality`."""

SHORT_REACH = DENYING_NOUNS | root_set("without nor non")
"""Words of denial that reach only the next noun phrase."""

DENIALS_BEFORE_TO = root_set("fail decline neglect forget cease omit refuse")
"""Verbs that deny the infinitive after them, and something else without one: `failed to come`."""

DENIALS_BEFORE_ING = root_set("stop cease avoid quit abandon")
"""Verbs that deny the gerund after them: `stopped using`."""

DENIALS_BEFORE_FROM = root_set("save spare rescue protect keep stop prevent")
"""Verbs that deny what comes after `from`: `saved it from demolition`."""

DENIALS_BEFORE_SUPPORT = root_set("drop remove end withdraw discontinue cease")
"""Verbs that deny the support which they govern: `dropped support for`."""

EXCEPTIONS = frozenset({"except", "excepting", "excepted", "excluding", "excluded", "ausser"})
"""Words after which the contrary is true of what is named."""

HEDGES = root_set(
    """may might could can would perhaps possibly possible probably probable likely seem appear
    suggest presumably apparently allegedly alleged reportedly reported supposedly suppose
    believe think estimate propose proposal plan expect hope claim argue potentially tentative
    unclear uncertain disputed assume speculate intend consider rumour planned proposed should
    hypothesis hypothesize theorize theory suspect doubt fear hope guess wonder imagine
    vermutlich wahrscheinlich vielleicht moglicherweise vermuten angeblich erwogen geplant
    voraussichtlich"""
)

QUANTIFIERS = root_set(
    """all every each always any entire whole everyone everything both most majority many several
    some few often usually generally sometimes rarely seldom mainly mostly largely partly typically
    frequently occasionally never only solely exclusively always almost nearly half third quarter
    minority universally completely entirely"""
)

CONDITIONS = root_set("if unless whether provided except when until apart")

EMBEDDING = CONDITIONS | root_set("that")
"""Words after which a clause is thought, doubted or supposed, not stated."""

ORDERINGS = root_set(
    """before after earlier later since until because due thanks despite although more less than
    fewer higher lower over under above below least most first last previous next former latter
    up down against from to by instead rather except"""
)
"""Words that turn a relation round; their loss or gain is never a mere change of style."""

OPERATORS = NEGATORS | DENIALS | HEDGES | QUANTIFIERS | CONDITIONS | ORDERINGS

UNIVERSAL = root_set("all every each always everyone everything entire whole only solely never any")

PARTIAL = root_set(
    """some several many few most usually often generally sometimes partly mainly mostly largely
    half third quarter majority typically except rarely apart chiefly"""
)

SAYING = root_set(
    """say state tell argue expect believe think predict warn add note claim declare suggest
    forecast insist complain promise admit explain stress"""
)
"""Verbs that ascribe words to somebody: one of them may stand for another."""

LIGHT = root_set(
    """people person somebody someone anybody anyone everybody those thing stay remain become get
    turn keep seem way kind sort part several everywhere anywhere all every always later still
    again ever eventually today now currently officially actually simply announce say state report
    take make happen go come need fur noch schon immer"""
)
"""Words that name no more than a subject or a state; what is said of it stands beside them."""

CONTRASTS = root_set("unlike contrary instead rather")
"""Words after which a statement speaks of the contrary of what it is about."""

TURNS = root_set(
    """but whereas although though however despite yet eventually initially originally
    formerly"""
)
"""Words of a claim that sets two things or two times against each other, each of which may have
the contrary on the page."""

LIMITS = root_set(
    """only just merely solely exclusively except until before than instead rather if unless
    whether longer yet otherwise hardly barely apart non"""
)
"""Words by which a claim, or what the page denies, is no plain statement."""

ENDING = CEASING - root_set("gone")
"""Words by which something is there no more; `go` itself says little."""

ORDERS = root_set("before until than longer")
"""Of these, words that limit a denial only."""
