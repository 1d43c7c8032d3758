"""How well a sentence, and a few sentences together, bear on a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.models.extractive.candidates import has_candidate, new_names
from agent.models.extractive.names import name_stems, names
from agent.models.extractive.question import GENERIC
from agent.models.extractive.relations import alike, related

if TYPE_CHECKING:
    from agent.models.extractive.evidence import Evidence, Sentence
    from agent.models.extractive.question import Question

LONG = 60
TOTAL = 90


@dataclass(frozen=True, slots=True)
class Weights:
    name: float = 1.5
    generic: float = 0.4
    partial: float = 0.6
    context: float = 0.5
    related: float = 0.5
    type: float = 0.15
    bigram: float = 0.15
    link: float = 0.15
    pool: int = 60
    beam: int = 20
    mean: float = 1.0
    hop: float = 0.1
    same: bool = True
    fill: str = "chain"
    rarity: float = 3.0
    unlinked: float = 0.0


class Scored:
    __slots__ = ("bigram", "kind", "match", "names", "score", "sentence")

    def __init__(self, sentence, match, kind, bigram, score):
        self.sentence, self.match, self.kind, self.bigram, self.score = (
            sentence,
            match,
            kind,
            bigram,
            score,
        )
        self.names = None


class Ranker:
    def __init__(self, question: Question, evidence: Evidence, w: Weights = Weights()) -> None:
        self.q, self.e, self.w = question, evidence, w
        self._rare = {}
        self.terms = list(dict.fromkeys(question.terms))
        vocabulary = (
            set().union(*(s.around | s.stems for s in evidence.sentences))
            if evidence.sentences
            else set()
        )
        self.forms = {
            t: frozenset({*related(t), *(v for v in vocabulary if v != t and alike(v, t))})
            for t in self.terms
        }
        self.weight = [
            evidence.idf(t)
            * (w.name if t in question.name_terms else w.generic if t in GENERIC else 1.0)
            for t in self.terms
        ]
        self.name_sets = [n for n in map(name_stems, question.names) if len(n) > 1]
        self.total = sum(self.weight) or 1.0
        self.by = dict(zip(self.terms, self.weight))
        self.bg_total = sum(self.by[a] + self.by[b] for a, b in question.bigrams) or 1.0
        self.scored = sorted(
            (self.score(s) for s in evidence.sentences if s.length <= LONG), key=lambda x: -x.score
        )

    def match(self, s: Sentence) -> list[float]:
        out = []
        for t in self.terms:
            if t in s.stems:
                out.append(1.0)
            elif t in self.q.name_terms:
                out.append(self.w.context if t in s.around else 0.0)
            elif self.forms[t] & s.stems:
                out.append(max(self.w.related, self.w.context if t in s.around else 0))
            elif t in s.around:
                out.append(self.w.context)
            else:
                out.append(0.0)
        seen = s.stems | s.around
        for n in self.name_sets:
            if not n <= seen:
                for k, t in enumerate(self.terms):
                    if t in n and not any(t in o and o <= seen for o in self.name_sets):
                        out[k] *= self.w.partial
        return out

    def score(self, s: Sentence) -> Scored:
        m = self.match(s)
        cov = sum(a * b for a, b in zip(m, self.weight)) / self.total
        own = set(zip(s.order, s.order[1:], strict=False))
        bigram = (
            sum(self.by[a] + self.by[b] for a, b in self.q.bigrams if (a, b) in own) / self.bg_total
        )
        kind = has_candidate(s.text, self.q)
        return Scored(s, m, kind, bigram, cov + self.w.bigram * bigram + self.w.type * kind)

    def union(self, group) -> float:
        return (
            sum(w * max(x.match[k] for x in group) for k, w in enumerate(self.weight)) / self.total
        )

    def new_names(self, x: Scored):
        if x.names is None:
            x.names = [name_stems(n) for n in new_names(x.sentence.text, self.q)]
        return x.names

    def linked(self, a: Scored, b: Scored) -> float:
        """a mentions something (not in the question) that b is about or mentions"""
        if a.sentence.source == b.sentence.source:
            return 0.0
        known = frozenset(self.q.terms)
        best = 0.0
        for n in self.new_names(a):
            if n <= b.sentence.title_stems:
                best = max(best, self.rare(n))
            elif n <= b.sentence.stems:
                best = max(best, 0.7 * self.rare(n))
        t = b.sentence.title_stems
        if t and not t <= known and t <= a.sentence.stems:
            best = max(best, self.rare(t))
        return best

    def rare(self, stems) -> float:
        if stems not in self._rare:
            n = len({s.source for s in self.e.sentences if stems <= s.stems | s.title_stems})
            self._rare[stems] = 1 / (1 + max(0, n - 2) / self.w.rarity)
        return self._rare[stems]

    def chain_score(self, group, link) -> float:
        u = self.union(group)
        kind = max(x.kind for x in group)
        bg = max(x.bigram for x in group)
        mean = sum(x.score for x in group) / len(group)
        return (
            u
            + self.w.bigram * bg
            + self.w.type * kind
            + self.w.link * link
            + self.w.mean * mean
            - self.w.hop * (len(group) - 1)
        )

    def brings_name(self, x, g) -> bool:
        return any(
            t in self.q.name_terms and x.match[k] == 1.0 and all(y.match[k] < 1.0 for y in g)
            for k, t in enumerate(self.terms)
        )

    def chains(self):
        pool = self.scored[: self.w.pool]
        beam = [((x,), 0.0) for x in pool[: self.w.beam]]
        best = [(self.chain_score(g, l), g) for g, l in beam]
        for _ in range(2):
            nxt = []
            for g, link in beam:
                words = sum(x.sentence.length for x in g)
                for x in pool:
                    if x in g or words + x.sentence.length > TOTAL:
                        continue
                    l = max(max(self.linked(y, x), self.linked(x, y)) for y in g)
                    same = self.w.same and any(x.sentence.source == y.sentence.source for y in g)
                    if l == 0 and not same:
                        if not self.brings_name(x, g):
                            continue
                        l = self.w.unlinked
                    ng = (*g, x)
                    nxt.append((self.chain_score(ng, link + l), ng, link + l))
            nxt.sort(key=lambda z: -z[0])
            seen = set()
            beam = []
            for s, g, l in nxt:
                k = frozenset(id(x) for x in g)
                if k in seen:
                    continue
                seen.add(k)
                beam.append((g, l))
                best.append((s, g))
                if len(beam) >= self.w.beam:
                    break
        best.sort(key=lambda z: -z[0])
        return best

    def pick(self):
        chains = self.chains()
        if not chains:
            return 0.0, []
        score, g = chains[0]
        out = list(g)
        rest = (
            self.scored
            if self.w.fill == "single"
            else [x for _, c in chains[1:] for x in c] + self.scored
        )
        for x in rest:
            if len(out) == 3:
                break
            if x not in out and sum(y.sentence.length for y in out) + x.sentence.length <= TOTAL:
                out.append(x)
        return score, out
