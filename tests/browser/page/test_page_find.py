"""FIND reports a text as missing only if it is; what could not be searched is noted."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

# A list of 3,000 rows that draws 200 of them, ten screens at once (as Clusterize does).
FAR_AHEAD = """<div id=box style="height:200px;width:300px;overflow:auto"><div id=all style="position:relative;height:24000px"></div></div><script>
let from = -1;
const draw = () => {
  const first = Math.floor(box.scrollTop / 2000) * 100;
  if (first === from) return;
  from = first;
  all.innerHTML = Array.from({ length: 200 }, (_, n) => first + n).filter((n) => n < 1200)
    .map((n) => `<p style="position:absolute;top:${n * 20}px;margin:0;height:20px">Ship ${n} of the fleet</p>`).join('');
};
box.onscroll = draw;
draw();
</script>"""


async def test_find_searches_prerendered_virtual_list_to_the_end(show):
    tab = await show(FAR_AHEAD)
    found = await tab.find("Ship 1141")
    assert found.found
    assert "Ship 1141 of the fleet" in found.text
    assert not (await tab.find("Ship 9999")).found


FEED = """<div id=list></div><div id=end style="height:20px"></div><script>
let n = 0;
const add = () => { for (let i = 0; i < 20 && n < 200; i += 1) list.insertAdjacentHTML('beforeend', `<p style="height:40px">Post ${n++} is here</p>`); };
add();
let asked = false;
onscroll = () => { if (asked || n >= 200 || end.getBoundingClientRect().top > innerHeight) return; asked = true; setTimeout(() => { add(); asked = false; onscroll(); }, 60); };
</script>"""


async def test_find_follows_infinite_feed(show):
    tab = await show(FEED)
    found = await tab.find("Post 157")
    assert found.found
    assert "Post 157 is here" in found.text


async def test_find_reports_that_feed_loads_more(show):
    tab = await show(FEED)
    found = await tab.find("Post 4711")
    assert not found.found
    assert "loads more as it is scrolled" in found.text


LONG = " ".join(f"Sentence {n} tells of matters {n * 3}." for n in range(60))


async def test_find_matches_phrase_across_link(show):
    tab = await show(
        f"<p>{LONG} They moored at <a href=/q>the old quay</a> of Brandaris. {LONG}</p>"
    )
    for phrase in ("moored at the old quay of Brandaris", "at the old"):
        found = await tab.find(phrase)
        assert found.found, phrase
        assert "the old quay" in found.text


async def test_find_matches_phrase_across_link_beyond_walk_limit(show):
    filler = "".join(f"<p>{LONG}</p>" for _ in range(130))
    tab = await show(f"{filler}<p>They moored at <a href=/q>the old quay</a> of Brandaris.</p>")
    found = await tab.find("moored at the old quay of")
    assert found.found
    assert "the old quay" in found.text


TWO_LISTS = """<style>.l { height: 120px; width: 200px; overflow: auto; position: relative }</style>
<div class=l id=long><div style="height:4000000px"></div></div><div class=l id=short><div style="height:8000px"></div></div><script>
for (const [list, word] of [[long, 'Ship'], [short, 'Letter']]) {
  const draw = () => {
    list.querySelectorAll('p').forEach((p) => p.remove());
    const first = Math.floor(list.scrollTop / 20);
    for (let n = first; n < first + 8; n += 1) list.insertAdjacentHTML('beforeend', `<p style="position:absolute;top:${n * 20}px;margin:0">${word} ${n}</p>`);
  };
  list.onscroll = draw;
  draw();
}
</script>"""


async def test_find_searches_short_list_before_long_one(show):
    tab = await show(TWO_LISTS)
    assert "Letter 300" in (await tab.find("Letter 300")).text


async def test_found_text_spanning_nodes_gets_a_ref(show):
    tab = await show("<div id=basket></div><script>basket.append('Basket: ', 'empty')</script>")
    assert "text: Basket: empty]" in (await tab.find("Basket: empty")).text
