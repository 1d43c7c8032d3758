"""The graph of a memory as a picture: one HTML file, no script, nothing that is fetched."""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from agent.memory.labels import placed
from agent.memory.springs import layout
from browser.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agent.memory.control import Graph
    from agent.memory.links import Link
    from agent.memory.springs import Point
    from agent.memory.types import Hit

DRAWN = 120  # memories; more is no picture, and takes longer than a second to lay out
WIDTH, HEIGHT, MARGIN, RADIUS = 1_000, 640, 40, 12
FEW, NARROW = 12, 390  # so few memories fit on a phone's width
LINKS = 2  # of a memory, as long as its other end has no more either
LABEL = 26  # characters beside a point; where there is no room, its number alone
ROW = 280  # characters of a memory in the list
COLOURS = {
    "memory": "#2a6fdb",
    "fact": "#237a49",
    "outcome": "#7d4fb5",
    "source": "#9a6200",
    "playbook": "#0b7577",
    "insight": "#c0392b",
    "page": "#a0527a",
    "turn": "#5b7c2a",
    "summary": "#3d5a80",
}
OTHER = "#6b7280"
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { margin: 2rem auto; max-width: 68rem; padding: 0 1rem }
figure { margin: 0; overflow-x: auto; border: 1px solid #8884; border-radius: 8px }
svg { display: block; margin: auto; width: 100%; height: auto }
svg text { font-size: 12px; fill: currentColor; paint-order: stroke; stroke: Canvas;
  stroke-width: 3px }
svg circle + text { fill: #fff; stroke: none; font-weight: 600; text-anchor: middle }
svg circle + text.long { font-size: 9.5px }
line { stroke: #8889 } line.proven { stroke: currentColor }
ol { list-style: none; padding: 0 }
li { display: flex; gap: .75rem; padding: .5rem 0; border-top: 1px solid #8883 }
li p { margin: 0; overflow-wrap: anywhere } small { opacity: .75 }
b { flex: none; width: 2.2rem; height: 1.5rem; border-radius: .75rem; color: #fff;
  text-align: center; font-size: .8rem; line-height: 1.5rem }
i { display: inline-block; width: .8em; height: .8em; border-radius: 50%; margin: 0 .3em 0 0 }
.legend span { margin-right: 1em; white-space: nowrap }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Memory</title>
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>{style}</style></head><body><main>
<h1>Memory</h1>
{body}
</main></body></html>
"""
_GRAPH = """<p>{told}</p>
<p class="legend">{legend}</p>
<figure tabindex="0" aria-label="Memories and their links">
<svg viewBox="0 0 {width} {height}" style="min-width: {least}px; max-width: {most}px" role="img"
aria-label="{drawn} memories and their links">
{drawing}
</svg></figure>
<h2>What the numbers are</h2>
<ol>
{rows}
</ol>"""
_NONE = (
    "<p>None of {total} memories are linked yet. <code>research memory dream</code> links those "
    "that are alike, and answers that are verified link what served them.</p>"
)


def page(graph: Graph) -> str:
    """Draw the memories that have the most links, and list them below."""
    if not graph.links:
        return _PAGE.format(style=_STYLE, body=_NONE.format(total=f"{graph.total:,}"))
    degrees = Counter(end for link in graph.links for end in (link.one, link.other))
    busiest = sorted(graph.memories, key=lambda hit: (-degrees[hit.id], -hit.id))[:DRAWN]
    ids = {hit.id for hit in busiest}
    links = _strongest([link for link in graph.links if {link.one, link.other} <= ids])
    ends = {end for link in links for end in (link.one, link.other)}
    best = [hit for hit in busiest if hit.id in ends]
    number = {hit.id: n for n, hit in enumerate(best)}
    width = NARROW if len(best) <= FEW else WIDTH
    body = _GRAPH.format(
        told=_told(graph.total, len(best), links),
        legend=_legend(best),
        width=width,
        height=HEIGHT,
        least=int(0.9 * width),
        most=int(1.3 * width),
        drawn=len(best),
        drawing="\n".join(_drawing(best, links, number, width)),
        rows="\n".join(_row(n, hit) for n, hit in enumerate(best, 1)),
    )
    return _PAGE.format(style=_STYLE, body=body)


def _strongest(links: Sequence[Link]) -> list[Link]:
    """Keep the few strongest links of each memory, those that are proven first."""
    shown: Counter[int] = Counter()
    kept = []
    for link in sorted(links, key=lambda k: (not k.proven, -k.strength, k.one, k.other)):
        if min(shown[link.one], shown[link.other]) < LINKS:
            shown.update((link.one, link.other))
            kept.append(link)
    return kept


def _told(all_: int, drawn: int, links: Sequence[Link]) -> str:
    proven = sum(link.proven for link in links)
    return (
        f"{drawn:,} of {all_:,} memories, those with the most links, and the strongest links of "
        f"each. A full line is proven by a verified answer ({proven}), a grey one is likeness."
    )


def _legend(hits: Sequence[Hit]) -> str:
    kinds = sorted({hit.kind for hit in hits}, key=lambda kind: (kind not in COLOURS, kind))
    return " ".join(
        f'<span><i style="background:{_colour(k)}"></i>{_safe(k)}</span>' for k in kinds
    )


def _drawing(
    hits: Sequence[Hit], links: Sequence[Link], number: Mapping[int, int], width: int
) -> Iterator[str]:
    ends = [(number[link.one], number[link.other], link.strength) for link in links]
    places = [
        (MARGIN + x * (width - 2 * MARGIN), MARGIN + y * (HEIGHT - 2 * MARGIN))
        for x, y in layout(len(hits), ends)
    ]
    for link, (one, other, strength) in zip(links, ends, strict=True):
        (x1, y1), (x2, y2) = places[one], places[other]
        shown = ' class="proven"' if link.proven else ""
        ends_at = f'x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"'
        told = f"<title>{link.kind}, {strength:.2f}</title>"
        yield f'<line{shown} {ends_at} stroke-width="{0.5 + 2.5 * strength:.1f}">{told}</line>'
    for n, (hit, (x, y)) in enumerate(zip(hits, places, strict=True)):
        yield _node(n + 1, hit, x, y)
    yield from _labels(hits, places, [(one, other) for one, other, _ in ends], width)


def _labels(
    hits: Sequence[Hit], places: Sequence[Point], lines: Sequence[tuple[int, int]], width: int
) -> Iterator[str]:
    texts = [_cut(clean(hit.text), LABEL) for hit in hits]
    for label in placed(texts, places, lines, RADIUS, (width, HEIGHT)):
        where = f'x="{label.x:.0f}" y="{label.y:.0f}" text-anchor="{label.anchor}"'
        yield f"<text {where}>{escape(texts[label.number])}</text>"


def _node(number: int, hit: Hit, x: float, y: float) -> str:
    title = f"<title>{_safe(f'[{hit.kind}] {hit.text}')}</title>"
    fill = _colour(hit.kind)
    circle = f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS}" fill="{fill}">{title}</circle>'
    long = ' class="long"' if number > 99 else ""
    return f'<g>{circle}<text{long} x="{x:.0f}" y="{y + 4:.0f}">{number}</text></g>'


def _row(number: int, hit: Hit) -> str:
    when = f", {hit.at:%Y-%m-%d}" if hit.at else ""
    text = _cut(f"{hit.key}: {hit.text}" if hit.kind == "memory" else hit.text, ROW)
    told = f"<small>{_safe(hit.kind)}{when}, id {hit.id}</small>"
    badge = f'<b style="background:{_colour(hit.kind)}">{number}</b>'
    return f"<li>{badge}<p>{_safe(text)}<br>{told}</p></li>"


def _colour(kind: str) -> str:
    return COLOURS.get(kind, OTHER)


def _cut(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _safe(text: str) -> str:
    return escape(clean(text))
