"""Nothing that we inject outlives a call, in our own and in an attached browser."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from browser.errors import ActionError
from browser.page import devtools
from browser.session.session import Browser
from tests.browser.page.pages import Pages, serve_pages
from tests.users_chrome import driven_chrome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from playwright.async_api import Page

    from browser.page.tab import Tab

pytestmark = pytest.mark.row(n=29)

ROWS = "".join(f"<li style='height:30px'>Row {n}</li>" for n in range(60))
PAGES = {
    "words": "<h1>Hesk Light</h1><p>First lit in <b>1829</b>.</p>",
    "form": "<form><label>Name <input name=n value=Ann></label><select><option>a<option>b</select><button type=button>Go</button></form>",
    "focus": "<input id=f aria-label=Field value=kept><script>f.focus(); f.setSelectionRange(1, 3)</script>",
    "selection": "<p id=p>Some chosen words</p><script>getSelection().selectAllChildren(p)</script>",
    "table": "<table><tr><th>Boat<th>Time<tr><td>Brack<td>9:15</table>",
    "adopted sheets": "<p>Styled</p><script>const s = new CSSStyleSheet(); s.replaceSync('p { color: red }'); document.adoptedStyleSheets = [s]</script>",
    "frozen sheets": "<p>Styled</p><script>document.adoptedStyleSheets.push(new CSSStyleSheet())</script><style>p { transition: color 1s }</style>",
    "a layer without pointer": "<p>Under</p><div style='position:fixed;inset:0;background:white;pointer-events:none'>Over</div>",
    "a layer": "<p>Under</p><div style='position:fixed;inset:0;background:white'>Over <button>Close</button></div>",
    "a dialog": "<p>Under</p><dialog id=d><button>OK</button></dialog><script>d.showModal()</script>",
    "open root": "<div id=h></div><script>h.attachShadow({ mode: 'open' }).innerHTML = '<button>In</button>'</script>",
    "closed root": "<div id=h></div><script>h.attachShadow({ mode: 'closed' }).innerHTML = '<button>In</button>'</script>",
    "declared root": "<div><template shadowrootmode=closed><p>Declared words</p></template></div>",
    "frames": "<iframe srcdoc='<button>Inner</button>'></iframe><iframe src='OTHER'></iframe>",
    "long list": f"<ul style='height:200px;overflow:auto'>{ROWS}</ul>",
    "long page": f"<ul>{ROWS}</ul><script>scrollTo(0, 500)</script>",
    "drawing": "<svg width=200 height=100><rect width=40 height=40 fill=red /><circle cx=90 cy=40 r=20 /></svg><canvas width=80 height=80></canvas>",
    "rich text": "<div contenteditable>Write <b>here</b></div>",
    "fold": "<details><summary>More</summary><p>Folded words</p></details>",
    "listeners": "<div id=a>Press</div><script>a.addEventListener('click', () => {}); document.addEventListener('mouseover', () => {}); a.onpointerdown = () => {}</script>",
    "storage": "<p>Stored</p><script>localStorage.a = '1'; sessionStorage.b = '2'; document.cookie = 'c=3'; history.pushState({ d: 4 }, '', '#e')</script>",
    "old library": "<p>Prototype</p><script>Object.defineProperty(Array.prototype, 'toJSON', { value: () => 'x', configurable: true }); String.prototype.toJSON = () => 'y'</script>",
    "captcha": "<div class=g-recaptcha data-sitekey=k></div><p>Are you human?</p>",
    "consent": "<p>Text</p><div style='position:fixed;inset:0'><a class=cky-btn-reject href=/delete>Reject</a></div>",
    "moving": "<style>@keyframes m { to { left: 50px } } p { position: relative; animation: m 2s infinite }</style><p>Moving</p>",
}  # fmt: skip

# Parts that do not affect each other share a page. A failure names the elements that changed.
SHOWN = {
    "text": ("words", "table", "drawing", "rich text", "fold", "captcha", "moving", "long list"),
    "parts": ("form", "open root", "closed root", "declared root", "frames", "listeners"),
    "own sheets": ("adopted sheets", "frozen sheets", "old library", "storage"),
    **{name: (name,) for name in ("focus", "a layer without pointer", "a layer", "a dialog", "consent")},
    "scrolled": ("selection", "long page"),
}  # fmt: skip

NAMES = """() => [window, document, document.documentElement, ...[Node, Element, HTMLElement, Document, EventTarget, Function, Array, Object,
  String, Symbol, History, Storage].flatMap((made) => [made, made.prototype])].map((owner) => Reflect.ownKeys(owner).map(String).filter((name) => !/^\\d+$/.test(name)).sort().join())"""
STATE = """() => {
  const roots = [document], every = [];
  while (roots.length) for (const element of roots.pop().querySelectorAll('*')) {
    every.push(element);
    if (element.shadowRoot) roots.push(element.shadowRoot);
  }
  const rules = (sheets) => [...sheets].map((sheet) => [...sheet.cssRules].map((rule) => rule.cssText).join());
  const focused = document.activeElement;
  return {
    attributes: every.map((element) => element.localName + [...element.attributes].map((one) => one.name + one.value)),
    own: every.map((element) => Reflect.ownKeys(element).map(String).join()),
    scrolled: every.map((element) => [element.scrollLeft, element.scrollTop]).concat([[scrollX, scrollY]]),
    values: every.map((element) => [element.value, element.checked, element.open]),
    focus: [focused?.localName, focused?.selectionStart, focused?.selectionEnd, String(getSelection())],
    pointer: every.map((element) => getComputedStyle(element).pointerEvents),
    sheets: [rules(document.styleSheets), rules(document.adoptedStyleSheets)],
    json: ['toJSON' in Array.prototype, 'toJSON' in String.prototype, Object.keys(Array.prototype)],
    history: [history.length, [history.state?.d], location.href, document.title],
    stored: [Object.entries(localStorage).join(), Object.entries(sessionStorage).join(), document.cookie],
  };
}"""
LISTENED = ("window", "document")


async def listeners(page: Page) -> list[Any]:
    """Return the listeners on the window, and on the document and everything in it."""
    session = await page.context.new_cdp_session(page)
    found = []
    for owner in LISTENED:
        result = (await session.send("Runtime.evaluate", {"expression": owner}))["result"]
        asked = {"objectId": result["objectId"], "depth": -1, "pierce": True}
        rows = (await session.send("DOMDebugger.getEventListeners", asked))["listeners"]
        found += sorted((owner, row["type"], row["useCapture"], row["passive"]) for row in rows)
    await session.detach()
    return found


async def state_of(page: Page) -> dict[str, Any]:
    names = [await frame.evaluate(NAMES) for frame in page.frames]
    state: dict[str, Any] = await page.evaluate(STATE)
    return {**state, "names": names, "listeners": await listeners(page)}


def readers(browser: Browser, tab: Tab) -> dict[str, Callable[[], Awaitable[object]]]:
    async def on_first_ref(act: Callable[[str], Awaitable[object]]) -> None:
        for shown in list((await tab.snapshot()).refs)[:1]:
            await act(shown)

    async def element_again() -> None:
        await on_first_ref(tab.expand)
        (known,) = [await tab.identify(await tab.ref_of("body"))]
        await tab.html_of(known)

    async def pictures() -> None:
        await tab.marked_pictures()
        await tab.screenshot(whole=True)

    async def effects() -> None:
        await on_first_ref(tab.submitted_form)
        await tab.submitted_form(None, "Enter")

    async def developer_tools() -> None:
        await devtools.console(tab)
        await devtools.requests(tab)

    return {
        "SNAPSHOT": tab.snapshot,
        "SNAPSHOT of all": lambda: tab.snapshot(None, "words"),
        "READ": tab.rendered_html,
        "READ of data": tab.html,
        "PAGE_CONTEXT": tab.context,
        "FIND": lambda: tab.find("e"),
        "FIND of what is not there": lambda: tab.find("quagga"),
        "WAIT": lambda: tab.wait_for("/./"),
        "SCREENSHOT": pictures,
        "an element again": element_again,
        "effect": effects,
        "captcha": tab.challenge,
        "storage": tab.storage,
        "TABS": browser.tabs,
        "developer tools": developer_tools,
    }


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    with serve_pages() as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def own() -> AsyncIterator[Browser]:
    async with Browser.launch() as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def attached(chrome_in_use) -> AsyncIterator[Browser]:
    async with Browser.attach(chrome_in_use.cdp_url) as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def users(chrome_in_use, playwright) -> AsyncIterator[Page]:
    """The user's own tab, as driven by another program."""
    async with driven_chrome(playwright, chrome_in_use.cdp_url) as context:
        yield context.pages[0]


@asynccontextmanager
async def shown(browser: Browser, pages: Pages, body: str) -> AsyncIterator[Tab]:
    inner = pages.put("<button>Foreign</button>")
    text = f"<!doctype html><title>Test</title>{body.replace('OTHER', pages.other + inner)}"
    tab = await browser.open(pages.base + pages.put(text))
    for frame in tab.page.frames:
        # Playwright adds listeners of its own to a document when it first looks for an element.
        # They stay until the document goes, do nothing, and no page can see them.
        await frame.query_selector("body")
    try:
        yield tab
    finally:
        await browser.close(tab)


# A tab of ours in an attached browser differs in its context, not in what is run in its pages.
ATTACHED = ("a layer without pointer", "parts", "own sheets", "consent")


@pytest.mark.parametrize(
    ("where", "page"),
    [*(("own", page) for page in SHOWN), *(("attached", page) for page in ATTACHED)],
)
@pytest.mark.sample(6)
async def test_reading_leaves_page_unchanged(own, attached, pages, page, where):
    browser = own if where == "own" else attached
    async with shown(browser, pages, "".join(PAGES[name] for name in SHOWN[page])) as tab:
        before = await state_of(tab.page)
        for read in readers(browser, tab).values():
            await read()
        after = await state_of(tab.page)
        assert not {key: (before[key], after[key]) for key in before if before[key] != after[key]}


@pytest.mark.parametrize("where", ["own", "attached"])
async def test_actions_change_only_their_target(own, attached, pages, tmp_path, where):
    (file := tmp_path / "chart.txt").write_text("depths")
    body = (
        "<button>Press</button><input aria-label=Field><a href='#x'>Link</a><select aria-label=List><option>a<option>b</select>"
        "<input type=file aria-label=Chart><a href='data:text/plain,depths' download=depths.txt>Save</a>"
        "<p style='height:1500px'>Some words</p>"
    )
    async with shown(own if where == "own" else attached, pages, body) as tab:
        snapshot, before = await tab.snapshot(), await state_of(tab.page)

        async def drop_in_vain(shown: str) -> None:
            with pytest.raises(ActionError, match="nothing can be dropped"):
                await tab.drop(shown, [file])

        acts = (
            ("Press", tab.click, {"focus"}),
            ("Press", tab.hover, set()),
            ("Press", lambda shown: tab.drag(shown, by=(5, 0)), {"focus"}),
            ("Press", drop_in_vain, set()),
            ("List", lambda shown: tab.select(shown, "b"), {"values"}),
            ("Field", lambda shown: tab.type(shown, "kelp"), {"values", "focus"}),
            ("Field", lambda shown: tab.press("End", shown), {"focus"}),
            ("Chart", lambda shown: tab.upload(shown, [file]), {"values", "focus"}),
            ("Link", lambda _: tab.highlight("Some words"), {"focus"}),
            ("Link", lambda _: tab.scroll(1), {"scrolled"}),
            ("Link", lambda _: tab.evaluate("() => 1"), set()),
            ("Link", tab.click, {"focus", "history", "scrolled"}),
            ("Link", lambda _: tab.back(), {"focus", "history", "scrolled"}),
            *((("Save", tab.download, {"focus"}),) if where == "own" else ()),
        )
        for name, act, own_changes in acts:
            await act(next(shown for shown, text in snapshot.refs.items() if name in text))
            after = await state_of(tab.page)
            changed = {key for key in before if before[key] != after[key]}
            assert changed <= own_changes, name
            before = after


async def test_page_sees_no_extra_global_names(users, attached, pages):
    """A page in our tab has the same global names as in the user's tab."""
    async with shown(attached, pages, "<p>Words</p>") as tab:
        await users.goto(tab.url)
        untouched = await users.evaluate(NAMES)
        await tab.snapshot()
        assert await tab.page.evaluate(NAMES) == untouched


@pytest.mark.parametrize("page", ["text", "parts", "own sheets", "a layer without pointer"])
async def test_users_own_tab_is_left_unchanged(users, attached, pages, page):
    body = "".join(PAGES[name] for name in SHOWN[page])
    await users.goto(pages.base + pages.put(f"<!doctype html><title>Mine</title>{body}"))
    await users.bring_to_front()
    before = await state_of(users)
    context, _ = await attached.visible_page()
    assert context.title == "Mine"
    assert await state_of(users) == before


OFF = {
    "pointer-events": "<a href='#gone' style='pointer-events:none' onclick='fired()'>Delete account</a>",
    "pointer-events of a class": "<style>.off { pointer-events: none }</style><p class=off><button onclick='fired()'>Delete account</button></p>",
    "pointer-events under a layer": "<button style='pointer-events:none' onclick='fired()'>Delete account</button><div style='position:absolute;inset:0;background:white;pointer-events:none'></div>",
    "disabled": "<fieldset disabled><button onclick='fired()'>Delete account</button></fieldset>",
    "aria-disabled": "<div role=toolbar aria-disabled=true><div role=button tabindex=0 onclick='fired()'>Delete account</div></div>",
    "inert": "<div inert><button onclick='fired()'>Delete account</button></div>",
    "area": "<img usemap='#m' width=80 height=80><map name=m><area shape=rect coords='0,0,80,80' href='#x' alt='Delete account' style='pointer-events:none' onclick='fired()'></map>",
}  # fmt: skip


async def test_disabled_controls_are_not_pressed(own, pages, monkeypatch):
    """Neither after the page was read nor by a key press."""
    monkeypatch.setattr("browser.page.user_input.POINTER_MS", 200)
    off = "".join(f"<section style='position:relative'>{one}</section>" for one in OFF.values())
    body = f"<script>let times = 0; const fired = () => {{ times += 1 }}</script>{off}"
    async with shown(own, pages, body) as tab:
        await tab.rendered_html()
        for number in range(len(OFF)):
            target = await tab.ref_of(f"section:nth-of-type({number + 1}) [onclick]")
            for act in (lambda: tab.click(target), lambda: tab.press("Enter", target)):  # noqa: B023 - called at once
                with pytest.raises(ActionError, match=r"disabled|inert"):
                    await act()
        assert await tab.page.evaluate("times") == 0


async def test_snapshot_marks_disabled_links(own, pages):
    async with shown(own, pages, OFF["pointer-events"]) as tab:
        assert "[e1: Delete account, disabled]" in (await tab.snapshot()).text


@pytest.mark.parametrize("body", [
    "<label><input type=checkbox style='pointer-events:none' aria-label=Tick>Tick</label>",
    "<button style='pointer-events:none'><span style='pointer-events:auto' >Tick</span></button>",
])  # fmt: skip
async def test_enabled_controls_are_pressed(own, pages, body):
    """By their labels, or by their own clickable content."""
    async with shown(
        own, pages, f"{body}<script>onclick = () => document.title = 'pressed'</script>"
    ) as tab:
        await tab.click(next(iter((await tab.snapshot()).refs)))
        assert await tab.page.title() == "pressed"
