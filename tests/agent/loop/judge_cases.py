"""Two pages, sentences about them with planted errors, and correct ones.

Written before the checks that they test, on subjects that no other test uses.
"""

from __future__ import annotations

from typing import NamedTuple

CABLE_CAR = """The Skarvsund Cable Car was opened on 14 June 1962 by the engineer Marit Odden.

It climbs 412 metres to the Rimfjell plateau in six minutes. Each of its two cabins carries 38 \
passengers.

The cable car does not run when the wind exceeds 18 metres per second. It was closed for repairs \
from 1987 to 1989.

In 2004 the upper station burned down; the cause was never established. A new station by the \
architect Jonas Vik was completed two years later."""

GLASSHOUSES = """| House | Built | Length (m) | Plants |
|---|---|---|---|
| Palm House | 1881 | 64 | 420 |
| Fern House | 1907 | 31 | 1150 |
| Orchid House | 1934 | 22 | 780 |

The Fern House may have been designed by Clara Benn, though no drawings survive.

Heating is by wood chips since 2011."""

SNIPPET = "Grown-ups pay 9 euros at the gate of Ellermere Garden."


class Planted(NamedTuple):
    """A wrong sentence, and what a careful judge says about it."""

    fault: str
    sentence: str
    careful: str = "not stated"


FAULTS = (
    Planted(
        "wrong date",
        "The cable car has been running since 14 June 1926. [S1¶1]",
        'contradicted "opened on 14 June 1962"',
    ),
    Planted(
        "swapped rows",
        "The Palm House dates from 1907. [S2¶1] [S2¶2]",
        'contradicted "Palm House | 1881"',
    ),
    Planted(
        "wrong unit",
        "Its line gains 412 kilometres of height. [S1¶2]",
        'contradicted "climbs 412 metres"',
    ),
    Planted("invented number", "Some 250,000 people ride it every year. [S1]"),
    Planted("page not read", "The valley station has a museum of winches. [S9¶2]"),
    Planted(
        "wrong subject",
        "Jonas Vik designed the cabins of the cable car. [S1¶4]",
        'not stated "A new station by the architect Jonas Vik"',
    ),
    Planted(
        "negation",
        "It is known what caused the fire of 2004. [S1¶4]",
        'contradicted "the cause was never established"',
    ),
    Planted(
        "wrong name",
        "Its engineer was Ingrid Odden. [S1¶1]",
        'contradicted "the engineer Marit Odden"',
    ),
    Planted(
        "hedge left out",
        "Clara Benn was the designer of the Fern House. [S2¶4]",
        'in part "may have been designed by Clara Benn" the page is not sure',
    ),
    Planted("from nowhere", "The plateau is home to a herd of musk oxen. [S1¶2]"),
    Planted(
        "wrong direction",
        "It only runs in winds of more than 18 metres per second. [S1¶3]",
        'contradicted "does not run when the wind exceeds 18 metres per second"',
    ),
    Planted(
        "wrong column",
        "The Orchid House grows 22 plants. [S2¶3]",
        'contradicted "Orchid House | 1934 | 22 | 780"',
    ),
    Planted(
        "wrong rank",
        "The Fern House has the fewest plants of the three. [S2]",
        'contradicted "Fern House | 1907 | 31 | 1150"',
    ),
    Planted(
        "wrong sum",
        "The upper station was rebuilt by 2007. [S1¶4]",
        'contradicted "completed two years later"',
    ),
    Planted("beyond the snippet", "Children enter Ellermere Garden free of charge. [S501]"),
    Planted(
        "invented cause",
        "An accident was why it closed in 1987. [S1¶3]",
        'in part "closed for repairs from 1987" no accident is named',
    ),
    Planted(
        "wrong place",
        "Passengers ride up to the Storfjell plateau. [S1¶2]",
        'contradicted "to the Rimfjell plateau"',
    ),
    Planted(
        "wrong period",
        "From 1987 on it stood still for four years. [S1¶3]",
        'contradicted "from 1987 to 1989"',
    ),
    Planted(
        "of one, said of two",
        "Together the two cabins hold 38 passengers. [S1¶2]",
        'contradicted "Each of its two cabins carries 38 passengers"',
    ),
    Planted(
        "wrong year",
        "Wood chips have heated the glasshouses since 2001. [S2¶5]",
        'contradicted "by wood chips since 2011"',
    ),
    Planted(
        "half of it right",
        "It opened in 1962 as the first cable car of its country. [S1¶1]",
        'in part "opened on 14 June 1962" that it was the first is not said',
    ),
)

RIGHT = (
    ("Its service began in 1962. [S1¶1]", '"was opened on 14 June 1962"'),
    (
        "A ride up to the plateau takes six minutes. [S1¶2]",
        '"to the Rimfjell plateau in six minutes"',
    ),
    (
        "In winds above 18 metres per second it stands still. [S1¶3]",
        '"Does not run when the wind  exceeds 18 metres per second"',
    ),
    (
        "The new upper station was finished in 2006. [S1¶4]",
        '"In 2004 the upper station burned down" and "completed two years later"',
    ),
    (
        "The Fern House holds more plants than any other house. [S2¶1] [S2¶2] [S2¶3]",
        '"Palm House | 1881 | 64 | 420", "Fern House | 1907 | 31 | 1150", "| 780 |"',
    ),
    ("Of the three, the Palm House is the oldest. [S2¶1] [S2¶2] [S2¶3]", '"| Palm House | 1881 |"'),
    ("Wood chips have heated the glasshouses since 2011. [S2¶5]", '"wood chips since 2011"'),
    ("The Orchid House is about 72 feet long. [S2¶3]", '"| Orchid House | 1934 | 22 |"'),
    ("Repairs that began in 1987 took two years. [S1¶3]", '"for repairs from 1987 to 1989"'),
    (
        "Nobody found out why the station burned in 2004. [S1¶4]",
        '"the cause was never established"',
    ),
)
"""Correct paraphrases, with the words that a careful judge quotes for them."""
