"""BM25 ranks rare words above common ones, and returns nothing for an empty query."""

from browser.text.words import BM25

DOCUMENTS = [["light", "keeper"], ["light", "harbour"], ["light", "light", "storm", "harbour"], []]


def test_rare_word_outweighs_common_one() -> None:
    index = BM25(DOCUMENTS)
    assert index.idf("storm") > index.idf("light") >= 0
    assert index.best(["light", "keeper"], 1)[0][0] == 0


def test_ties_keep_document_order() -> None:
    index = BM25([["a", "b"], ["a", "b"]])
    assert [number for number, _ in index.best(["a"], 5)] == [0, 1]


def test_unmatched_query_returns_nothing() -> None:
    index = BM25(DOCUMENTS)
    assert index.best(["whale"], 5) == []
    assert index.scores(["whale"]) == [0.0] * 4


def test_empty_index_returns_nothing() -> None:
    assert BM25([]).best(["light"], 3) == []
    assert len(BM25([])) == 0
