"""Thirty pages that change in twelve ways and have six kinds of noise; written before the monitor.

`page(n, read, changed)` is page `n` (0 to 29) as fetched in read number `read`. Its noise differs
between reads; with `changed` it also contains its change, for which `told(n)` returns the words
that must be reported to a user, or None if the page has only noise.
"""

from __future__ import annotations

import random

PAGES = 30
_TOWNS = ("Brack", "Alda", "Hesk", "Morwen", "Tarn", "Vell", "Orrin", "Skail", "Dunmar", "Ulsby")
_ADS = [
    f"{verb} {thing} {when}"
    for verb in ("Save on", "Try our", "Discover", "Win a", "Upgrade to", "Rent a")
    for thing in ("garden shed", "broadband plan", "city break", "espresso machine", "van", "loan")
    for when in ("today only", "this spring", "with free delivery", "from our partners")
]
_RELATED = [f"{what} in {town}" for what in ("Walking", "Fishing", "Markets") for town in _TOWNS]
_DOGS = "Dogs travel free on the lower deck. <!--sentence added-->"
CHANGES = (
    ("price", "£48.50", "£39.90"),
    ("sentence added", "", "The pier is closed to vehicles above five tonnes."),
    ("sentence removed", "Dogs travel free on the lower deck.", ""),
    ("figure", "carries 212 passengers", "carries 187 passengers"),
    ("date", "on 14 March 2027", "on 2 April 2027"),
    ("row added", "", "<tr><td>Sunday</td><td>11:15</td><td>16:45</td></tr>"),
    ("cell", "<td>07:40</td>", "<td>08:05</td>"),
    ("item removed", "<li>Bicycles by arrangement</li>", ""),
    ("heading", "Opening hours in winter", "Opening hours in summer"),
    ("stock", "In stock", "Sold out"),
    ("link added", "", '<li><a href="/notice-7.pdf">Notice 7: works at the quay</a></li>'),
    ("reworded", "The crossing takes a little under an hour in calm weather.",
     "Allow an hour and a half, since the channel is dredged until autumn."),
)  # fmt: skip


def told(n: int) -> tuple[str, str] | None:
    """Return the words removed and added by a page's change; None if it has none."""
    if n >= 2 * len(CHANGES):
        return None
    _, old, new = CHANGES[n % len(CHANGES)]
    return _bare(old), _bare(new)


def _bare(html: str) -> str:
    words = html.replace("</td><td>", "|").replace("<", "|<").replace(">", ">|").split("|")
    said = [word for word in words if word and not word.startswith("<")]
    return max(said, key=len, default="")


def page(n: int, read: int, *, changed: bool) -> str:
    """Return a page as a certain read fetches it."""
    chance = random.Random(f"{n} {read}")
    html = _body(n)
    if changed and n < 2 * len(CHANGES):
        _, old, new = CHANGES[n % len(CHANGES)]
        where = f"<!--{CHANGES[n % len(CHANGES)][0]}-->"
        html = html.replace(where, new) if not old else html.replace(old, new)
    town = _TOWNS[n % 10]
    count = 10_000 + read * 37 + chance.randrange(30)
    noise = {
        "clock": f"<span class=now>{chance.randrange(24):02}:{chance.randrange(60):02}</span>",
        "counter": f"<p class=hits>Visitor number {count:,}</p>",
        "ad": f"<div class='slot-{n % 3}'><p>{chance.choice(_ADS)}</p></div>",
        "ago": f"<p class=byline>By the harbour office, {chance.randrange(2, 59)} minutes ago</p>",
        "token": f"<input type=hidden name=csrf value={chance.getrandbits(64):x}>",
        "related": "".join(f"<li>{one}</li>" for one in chance.sample(_RELATED, 5)),
    }
    session = f"{chance.getrandbits(40):x}"
    return f"""<!doctype html><html lang=en><head><title>{town} ferry</title>
<script>window.s="{session}";</script></head><body id="s{session[:4]}">
<header><a href="/?sid={session}">{town} harbour</a> {noise["clock"]}
<nav><ul><li>Home</li><li>Timetable</li><li>Contact</li></ul></nav></header>
<main><h1>The {town} ferry</h1>{noise["ago"]}
{noise["ad"] if n % 2 else ""}{html}{noise["token"]}</main>
<aside>{"" if n % 2 else noise["ad"]}<h3>You may also like</h3>
<ul class=rel>{noise["related"]}</ul></aside>
<footer>{noise["counter"]}<p>© Harbour board of {town}</p></footer></body></html>"""


def _body(n: int) -> str:
    town, layout = _TOWNS[(n + 3) % 10], n % 3
    facts = [
        f"<p>The boat to {town} carries 212 passengers and 14 cars. {_DOGS}</p>",
        "<p>The crossing takes a little under an hour in calm weather.</p>",
        "<p>The next inspection is on 14 March 2027 at the slip.</p>",
    ]
    table = (
        "<table><tr><th>Day</th><th>Out</th><th>Back</th></tr><tr><td>Monday</td><td>07:40</td>"
        "<td>17:10</td></tr><tr><td>Friday</td><td>09:20</td><td>18:30</td></tr>"
        "<!--row added--></table>"
    )
    shop = (
        "<div class=offer><b>Day ticket</b> <span class=price>£48.50</span> <em>In stock</em></div>"
    )
    rules = (
        "<ul><li>Bicycles by arrangement</li><li>No open fires</li>"
        "<li>Tickets at the quay</li><!--link added--></ul>"
    )
    hours = f"<h2>Opening hours in winter</h2><p>The office in {town} opens at nine.</p>"
    parts = {
        0: [*facts, table, shop, rules, hours],
        1: [shop, hours, *facts, rules, table],
        2: [f"<section>{''.join(facts)}</section>", f"<div>{hours}</div>", table, rules, shop],
    }
    return "\n".join(parts[layout])
