"""A live page, which can be read, searched and acted on; actions return the resulting changes."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from browser.errors import ActionError, DeadlineExceeded, OutcomeUnknown, RefError
from browser.page import challenges, content, controls, finding, injected, user_input
from browser.page.driver import ACT_SECONDS, FLASHED, LOOK_SECONDS, OPEN_SECONDS, PageDriver
from browser.page.page_events import PageEvents
from browser.page.snapshot import (
    DEFAULT_BUDGET,
    LineSelection,
    expand_ref,
    format_lines,
    render_snapshot,
)
from browser.page.waiting import keep_rendering, text_matcher, within
from browser.text.words import truncate

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from playwright.async_api import ElementHandle, Page

    from browser.page.content import BrowserStorage
    from browser.page.downloads import Downloads
    from browser.page.driver import AddressCheck, Logins
    from browser.page.user_input import ClickOptions, Point
    from browser.page.view import Target
    from browser.types import (
        ActionOutcome,
        Challenge,
        FindResult,
        HttpLogin,
        PageContext,
        SavedFile,
        Snapshot,
    )

DOWNLOAD_SECONDS = 50.0  # a call may take at most one minute
FIRST_BYTE_SECONDS = 5.0  # some servers create the file only on request
LOOK_AGAIN_SECONDS = 0.2  # between looks while waiting for text; a look takes a quarter of this
# Pixels past the middle of a drop target, in the direction of the drag; by this, sortable lists
# decide whether to insert before or after it.
DROP_OFFSET = 2
MAX_RESULT_CHARS = 4_000  # of a script's result
_CODE_FIELDS = frozenset({"text", "tel", "number"})
"""Types of fields that sites use for one-time codes, in addition to password fields."""
_SUBMITTING_KEYS = frozenset({"Enter", "NumpadEnter", "Return"})
_ACTIVATING_KEYS = _SUBMITTING_KEYS | {"Space"}
"""Keys that activate the focused button or link."""


class Tab:
    """One page of the session. All calls have a deadline and raise errors from `browser.errors`."""

    def __init__(
        self,
        page: Page,
        tab_id: str,
        downloads: Downloads,
        adopt: Callable[[Page], str | None],
        check_allowed: AddressCheck | None = None,
        logins: Logins | None = None,
    ) -> None:
        events = PageEvents(page, downloads.save, adopt)
        self.driver = PageDriver(page, events, check_allowed, logins)
        self.id = tab_id
        self._downloads = downloads
        self._selection = LineSelection([], set())
        self._pdf: tuple[int, bytes | None] | None = None  # with the navigation count

    @property
    def page(self) -> Page:
        """The Playwright page."""
        return self.driver.page

    @property
    def events(self) -> PageEvents:
        """The page's events: dialogs, downloads, requests, crashes."""
        return self.driver.events

    @property
    def url(self) -> str:
        """The current address."""
        return self.page.url

    @property
    def status(self) -> int | None:
        """The HTTP status of the page's response; None if it was not loaded over HTTP."""
        return self.events.status

    @property
    def title(self) -> str:
        """The title when the page was last read."""
        return self.driver.view.title if self.driver.view else ""

    def citable(self) -> str:
        """The content when the page was last read, as Markdown without refs; "" before that."""
        return self.driver.view.citable() if self.driver.view else ""

    async def goto(
        self, url: str, deadline: float = OPEN_SECONDS, *, login: HttpLogin | None = None
    ) -> None:
        """Go to an address; a page that loads slowly is used as it is.

        `login` is sent if the site asks for HTTP authentication; without it, the site's refusal
        page is opened.
        """
        await self.driver.goto(url, deadline, login=login)

    async def snapshot(
        self,
        budget: int | None = DEFAULT_BUDGET,
        query: str | None = None,
        *,
        deadline: float = LOOK_SECONDS,
    ) -> Snapshot:
        """Show the page within a token budget (None: all of it), ranked by the query."""
        view = await self.driver.look(deadline, whole=budget is None)
        if view.consent:
            async with within(deadline, "close a consent dialog"):
                closed = await self.driver.close_consent()
            if closed:
                view = await self.driver.look(deadline, whole=budget is None)
        self.driver.query = query
        snapshot, self._selection = render_snapshot(view, budget, query)
        return snapshot

    async def find(self, text: str) -> FindResult:
        """Find lines anywhere on the page by text, role or words, even if a snapshot lacks them.

        The text found also gets a ref, even if nothing marks it as clickable: the page may handle
        clicks in a way that the snapshot cannot detect.
        """
        return await finding.find(self.driver, text)

    async def expand(self, ref: str) -> str:
        """Show a collapsed section, a select's options, or the lines in or around an element."""
        view = self.driver.view or await self.driver.look()
        try:
            return expand_ref(view, self._selection, ref)
        except RefError:
            # FIND may return refs that no snapshot shows.
            target = await self.driver.frames.find(ref)
        async with within(LOOK_SECONDS, "read the page"):
            lines = await self.driver.frames.lines_around(target)
        for line in lines:
            view.refs.update(line.refs)
        view.found += lines
        return format_lines(lines)

    def describe(self, ref: str) -> str:
        """Return an element's role and name as last shown, or its ref if it was not shown."""
        return self.driver.view.refs.get(ref, ref) if self.driver.view else ref

    def is_link(self, ref: str) -> bool:
        """Whether an element was last shown as a link."""
        return self.describe(ref).startswith("link")

    @property
    def links_shown(self) -> int:
        """The number of links when the page was last read, but at least 1."""
        refs = self.driver.view.refs.values() if self.driver.view else ()
        return max(1, sum(text.startswith("link") for text in refs))

    async def context(self) -> PageContext:
        """Return URL, title, selection, focus and visible text."""
        async with self.driver.reading("read the page"):
            limit = {"limit": injected.MAX_CONTEXT_CHARS}
            return content.page_context(await injected.call(self.page.main_frame, "context", limit))

    async def html(self) -> str:
        """Return the current DOM including its scripts, in which many sites keep their data."""
        async with self.driver.reading("read the page"):
            return await self.page.content()

    async def rendered_html(self) -> str:
        """Return the visible part of the page as HTML, with styles applied."""
        self.driver.check_alive()
        await self.driver.check_current_url()
        return await content.rendered_html(self.page)

    async def pdf(self) -> bytes | None:
        """Return the PDF that the browser shows; None if it shows none or cannot fetch it again."""
        if self.driver.view is None or not self.driver.view.is_pdf:
            return None
        if self._pdf is None or self._pdf[0] != self.events.navigations:
            async with self.driver.reading("read the PDF", ACT_SECONDS):
                self._pdf = self.events.navigations, await content.pdf_bytes(self.page)
        return self._pdf[1]

    async def wait_until_idle(self, seconds: float) -> None:
        """Wait until the page's requests have finished, for at most `seconds`."""
        with suppress(PlaywrightTimeout):
            await self.page.wait_for_load_state("networkidle", timeout=seconds * 1000)

    async def screenshot(self, *, whole: bool = False, ref: str | None = None) -> bytes:
        """Take a PNG screenshot of the viewport, the `whole` page or an element."""
        milliseconds = ACT_SECONDS * 1000
        # Chrome takes a screenshot with the next frame, but a background tab draws no frames.
        async with self.driver.reading("take a screenshot", ACT_SECONDS), keep_rendering(self.page):
            if ref:
                target = await self.driver.frames.find(ref)
                return await target.element.screenshot(timeout=milliseconds, caret="initial")
            return await self.page.screenshot(
                timeout=milliseconds, full_page=whole, caret="initial"
            )

    async def marked_pictures(self) -> tuple[bytes, ...]:
        """Take a JPEG screenshot with marked refs, and one without if the marks cover something."""
        async with self.driver.reading("take a picture", ACT_SECONDS), keep_rendering(self.page):
            return await content.marked_pictures(self.page, ACT_SECONDS)

    async def storage(self) -> BrowserStorage:
        """Return the browser's cookies and the data stored by this page's site."""
        async with self.driver.reading("read the site's storage"):
            return await content.read_storage(self.page)

    async def ref_of(self, found: str | ElementHandle) -> str:
        """Return the ref of an element, or of the only element that a CSS selector matches.

        Raises RefError if it matches none or several.
        """
        async with within(LOOK_SECONDS, "find the element"):
            if isinstance(found, str):
                try:
                    elements = await self.page.query_selector_all(found)
                except PlaywrightError as error:
                    raise RefError(
                        f"{found!r} is neither a ref on this page nor a selector"
                    ) from error
                if len(elements) != 1:
                    raise RefError(f"{found!r} matches {len(elements) or 'no'} elements")
                found = elements[0]
            return str(await injected.call(self.page.main_frame, "register", found))

    async def identify(self, ref: str) -> dict[str, str]:
        """Describe an element by role, name, attributes and path, to find it after a reload.

        Raises RefError if it no longer exists or is inside a frame.
        """
        target = await self.driver.frames.find(ref)
        if target.frame is not self.page.main_frame:
            raise RefError(f"{ref} is in another frame")
        found: dict[str, str] = await injected.call(target.frame, "identify", target.element)
        return found

    async def html_of(self, known: Mapping[str, str]) -> str:
        """Return the HTML of an element that `identify` described; "" if it no longer exists."""
        async with within(LOOK_SECONDS, "read the page"):
            return str(await injected.call(self.page.main_frame, "identified", dict(known)) or "")

    async def submitted_form(self, ref: str | None, keys: str | None = None) -> str:
        """Describe the form that clicking `ref`, or pressing `keys` in it, submits; "" if none.

        Only the HTML is examined, because the effect of a script cannot be predicted. Without a
        ref, the keys go to the focused element. Raises RefError.
        """
        self.driver.check_alive()
        if keys is not None and not _SUBMITTING_KEYS & set(keys.replace("+", " ").split()):
            return ""
        async with within(LOOK_SECONDS, "look at what the action would do"):
            target = await self.driver.frames.find(ref) if ref is not None else None
            frame = target.frame if target else self.page.main_frame
            element = target.element if target else None
            arguments = {"element": element, "via": "click" if keys is None else "keys"}
            return str(await injected.call(frame, "effect", arguments))

    async def submits_login(self, ref: str | None, keys: str | None = None) -> bool:
        """Whether clicking `ref`, or pressing `keys` in it, submits the form with a typed secret.

        Only the password field's own form counts, and only if it is sent to the page's own origin.
        Without a ref, the keys go to the focused element. Raises RefError.
        """
        self.driver.check_alive()
        if keys is not None and not {keys} <= _SUBMITTING_KEYS:
            return False
        async with within(LOOK_SECONDS, "look at what the action would do"):
            target = await self.driver.frames.find(ref) if ref is not None else None
            if target is not None and target.frame != self.page.main_frame:
                return False
            element = target.element if target else None
            arguments = {"element": element, "via": "click" if keys is None else "keys"}
            return bool(await injected.call(self.page.main_frame, "submitsLogin", arguments))

    async def challenge(self) -> Challenge | None:
        """Find a captcha of a known kind on the page, for a solver; None if there is none."""
        return await challenges.find(self.driver)

    async def answer_challenge(self, token: str) -> str:
        """Insert a solver's token into the page's captcha, as its widget would.

        Returns how it was inserted: `callback`, `submitted`, `filled` (the page's button must still
        be clicked), or "" if the captcha no longer exists.
        """
        return await challenges.insert_token(self.driver, token)

    async def click(
        self, ref: str, *, dialog: str | None = None, **options: Unpack[ClickOptions]
    ) -> ActionOutcome:
        """Click an element; `dialog` answers a dialog it opens: "accept", "dismiss" or a reply."""
        count, hold, seconds = (
            options.get("count", 1),
            options.get("hold", ()),
            options.get("seconds", 0),
        )
        did = {1: "clicked", 2: "double-clicked"}.get(count, f"clicked {count} times")
        did = f"right-{did}" if options.get("button") == "right" else did
        did = f"{did}, held for {seconds:g} s," if seconds else did

        async def perform(target: Target) -> str:
            before = await user_input.control_state(target)
            missed = await user_input.click(target, **options)
            if missed or did != "clicked" or hold:  # only a plain click toggles a control
                return missed
            return await controls.check_toggled(self.driver, target, before)

        return await self.driver.act("-".join((*hold, did)), perform, ref, dialog)

    async def type(
        self,
        ref: str,
        text: str,
        submit: bool = False,  # noqa: FBT001, FBT002 - as in the protocol: type(ref, text, submit)
        *,
        append: bool = False,
        instead: str | None = None,
        dialog: str | None = None,
    ) -> ActionOutcome:
        """Put text into a field, replacing its content or, with `append`, adding to it.

        With `instead`, only that part of the content is replaced. `submit` presses Enter
        afterwards.
        """

        async def perform(target: Target) -> str:
            target = await user_input.related(target, "fieldIn")
            before = await user_input.control_state(target)
            if before["secret"]:
                self.driver.logins.add(target.frame.url)
            if instead:
                await user_input.select_text(target.frame, instead, target.element)
                await user_input.type_over_selection(self.page, text)
            elif append:
                await user_input.append(target, text, before["kind"])
            else:
                await user_input.fill(target, text, before)
            replaced = not (append or instead)
            if before["kind"] in {"keys", "cell"} and not append:
                await self.driver.settle()
            if replaced or (before["kind"] in {"keys", "cell"} and not append):
                target, before = await user_input.complete_in_opened(target, text, before)
            problem = await controls.check_typed(
                self.driver, target, before, text, replaced=replaced, instead=instead
            )
            if submit:
                await self.page.keyboard.press("Enter")
            return problem

        did = "typed and submitted" if submit else "typed into"
        return await self.driver.act(did, perform, ref, dialog)

    async def type_secret(
        self,
        ref: str,
        value_for: Callable[[str], str | None],
        *,
        submit: bool = False,
        is_code: bool = False,
    ) -> ActionOutcome:
        """Put a secret into a password field on the page itself, never into one in a frame.

        A one-time code (`is_code`) may also be put into a text field. `value_for` returns the
        secret for the page's address, or None if it may not be typed there. Raises ActionError,
        which never contains the value.
        """

        async def perform(target: Target) -> None:
            field = await user_input.control_state(target)
            takes_it = field["secret"] or (is_code and field["kind"] in _CODE_FIELDS)
            if target.frame != self.page.main_frame or not takes_it:
                raise ActionError(
                    "a secret can only be typed into a password field of the page itself"
                )
            value = value_for(target.frame.url)
            if value is None:
                raise ActionError("no secret with that name may be used on this site")
            if submit and await injected.call(target.frame, "sendsAway", target.element):
                raise ActionError(
                    "not typed: the form sends the password to another site",
                    hint="TYPE it without submit, then CLICK the button; the user must approve.",
                )
            self.driver.logins.add(target.frame.url)
            await user_input.fill(target, value, field)
            await injected.call(target.frame, "secretTyped", target.element)
            if submit:
                await self.page.keyboard.press("Enter")

        return await self.driver.act("typed a secret into", perform, ref)

    async def check(self, ref: str, *, on: bool = True) -> ActionOutcome:
        """Tick or untick a checkbox, radio button or switch, unless it already has that state."""

        async def perform(target: Target) -> None:
            before = await user_input.control_state(target)
            if not before["on"] or before["on"][0] is on:
                return
            await user_input.click(target)
            if await controls.check_toggled(self.driver, target, before):
                raise ActionError(
                    "the control did not change", hint="CLICK the element next to it."
                )

        return await self.driver.act("checked" if on else "unchecked", perform, ref)

    async def select(self, ref: str, value: str) -> ActionOutcome:
        """Select an option by its text or value, in a native select or a custom list."""
        did = f"selected {value!r} in"
        return await self.driver.act(
            did, lambda target: controls.select(self.driver, target, value), ref
        )

    async def press(self, keys: str, ref: str | None = None) -> ActionOutcome:
        """Press keys, separated by spaces, in an element or in the focused one."""
        key_names = keys.split() or ["Space"]

        async def perform(target: Target | None = None) -> str:
            if target:
                await target.element.focus()
            frame, element = (target.frame, target.element) if target else (None, None)
            focus = await injected.call(frame or self.page.main_frame, "focusOf", element)
            if focus["off"] and _ACTIVATING_KEYS & set(key_names):
                what = "it was not pressed" if target else f"{focus['line']} was not pressed"
                raise ActionError(f"{what}: {focus['off']}", hint=user_input.DISABLED_HINT)
            await user_input.press(self.page, key_names)
            if target and not focus["right"]:
                return f"but the focus is on {focus['line'] or 'nothing'}"
            return "" if target else f"in {focus['line'] or 'the page: nothing has the focus'}"

        if ref is None:
            return await self.driver.act_on_page(f"pressed {keys}", perform)
        return await self.driver.act(f"pressed {keys} in", perform, ref)

    async def hover(self, ref: str, at: Point | None = None) -> ActionOutcome:
        """Move the pointer over an element, or to a point in it."""
        return await self.driver.act(
            "hovered", lambda target: user_input.hover(target, at), ref, moving=True
        )

    async def drag(
        self,
        ref: str,
        to: str | None = None,
        by: Point = (0, 0),
        *,
        at: Point | None = None,
        path: Sequence[Point] = (),
        seconds: float = 0,
    ) -> ActionOutcome:
        """Drag an element onto another (`to`), or by `by` pixels, from the point `at` in it.

        The button is held down for `seconds` before the pointer moves. With a `path`, the pointer
        follows its points, which are relative to the element's corner, as for drawing on a canvas;
        it starts at the point `at`, if given.
        """
        points = list(path if at or not path else path[1:])

        async def perform(target: Target) -> None:
            if to is None and not any(by) and not points:
                raise ActionError(
                    "the drag has no target", hint="Set `to`, `dx` and `dy`, or `path`."
                )
            x, y = start = await user_input.hit_point(target, at or (path[0] if path else None))
            if points and (box := await target.element.bounding_box()):
                stops = [(box["x"] + across, box["y"] + down) for across, down in points]
            elif to is not None:
                end = await user_input.hit_point(await self.driver.frames.find(to), covered=True)
                stops = [end, _just_past(end, start)]
            else:
                stops = [(x + by[0], y + by[1])]
            await user_input.drag(self.page, start, stops, seconds)

        did = f"drew {len(path)} points on" if path else f"dragged to {to or by}"
        outcome = await self.driver.act(did, perform, ref, moving=True)
        # An element that only flashed during the drag is back in its old place.
        if outcome.changes or not all(event.startswith(FLASHED) for event in outcome.events):
            return outcome
        draws = path or self.describe(ref).startswith("canvas")
        caveat = "the drawing was not read back" if draws else "but nothing on the page changed"
        return replace(outcome, action=f"{outcome.action}, {caveat}")

    async def drop(
        self, ref: str, files: Sequence[Path] = (), data: Mapping[str, str] | None = None
    ) -> ActionOutcome:
        """Drop files, or data by MIME type, onto an element, as if dragged from outside."""
        contents = [[file.name, base64.b64encode(file.read_bytes()).decode()] for file in files]

        async def perform(target: Target) -> None:
            arguments = {"element": target.element, "files": contents, "data": dict(data or {})}
            if not await injected.call(target.frame, "drop", arguments):
                raise ActionError("nothing can be dropped there")

        return await self.driver.act("dropped something on", perform, ref)

    async def highlight(self, text: str, ref: str | None = None) -> ActionOutcome:
        """Select text with the pointer, in an element or anywhere on the page.

        Without a ref, the first match is selected; the page is searched before its frames. Raises
        ActionError if there is no match.
        """

        async def perform(target: Target | None = None) -> None:
            frames = [target.frame] if target else await self.driver.frames.visible()
            element = target.element if target else None
            for number, frame in enumerate(frames, 1):
                try:
                    await user_input.select_text(frame, text, element)
                    break
                except ActionError:
                    if number == len(frames):
                        raise

        if ref is None:
            return await self.driver.act_on_page(f"highlighted {text!r}", perform, moving=True)
        return await self.driver.act(f"highlighted {text!r} in", perform, ref, moving=True)

    async def scroll(
        self, pages: float = 1.0, ref: str | None = None, *, to: str | None = None
    ) -> ActionOutcome:
        """Scroll by screens (negative: up), or to `top`, `bottom` or a given text.

        With `ref`, that element or the scrollable element around it is scrolled. Elements without a
        scroll bar (maps, sliders) get mouse-wheel events.
        """

        async def to_text() -> None:
            match = self.page.get_by_text(to or "").first
            try:
                await match.scroll_into_view_if_needed(timeout=user_input.POINTER_MS)
            except PlaywrightError as error:
                hint = "FIND looks for it in long lists too."
                raise ActionError(f"{to!r} is not on the page", hint=hint) from error

        async def perform(target: Target | None = None) -> str:
            frame = target.frame if target else self.page.main_frame
            element = target.element if target else None
            arguments = {"element": element, "pages": pages, "to": to}
            moved = await injected.call(frame, "scroll", arguments)
            if isinstance(moved, dict):  # there is no scroll bar
                pixels = {"top": -user_input.FAR_PIXELS, "bottom": user_input.FAR_PIXELS}.get(
                    to or ""
                )
                return await user_input.wheel(self.page, element, pixels or pages * moved["screen"])
            return "" if moved else "but nothing moved: the end was already reached"

        if to is not None and to not in {"top", "bottom"}:
            return await self.driver.act_on_page(f"scrolled to {to!r}", to_text)
        if ref is None:
            outcome = await self.driver.act_on_page("scrolled", perform)
        else:
            outcome = await self.driver.act("scrolled", perform, ref)
        if outcome.changes or not outcome.action.endswith(user_input.BY_WHEEL):
            return outcome
        return replace(outcome, action=f"{outcome.action}, but nothing on the page changed")

    async def upload(self, ref: str, files: Sequence[str | os.PathLike[str]]) -> ActionOutcome:
        """Put local files into a file field, or into the file chooser that a button opens."""
        paths = [Path(file) for file in files]
        did = f"chose {', '.join(path.name for path in paths)} for"

        async def perform(target: Target) -> str:
            await user_input.upload(target, paths)
            await self.driver.settle()
            if self.events.sent_requests:
                return "and the page sent a request"
            return "not sent yet: click the page's own button to send it"

        return await self.driver.act(did, perform, ref)

    async def links_to_data(self, ref: str) -> bool:
        """Whether an element is a link to a file that the page itself contains (`data:`, `blob:`).

        Raises RefError.
        """
        async with within(LOOK_SECONDS, f"find {ref}"):
            target = await self.driver.frames.find(ref)
            return await content.link_to_data(target) is not None

    async def download(self, ref: str, deadline: float = DOWNLOAD_SECONDS) -> SavedFile:
        """Click a download link or button, and wait until the file is saved or has failed.

        An attached browser saves the file in the user's folder; in that case, the content of a
        `data:` or `blob:` link is read from the page. Raises ActionError if the click starts no
        download.
        """
        before, clicked = len(self.events.downloads), ""
        started = asyncio.ensure_future(self.page.wait_for_event("download", timeout=0))
        try:
            async with within(deadline, f"download from {ref}"):
                target = await self.driver.frames.find(ref)
                is_requested = await target.element.evaluate("e => !!e.closest('a[download]')")
                outcome = await self.click(ref)
                clicked = outcome.action
                if len(self.events.downloads) == before:
                    # If the page reacted in a different way, there is no download to wait for.
                    reacted = not is_requested and (outcome.changes or outcome.events)
                    await asyncio.wait({started}, timeout=0 if reacted else FIRST_BYTE_SECONDS)
                    if not started.done() and is_requested:  # no event reports that it has started
                        if file := await content.linked_data(target):
                            return self._downloads.keep(*file)
                        raise OutcomeUnknown(clicked, f"no file within {FIRST_BYTE_SECONDS:g} s")
                    if not started.done():
                        hint = f"If the page shows the file, READ {self.url}."
                        raise ActionError(f"{outcome.action} did not start a download", hint=hint)
                return await self.events.downloads[before]
        except DeadlineExceeded as error:
            if not clicked:
                raise
            raise OutcomeUnknown(clicked, f"no file within {deadline:g} s") from error
        finally:
            started.cancel()

    async def evaluate(self, function: str, ref: str | None = None) -> ActionOutcome:
        """Run a JavaScript function in the page, or on an element.

        The first line of the outcome's changes is the function's result as JSON. Raises RefError,
        and ActionError if the function throws.
        """
        result = ""

        async def perform() -> None:
            nonlocal result
            receiver = (await self.driver.frames.find(ref)).element if ref else self.driver.page
            try:
                value = await receiver.evaluate(function)
                result = json.dumps(value, ensure_ascii=False, default=str)
            except PlaywrightError as error:
                self.driver.check_alive()
                raise ActionError(f"the script failed: {error.message.splitlines()[0]}") from error

        outcome = await self.driver.act_on_page("ran a script", perform)
        result = truncate(result, MAX_RESULT_CHARS)
        return replace(outcome, changes=f"{result}\n{outcome.changes}".strip())

    async def answer_dialog(self, *, accept: bool, text: str | None = None) -> ActionOutcome:
        """Answer the dialog that is open; raises ActionError if there is none."""
        dialog, before = self.events.open_dialog, self.driver.view
        if dialog is None:
            raise ActionError("no dialog is open")
        self.events.open_dialog = None

        async def perform() -> None:
            await (dialog.accept(text) if accept else dialog.dismiss())

        did = f'{"accepted" if accept else "dismissed"} the {dialog.type} "{dialog.message[:80]}"'
        if before is None:  # the dialog opened before the first look, and prevents it
            await perform()
            return await self.driver.observe(did, await self.driver.look())
        return await self.driver.observe(did, before, perform)

    async def back(self) -> ActionOutcome:
        """Go back in the tab's history."""

        async def perform() -> None:
            await self.page.go_back(wait_until="domcontentloaded", timeout=ACT_SECONDS * 1000)

        return await self.driver.act_on_page("went back", perform)

    async def _shows_match(self, matches: Callable[[str], bool]) -> bool:
        """Whether the page now shows a match; False if the page is too busy to be read."""
        try:
            view = await self.driver.look()
        except DeadlineExceeded:
            return False
        self.driver.keep_passing_changes(view)
        return matches(view.visible_text())

    async def wait_for(self, text: str = "", deadline: float = ACT_SECONDS) -> ActionOutcome:
        """Wait until a snapshot would show the text, or a match for a `/pattern/`.

        Without a text, this waits for the full `deadline` (in seconds). Raises DeadlineExceeded if
        the text does not appear.
        """
        before = self.driver.view or await self.driver.look()
        async with within(deadline + ACT_SECONDS, f"wait for {text!r}"), keep_rendering(self.page):
            await self.driver.watch()  # brief flashes are part of the outcome, too
            if not text:
                await asyncio.sleep(deadline)
                return await self.driver.observe(f"waited {deadline:g} s", before)
            matches, until = text_matcher(text), time.monotonic() + deadline
            while not await self._shows_match(matches):
                if time.monotonic() > until:
                    why = f"{text!r} did not appear within {deadline:g} s"
                    raise DeadlineExceeded(why, hint="SNAPSHOT shows what is there.")
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
        return await self.driver.observe(f"waited for {text!r}", before)


def _just_past(end: Point, start: Point) -> Point:
    """Return a point just past the middle of a drop target, in the direction of the drag."""
    x, y = (to + math.copysign(DROP_OFFSET, to - came) for to, came in zip(end, start, strict=True))
    return x, y
