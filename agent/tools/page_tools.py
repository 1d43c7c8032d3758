"""Tools for viewing live pages (OPEN, SNAPSHOT, FIND, TABS, …) and getting past block pages."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agent.errors import ToolError
from agent.guard.provenance import site_of
from agent.tools.context import SOLVABLE, require_web
from agent.tools.registry import (
    LOOKS,
    SHOWS_PAGE,
    Group,
    NonEmpty,
    ToolResult,
    reading_tool,
    sends_address,
    sends_nothing,
    tool,
)
from agent.tools.sources import register_source
from browser.errors import BrowserError
from browser.net.url import host, origin, registrable_domain
from browser.solvers import SolverFailed
from browser.types import HttpLogin, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent.evidence.store import Source
    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish
    from browser.page.tab import Tab
    from browser.session.session import Browser
    from browser.types import Challenge, Page, Snapshot

SOLVER_SECONDS = 120.0  # maximum time for the solving service
NOTHING_SHOWN = "(the page shows nothing yet: WAIT, then SNAPSHOT)"
PICTURE_NOTE = "attached: a screenshot of the visible page with refs"
SECOND_PICTURE_NOTE = ", then without them, as they hide something"

page_tool = partial(reading_tool, on_page=True, sends=sends_nothing, group=Group.BROWSER)


def require_tab(context: ToolContext) -> Tab:
    """Return the open tab; raises `ToolError` if there is none."""
    web = require_web(context)
    if web.tab is None and web.page is not None:
        why = f"the user's own tab, {web.page.url}, is read-only here"
        hint = "READ without url shows its text. To act on the page, OPEN its address."
        raise ToolError(why, hint=hint)
    if web.tab is None:
        raise web.no_page()
    return web.tab


@reading_tool(
    "OPEN",
    "opens a page in the browser.",
    capped=False,
    sends=sends_address,
    opens_page=True,
    group=Group.BROWSER,
    activity="opening",
    verifies=True,
    traits=SHOWS_PAGE,
    playbook="url",
)
async def open_page(context: ToolContext, *, url: NonEmpty) -> Finish:
    """Open a page in the open tab, or in a new one if that tab has crashed, and show it."""
    web = require_web(context)
    # The run's proxy also checks addresses, but an attached Chrome does not use it.
    web.egress.guard.check_url(url)
    usual = web.reader.deadline_of(url, context.limits.read_seconds)
    seconds = context.seconds_left(usual)
    browser = await web.browser_for(url, seconds)
    async with web.lock:
        tab = web.tab
        if tab is not None and await browser.responds(tab):
            await tab.goto(url, deadline=seconds)
        else:
            # Reset first: if opening fails, `web.tab` must not refer to the crashed tab.
            dead, web.tab = tab, None
            tab = web.tab = await browser.open(url, deadline=seconds)
            if dead is not None:
                await browser.close(dead)
        if tab.driver.login_realm is not None:
            await _log_in_by_http(context, tab, seconds)
        if web.crawl_policy is not None and (remark := web.crawl_policy.remark(url)):
            tab.events.add(remark)
        view = await take_snapshot(context, tab)
        if await clear_block_page(context, tab):
            view = await take_snapshot(context, tab)
        state, pictures = await read_state(context), await take_pictures(context, tab)
        events = tab.events.drain()
    return lambda: with_pictures(_open_result(context, state, view, events), pictures)


async def _log_in_by_http(context: ToolContext, tab: Tab, seconds: float) -> None:
    """Open a page behind HTTP authentication with a secret stored for its site as `user:password`.

    The question must mention the secret by name, or the user must approve its use; otherwise the
    access-denied page stays open.
    """
    url = tab.url  # the address after redirects
    here, site = origin(url), site_of(url)
    realm = tab.driver.login_realm
    asks = f"{here} asks for a user name and a password (HTTP authentication, {realm!r})"
    names = context.secrets_for(url)
    if not names or context.secrets is None:
        command = f"research secret set NAME --origin {here}"
        tab.events.add(f"{asks}; the user can store them as user:password with `{command}`")
        return
    name = next(filter(context.question_names_secret, names), names[0])
    effect = f"log in at {here} with the stored secret {name}"
    if context.question_names_secret(name):
        by = f"secret {name}"
    elif ("login", site) in context.approvals:
        by = f"--yes login@{site}"
    elif await _approved(context, effect):
        by = "the user"
    else:
        tab.events.add(f"{asks}; the agent needs approval to {effect} (--yes login@{site})")
        return
    context.record("policy.approved", name="OPEN", effect=effect, by=by)
    user, colon, password = (context.secrets.value(name, url) or "").partition(":")
    if not colon:
        tab.events.add(f"{asks}; the secret {name} is not in the form user:password")
        return
    context.redactor.add(password)
    context.provenance.sites.add(registrable_domain(host(url)))
    tab.driver.logins.add(url)
    await tab.goto(url, deadline=seconds, login=HttpLogin(user, password))
    if tab.driver.login_realm is not None:
        tab.events.add(f"{here} did not accept the secret {name}")


async def _approved(context: ToolContext, effect: str) -> bool:
    if context.approve is None:
        return False
    return bool(await context.approve(effect))


def _open_result(
    context: ToolContext, state: PageState, view: Snapshot, events: tuple[str, ...]
) -> ToolResult:
    page = state.page
    data: dict[str, Any] = {"url": page.url, "refs": len(view.refs)}
    if expired := require_web(context).expired_login(page):
        events = (*events, expired)
    if events:
        data["events"] = list(events)
    source = state.register(context)
    if source is None:
        return ToolResult(data, view.text or NOTHING_SHOWN, "page", snapshot=view.text)
    data |= {"source": source.name, "title": source.title, "passages": len(source.article)}
    if page.outcome not in (Outcome.OK, Outcome.EMPTY):
        data["outcome"] = page.outcome.value
    return ToolResult(data, view.text or NOTHING_SHOWN, source.name, snapshot=view.text)


@dataclass(frozen=True, slots=True)
class PageState:
    """The open page as just shown; `outcome` describes the action that led to it, if any.

    `step` is the step id of the last action before this state.
    """

    page: Page
    outcome: str = ""
    step: str = ""

    def register(self, context: ToolContext) -> Source | None:
        """Register this state as a source, in tag order; None for an empty page."""
        page, web = self.page, require_web(context)
        has_text = page.document is not None and bool(page.document.text.strip())
        if not (has_text or page.shown or self.outcome):
            return None
        web.state = register_source(context, page, self.outcome, self.step)
        web.shown_text = page.shown
        return web.state


async def read_state(context: ToolContext, outcome: str = "") -> PageState:
    """Read the open page, together with the `outcome` of the action that led to it."""
    web = require_web(context)
    page = await web.read_tab()
    unseen, web.unobserved_outcome = web.unobserved_outcome, ""
    return PageState(page, outcome or unseen, web.last_action_step)


async def state_shown(
    context: ToolContext, tab: Tab, lines: Sequence[str] | None = None
) -> Callable[[], Source | None]:
    """Return a function, to be called in tag order, that returns the source of the page as shown.

    If only some of its `lines` are shown, any earlier state that contains them is used, so that
    scrolling through a list to find something does not create a new source each time.
    """
    web = require_web(context)
    known = web.state
    if known and known.url == tab.url and not web.unobserved_outcome:
        if web.shown_text == tab.citable():
            return lambda: known
        if lines is not None and (same := _state_with(context, known, lines)):
            return lambda: same
    state = await read_state(context)
    return lambda: state.register(context)


def _state_with(context: ToolContext, known: Source, lines: Sequence[str]) -> Source | None:
    """Return the latest state of the open page since the last action that contains all `lines`."""
    for source in reversed(context.evidence.sources):
        if (source.url, source.step) == (known.url, known.step):
            text = require_web(context).shown_text if source is known else source.text
            if set(lines) <= {"", *text.split("\n")}:
                return source
    return None


def source_label(source: Source | None) -> str:
    """Return the label for web text that comes from a page state."""
    return source.name if source else "page"


async def take_snapshot(context: ToolContext, tab: Tab) -> Snapshot:
    """Take a snapshot within the run's token budget, ranked by the run's question."""
    return await tab.snapshot(budget=context.limits.snapshot_tokens, query=context.question)


@page_tool(
    "SNAPSHOT",
    "shows the open page, or a part.",
    capped=False,
    activity="viewing the page",
    traits=LOOKS | SHOWS_PAGE,
)
async def snapshot(context: ToolContext, *, ref: str | None = None) -> Finish:
    """Show the open page, or everything below one element, including collapsed rows."""
    tab = require_tab(context)
    async with require_web(context).lock:
        if ref:
            content, source = await tab.expand(ref), await state_shown(context, tab)
            below = {"ref": ref, "url": tab.url}
            return lambda: ToolResult(below, content, source_label(source()))
        view, pictures = await take_snapshot(context, tab), await take_pictures(context, tab)
        source = await state_shown(context, tab)
    data: dict[str, Any] = {"url": view.url, "title": view.title, "refs": len(view.refs)}
    if events := tab.events.drain():
        data["events"] = list(events)
    return lambda: with_pictures(
        ToolResult(data, view.text or NOTHING_SHOWN, source_label(source()), snapshot=view.text),
        pictures,
    )


@page_tool(
    "FIND",
    "finds text or a role on the whole page.",
    capped=False,
    activity="finding",
    playbook="text",
    traits=LOOKS,
)
async def find(context: ToolContext, *, text: NonEmpty) -> Finish:
    """Search the entire page for text or a role."""
    tab = require_tab(context)
    async with require_web(context).lock:
        found = await tab.find(text)
        source = await state_shown(context, tab, found.citable)
    data = {"text": text, "found": found.found, "url": tab.url}
    return lambda: ToolResult(data, found.text, source_label(source()))


@page_tool("TABS", "lists tabs; switches or closes.", group=Group.HANDS, activity="managing tabs")
async def tabs(
    context: ToolContext, *, switch: str | None = None, close: str | None = None
) -> ToolResult:
    """List the tabs, switch to a tab such as `t2`, or close a tab that the run opened."""
    web = require_web(context)
    browser = await web.start_browser()
    if close:
        closing = _tab_named(browser, close)
        await browser.close(closing)
        web.tab = None if web.tab is closing else web.tab
    if switch:
        web.tab = _tab_named(browser, switch)
    current = web.tab.id if web.tab else None
    rows = [
        {
            "id": tab.id,
            "url": tab.url,
            "title": tab.title,
            "ours": tab.ours,
            "active": tab.id == current if current else tab.active,
        }
        for tab in await browser.tabs()
    ]
    return ToolResult({"tabs": rows})


def _tab_named(browser: Browser, name: str) -> Tab:
    tab = browser.tab(name)
    if tab is None:
        raise ToolError(f"this run has no tab named {name}", hint="TABS lists them.")
    return tab


@page_tool(
    "SCREENSHOT",
    "keeps a picture of the page.",
    group=Group.HANDS,
    activity="taking a screenshot",
    traits=LOOKS,
)
async def screenshot(context: ToolContext) -> ToolResult:
    """Store a screenshot of the open page with the run, and show it to a model with vision."""
    tab = require_tab(context)
    async with require_web(context).lock:
        picture = await tab.screenshot()
        marked = await take_pictures(context, tab)
    data = {"success": True, "url": tab.url, "kept": True, "bytes": len(picture)}
    return with_pictures(ToolResult(data, blobs=(("screenshot.png", picture),)), marked)


@page_tool(
    "PAGE_CONTEXT",
    "returns url, title, selection and text in view.",
    group=Group.HANDS,
    activity="viewing the page",
    traits=LOOKS,
)
async def page_context(context: ToolContext) -> ToolResult:
    """Return the visible part of the page in the run's tab or, without one, in the user's."""
    web = require_web(context)
    if web.tab is None and web.context is None and web.look_for_page is not None:
        await web.look_for_page()
    view = web.context if web.tab is None else await web.tab.context()
    if view is None:
        raise web.no_page()
    facts = {
        "url": view.url,
        "canonical": view.canonical_url,
        "title": view.title,
        "selection": view.selection,
        "focused": view.focused,
        "language": view.language,
        "published": view.published,
    }
    text = view.visible_text[: context.limits.snapshot_tokens]
    return ToolResult({key: value for key, value in facts.items() if value}, text, "page")


LOOKING_TOOLS = (open_page, snapshot, find, tabs, screenshot, page_context)


async def take_pictures(context: ToolContext, tab: Tab) -> tuple[bytes, ...]:
    """Take screenshots for a model with vision (`--vision`); empty without vision or on failure."""
    if not context.vision:
        return ()
    try:
        return await tab.marked_pictures()
    except BrowserError as error:
        context.record("note", text=f"no screenshot of {tab.url}: {error}")
        return ()


def with_pictures(result: ToolResult, pictures: tuple[bytes, ...]) -> ToolResult:
    """Add images to a result whose data is an object."""
    if not pictures:
        return result
    note = PICTURE_NOTE + (SECOND_PICTURE_NOTE if len(pictures) > 1 else "")
    return replace(result, data={**result.data, "picture": note}, pictures=pictures)


_USER_TASK_BY_OUTCOME = {
    Outcome.CAPTCHA: "solved its captcha",
    Outcome.BOT_CHECK: "passed its check",
    Outcome.LOGIN: "logged in",
}


async def clear_block_page(context: ToolContext, tab: Tab) -> bool:
    """Try to get past a captcha, bot check or login on a page; returns True on success.

    If the user can see the browser, they are asked to do this; otherwise the captcha solver is
    used, if there is one.
    """
    web = require_web(context)
    if web.is_visible and context.approve is not None:
        page = await web.read_tab()
        task = _USER_TASK_BY_OUTCOME.get(page.outcome)
        if task is None:
            return False
        request = f"continue at {page.url} once you have {task} in the browser window"
        return await _approved(context, request)
    if web.solver is not None and (await web.read_tab()).outcome in SOLVABLE:
        return (await _solve(context, tab))[0] is Outcome.OK
    return False


async def _solve(context: ToolContext, tab: Tab) -> tuple[Outcome, str]:
    """Have the solver solve a page's captcha, enter the token, and record the attempt.

    Returns OK and how the token was used, or another outcome and the reason.
    """
    challenge = await tab.challenge()
    if challenge is None:
        return Outcome.EMPTY, "no captcha of a kind that a solver accepts"
    started = time.monotonic()
    outcome, detail = await _ask_solver(context, tab, challenge)
    context.record(
        "captcha",
        captcha=challenge.kind,
        url=challenge.url,
        outcome=outcome.value,
        said=detail,
        ms=int((time.monotonic() - started) * 1000),
    )
    return outcome, detail


async def _ask_solver(context: ToolContext, tab: Tab, challenge: Challenge) -> tuple[Outcome, str]:
    web = require_web(context)
    assert web.solver, "called only if a solver is configured"
    if web.solves_left <= 0:
        return Outcome.QUOTA, "this run has reached its limit of solved captchas"
    web.solves_left -= 1
    context.extend_timeout(SOLVER_SECONDS)
    try:
        token = await web.solver.solve(challenge)
    except SolverFailed as error:
        return error.outcome, str(error)
    if token is None:
        return Outcome.CAPTCHA, "the solver could not solve it"
    method = await tab.answer_challenge(token)
    return (Outcome.OK, method) if method else (Outcome.EMPTY, "the captcha went away")


@tool(
    "SOLVE_CAPTCHA",
    "has the captcha of the open page solved.",
    on_page=True,
    group=Group.HANDS,
    activity="solving the captcha",
    sends=sends_nothing,
)
async def solve_captcha(context: ToolContext) -> ToolResult:
    """Have the captcha on the open page solved, even one inside a form."""
    tab = require_tab(context)
    async with require_web(context).lock:
        outcome, detail = await _solve(context, tab)
    if outcome is not Outcome.OK:
        return ToolResult({"error": detail, "outcome": outcome.value}, hint=SolverFailed.hint)
    next_step = "take a SNAPSHOT"
    if detail == "filled":  # the token is in a form that has not been submitted yet
        next_step = "press the button that submits the form"
    return ToolResult({"outcome": "ok", "next": next_step, "url": tab.url})


SOLVING_TOOLS = (solve_captcha,)
