"""Answers that are on the page word for word but answer another question.

Written before the check that they test.
"""

from __future__ import annotations

IRRELEVANT = (
    (
        "How long is the Tamsel Bridge?",
        "The Tamsel Bridge crosses the Oder. It is not open to cyclists. It was painted in 2003.",
        "It is not open to cyclists.",
    ),
    (
        "Who designed the Brunn windmill?",
        "The Brunn windmill stands on a hill. Its sails turn anticlockwise. It was built in 1844.",
        "It was built in 1844.",
    ),
    (
        "When was the Lower Sorn lock opened?",
        "The Lower Sorn lock is 38 m long. Boats wait there for an hour in summer.",
        "Boats wait there for an hour in summer.",
    ),
    (
        "How many students does Carrick College have?",
        "Carrick College was founded in 1911. Its library holds 82,000 books.",
        "Its library holds 82,000 books.",
    ),
    (
        "Which river flows through Hallin?",
        "Hallin has a weekly market. The river Ems flows through Rheine, its neighbour.",
        "Hallin has a weekly market.",
    ),
    (
        "What does the Type 4 pump cost?",
        "The Type 4 pump lifts 20 litres a minute. It is sold in three colours.",
        "It is sold in three colours.",
    ),
    (
        "Why was the Aspen tunnel closed?",
        "The Aspen tunnel was closed in 1998. It reopened a year later with new lighting.",
        "It reopened a year later with new lighting.",
    ),
    (
        "How deep is Lake Morrow?",
        "Lake Morrow is popular with anglers. It freezes over in most winters.",
        "It freezes over in most winters.",
    ),
    (
        "Who is the mayor of Ostby?",
        "Ostby has 3,100 inhabitants. The town hall of Ostby was built in 1902.",
        "The town hall of Ostby was built in 1902.",
    ),
    (
        "What is the default port of Larkd?",
        "Larkd reads its settings from /etc/larkd.toml. It writes its log to standard error.",
        "It writes its log to standard error.",
    ),
    (
        "How many legs does the Ridge beetle lose when it moults?",
        "The Ridge beetle moults twice a year. It lives under bark.",
        "The Ridge beetle moults twice a year.",
    ),
    (
        "In which year did Ada Stenmark win the Norrby Prize?",
        "Ada Stenmark was born in 1931. Jon Ulv won the Norrby Prize in 1972.",
        "Jon Ulv won the Norrby Prize in 1972.",
    ),
    (
        "How far is Pell Island from the mainland?",
        "Pell Island is 3 kilometres long. A ferry runs daily.",
        "Pell Island is 3 kilometres long.",
    ),
    (
        "Does the Kestrel camera have image stabilisation?",
        "The Kestrel camera weighs 410 grams. It has two card slots.",
        "It has two card slots.",
    ),
    (
        "Who voices the fox in The Amber Wood?",
        "The Amber Wood was drawn by hand. It won an award for its music.",
        "It won an award for its music.",
    ),
    (
        "What language is spoken on Vell?",
        "Vell has 900 inhabitants. Fishing is the main trade on Vell.",
        "Fishing is the main trade on Vell.",
    ),
    (
        "How high is the Corrin tower?",
        "The Corrin tower has 212 steps. Its bell weighs two tonnes.",
        "The Corrin tower has 212 steps.",
    ),
    (
        "When does the Ulmen baths close in winter?",
        "The Ulmen baths open at nine. Dogs are not allowed.",
        "The Ulmen baths open at nine.",
    ),
    (
        "How many people died in the Halden fire?",
        "The Halden fire destroyed 40 houses. Rain put it out on the third day.",
        "The Halden fire destroyed 40 houses.",
    ),
    (
        "Which licence is Plover released under?",
        "Plover is written in Rust. Plover 2.0 was released in 2021.",
        "Plover 2.0 was released in 2021.",
    ),
)
"""Questions, each with a page and a sentence from it that does not answer the question."""
