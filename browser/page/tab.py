"""A live page: look at it, find in it, act on it; an action is told with what changed."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionError, DeadlineExceeded, RefError
from browser.net.url import host
from browser.page import content, controls, injected, user_input
from browser.page.driver import ACT_SECONDS, FLASHED, LOOK_SECONDS, PageDriver
from browser.page.lines import plain
from browser.page.page_events import PageEvents
from browser.page.snapshot import DEFAULT_BUDGET, Choice, expand_in, find_in, listed, snapshot_of
from browser.page.waiting import drawing, text_matcher, within
from browser.types import Challenge, FindResult

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from playwright.async_api import ElementHandle, Frame, Page

    from browser.page.content import Stored
    from browser.page.downloads import Downloads
    from browser.page.driver import Judge
    from browser.page.lines import PageLine
    from browser.page.user_input import ClickOptions, Point
    from browser.page.view import Target
    from browser.types import ActionOutcome, PageContext, SavedFile, Snapshot

DOWNLOAD_SECONDS = 50.0
SEEK_SECONDS = 12.0  # for the scrolling of long lists: some thousand rows each second
FIRST_BYTE_SECONDS = 5.0  # for a server that makes the file when it is asked
LOOK_AGAIN_SECONDS = 0.2  # while a text is waited for; a look takes a quarter of that
ASIDE = 2  # pixels: a list asks on which side of another's middle a thing is let go
LONGEST_RESULT = 4_000  # characters of what a script gives
_SUBMITTING_KEYS = frozenset({"Enter", "NumpadEnter", "Return"})
# A captcha widget's own frames hold nothing that a token could be put into.
_WIDGET_HOSTS = ("google.com", "recaptcha.net", "hcaptcha.com", "cloudflare.com")


class Tab(PageDriver):
    """One page of the session. Every call has a deadline and raises errors of `browser.errors`."""

    def __init__(
        self,
        page: Page,
        tab_id: str,
        downloads: Downloads,
        adopt: Callable[[Page], str | None],
        judge: Judge | None = None,
    ) -> None:
        super().__init__(page, PageEvents(page, downloads.save, adopt), judge)
        self.id = tab_id
        self._choice = Choice([], set())

    async def snapshot(
        self,
        budget: int | None = DEFAULT_BUDGET,
        query: str | None = None,
        *,
        deadline: float = LOOK_SECONDS,
    ) -> Snapshot:
        """Show the page within a budget of tokens (None: whole), ranked by the query."""
        view = await self.look(deadline)
        if view.consent:
            async with within(deadline, "close a consent dialog"):
                await self.close_consent()
            view = await self.look(deadline)
        self._query = query
        snapshot, self._choice = snapshot_of(view, budget, query)
        return snapshot

    async def find(self, text: str) -> FindResult:
        """Find lines of the whole page by text, role or words, also beyond what a snapshot holds.

        Text that nothing says can be clicked gets a ref too: a page may hide who listens.
        """
        lines, whole = await self._lines_saying(text)
        found, refs = find_in(lines, text), await self._refs_of(text)
        notes = [] if whole else ["(the page is too large to be searched to its end)"]
        if not found.found and not refs:
            lines, note = await self._scroll_lists_to(text)
            found, refs = (find_in(lines, text) if lines else found), await self._refs_of(text)
            notes += [note] if note else []
        beside = [f'[{ref} text: {plain(said)}] in "{plain(row)}"' for ref, said, row in refs]
        return FindResult("\n".join([found.text, *beside, *notes]), found.found or bool(beside))

    async def _lines_saying(self, text: str) -> tuple[list[PageLine], bool]:
        """The page's lines; of a page too large to be walked whole also those that say the text."""
        view = await self.look()
        if not view.cut and not view.begun:
            return view.lines, True
        known = {line.text for line in view.lines}
        async with within(LOOK_SECONDS, "read the page"):
            more, whole = await self.frames.lines_saying(text)
        for line in more:
            view.refs.update(line.refs)
        return [*view.lines, *(line for line in more if line.text not in known)], whole

    async def _refs_of(self, text: str) -> list[tuple[str, str, str]]:
        async with within(LOOK_SECONDS, "read the page"):
            return list(await injected.call(self.page.main_frame, "refsOfText", text))

    async def _scroll_lists_to(self, text: str) -> tuple[list[PageLine], str]:
        """Scroll lists that draw only what is in view until they say a text.

        Gives the lines of the page then, else none; and a note where not all of a list was seen.
        """
        until = time.monotonic() + SEEK_SECONDS
        async with within(SEEK_SECONDS + LOOK_SECONDS, f"look for {text!r}"), drawing(self.page):
            for frame in await self.frames.shown():
                state: dict[str, Any] = {}
                for again in itertools.count():
                    left = max(0, int((until - time.monotonic()) * 1000))
                    wanted = {"text": text, "ms": left, "more": bool(again)}
                    state = await injected.call(frame, "seek", wanted)
                    if not state.get("found"):
                        break
                    view = await self.look()
                    if find_in(view.lines, text).found:
                        said = "where a row says all its words" if state.get("byWords") else "it"
                        return view.lines, f"(a list was scrolled to {said})"
                if state.get("late"):
                    said = f"(a long list was searched for {SEEK_SECONDS:g} s, not to its end"
                    return [], f"{said}: FIND again goes on from there)"
        return [], ""

    async def expand(self, ref: str) -> str:
        """Show what a fold left out, all options of a select, or what stands in or around a ref."""
        view = self._view or await self.look()
        try:
            return expand_in(view, self._choice, ref)
        except RefError:
            target = await self.frames.find(ref)  # FIND gave it, beyond the snapshot
        async with within(LOOK_SECONDS, "read the page"):
            lines = await self.frames.lines_around(target)
        for line in lines:
            view.refs.update(line.refs)
        return listed(lines)

    def describe(self, ref: str) -> str:
        """Give role and name of an element as they were last shown; the ref where it was not."""
        return self._view.refs.get(ref, ref) if self._view else ref

    async def context(self) -> PageContext:
        """Give URL, title, selection, focus and visible text."""
        async with self.reading("read the page"):
            limit = {"limit": injected.CONTEXT_LIMIT}
            return content.context_of(await injected.call(self.page.main_frame, "context", limit))

    async def html(self) -> str:
        """Give the DOM as it stands, scripts included: sites leave in them what they hold."""
        async with self.reading("read the page"):
            return await self.page.content()

    async def rendered_html(self) -> str:
        """Give what a person sees of the page as HTML, styles applied."""
        self.check_alive()
        await self.check_place()
        return await content.rendered_html(self.page)

    async def screenshot(self, *, whole: bool = False, ref: str | None = None) -> bytes:
        """Take a picture of what is in view, of the whole page or of an element, as PNG."""
        # Chrome takes a picture with the next frame, of which a tab behind another draws none.
        async with self.reading("take a screenshot", ACT_SECONDS), drawing(self.page):
            if ref:
                target = await self.frames.find(ref)
                return await target.element.screenshot(timeout=ACT_SECONDS * 1000)
            return await self.page.screenshot(timeout=ACT_SECONDS * 1000, full_page=whole)

    async def marked_pictures(self) -> tuple[bytes, ...]:
        """Show what is in view, refs drawn on it, as JPEG; without too if they hide a thing."""
        async with self.reading("take a picture", ACT_SECONDS), drawing(self.page):
            return await content.marked_pictures(self.page, ACT_SECONDS)

    async def stored(self) -> Stored:
        """Give the browser's cookies and what this page's site keeps."""
        async with self.reading("read what the site keeps"):
            return await content.stored_by(self.page)

    async def ref_of(self, found: str | ElementHandle) -> str:
        """Give the ref of an element, or of the only one that a selector finds.

        Raises RefError where it finds none, or several.
        """
        async with within(LOOK_SECONDS, "find the element"):
            if isinstance(found, str):
                try:
                    elements = await self.page.query_selector_all(found)
                except PlaywrightError as error:
                    raise RefError(f"{found!r} is no ref of this page, and no selector") from error
                if len(elements) != 1:
                    raise RefError(f"{found!r} finds {len(elements) or 'no'} elements")
                found = elements[0]
            return str(await injected.call(self.page.main_frame, "register", found))

    async def identify(self, ref: str) -> dict[str, str]:
        """Say what tells a ref's element again in another load: role, name, attributes, path.

        Raises RefError where it is gone, or stands in a frame.
        """
        target = await self.frames.find(ref)
        if target.frame is not self.page.main_frame:
            raise RefError(f"{ref} stands in a frame of its own")
        found: dict[str, str] = await injected.call(target.frame, "identify", target.element)
        return found

    async def html_of(self, known: Mapping[str, str]) -> str:
        """Give the HTML of an element that `identify` described; empty where it is gone."""
        async with within(LOOK_SECONDS, "read the page"):
            return str(await injected.call(self.page.main_frame, "identified", dict(known)) or "")

    async def effect(self, ref: str | None, keys: str | None = None) -> str:
        """Tell what clicking `ref`, or pressing `keys` in it, submits by HTML; "" where none does.

        What a script does on it nobody can tell. Without a ref the keys go to what has the focus.
        Raises RefError.
        """
        self.check_alive()
        if keys is not None and not _SUBMITTING_KEYS & set(keys.replace("+", " ").split()):
            return ""
        async with within(LOOK_SECONDS, "look at what the action would do"):
            target = await self.frames.find(ref) if ref is not None else None
            frame = target.frame if target else self.page.main_frame
            element = target.element if target else None
            question = {"element": element, "via": "click" if keys is None else "keys"}
            return str(await injected.call(frame, "effect", question))

    async def challenge(self) -> Challenge | None:
        """Find the captcha on the page, as a solver needs it; None where there is none we know."""
        self.check_alive()
        async with within(LOOK_SECONDS, "read the page"):
            found = await self._find_challenge()
        return found[1] if found else None

    async def answer_challenge(self, token: str) -> str:
        """Put a solver's token into the page's captcha as its widget would.

        Says how: `callback`, `submitted`, `filled` (the page's own button is to follow), or ""
        where the captcha is gone.
        """
        self.check_alive()
        async with within(ACT_SECONDS, "answer the captcha"):
            await injected.call(self.page.main_frame, "arm")
            found = await self._find_challenge()
            how = await injected.call(found[0], "answerChallenge", token) if found else ""
            await self.settle()
        return str(how)

    async def _find_challenge(self) -> tuple[Frame, Challenge] | None:
        for frame in self.page.frames:
            if frame.parent_frame and host(frame.url).endswith(_WIDGET_HOSTS):
                continue
            with suppress(PlaywrightError):  # a frame that went away
                if raw := await injected.call(frame, "challenge"):
                    return frame, Challenge(**raw)
        return None

    async def click(
        self, ref: str, *, dialog: str | None = None, **how: Unpack[ClickOptions]
    ) -> ActionOutcome:
        """Click an element; `dialog` answers a question it asks: "accept", "dismiss" or a text."""
        count, hold, seconds = how.get("count", 1), how.get("hold", ()), how.get("seconds", 0)
        did = {1: "clicked", 2: "double-clicked"}.get(count, f"clicked {count} times")
        did = f"right-{did}" if how.get("button") == "right" else did
        did = f"{did}, held for {seconds:g} s," if seconds else did

        async def perform(target: Target) -> str:
            before = await user_input.state_of(target)
            missed = await user_input.click(target, **how)
            once = did == "clicked" and not hold
            return missed or (await controls.pressed(self, target, before) if once else "")

        return await self.act("-".join((*hold, did)), perform, ref, dialog)

    async def type(
        self,
        ref: str,
        text: str,
        submit: bool = False,  # noqa: FBT001, FBT002 - so in the protocol: type(ref, text, submit)
        *,
        append: bool = False,
        instead: str | None = None,
        dialog: str | None = None,
    ) -> ActionOutcome:
        """Put text into a field in place of what was there, or behind it with `append`.

        `instead` names a part of what is there that alone is replaced. `submit` presses Enter
        after it.
        """

        async def perform(target: Target) -> str:
            target = await user_input.related(target, "fieldIn")
            before = await user_input.state_of(target)
            if instead:
                await user_input.select_text(target.frame, instead, target.element)
                await user_input.overtype(self.page, text)
            elif append:
                await user_input.append(target, text, before["kind"])
            else:
                await user_input.fill(target, text, before)
            whole = not (append or instead)
            differs = await controls.typed(self, target, before, text, whole=whole)
            if submit:
                await self.page.keyboard.press("Enter")
            return differs

        did = "typed and submitted" if submit else "typed into"
        return await self.act(did, perform, ref, dialog)

    async def type_secret(
        self, ref: str, value_for: Callable[[str], str | None], *, submit: bool = False
    ) -> ActionOutcome:
        """Put a secret into a password field of the page itself, never of a frame in it.

        `value_for` gives it for the page's address, None where it may not be typed there. Raises
        ActionError, which does not hold the value.
        """

        async def perform(target: Target) -> None:
            field = await user_input.state_of(target)
            if target.frame != self.page.main_frame or not field["secret"]:
                raise ActionError(
                    "a secret goes into a password field of the page itself, and this is none"
                )
            value = value_for(target.frame.url)
            if value is None:
                raise ActionError("no secret of that name may be typed on this site")
            await user_input.fill(target, value, field)
            if submit:
                await self.page.keyboard.press("Enter")

        return await self.act("typed a secret into", perform, ref)

    async def check(self, ref: str, *, on: bool = True) -> ActionOutcome:
        """Tick a checkbox, radio or switch, or untick it; one that is so already stays."""

        async def perform(target: Target) -> None:
            before = await user_input.state_of(target)
            if not before["on"] or before["on"][0] is on:
                return
            await user_input.click(target)
            if await controls.pressed(self, target, before):
                raise ActionError("it did not change", hint="CLICK what stands beside it.")

        return await self.act("checked" if on else "unchecked", perform, ref)

    async def select(self, ref: str, value: str) -> ActionOutcome:
        """Select an option by its text or value, in a native select or an ARIA listbox."""
        did = f"selected {value!r} in"
        return await self.act(did, lambda target: controls.select(self, target, value), ref)

    async def press(self, keys: str, ref: str | None = None) -> ActionOutcome:
        """Press keys, separated by spaces, in an element or where the focus is."""
        named = keys.split() or ["Space"]

        async def perform(target: Target | None = None) -> str:
            if target:
                await target.element.focus()
            frame, element = (target.frame, target.element) if target else (None, None)
            focus = await injected.call(frame or self.page.main_frame, "focusOf", element)
            await user_input.press(self.page, named)
            if target and not focus["right"]:
                return f"but the focus is on {focus['line'] or 'nothing'}"
            return "" if target else f"in {focus['line'] or 'the page: nothing has the focus'}"

        if ref is None:
            return await self.act_on_page(f"pressed {keys}", perform)
        return await self.act(f"pressed {keys} in", perform, ref)

    async def hover(self, ref: str, at: Point | None = None) -> ActionOutcome:
        """Move the pointer over an element, or to a point of it."""
        return await self.act(
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
        """Drag an element onto another, or by pixels; it is taken hold of at a point of it.

        It is held for `seconds` first. A `path` of points, counted from the element's corner, is
        drawn from the first to the last, whatever lies there.
        """

        async def perform(target: Target) -> None:
            if to is None and not any(by) and len(path) < 2:
                raise ActionError(
                    "it is not said where to", hint="Give `to`, `dx` and `dy`, or a `path`."
                )
            x, y = start = await user_input.point_of(target, at or (path[0] if path else None))
            if len(path) > 1:
                left, top = x - path[0][0], y - path[0][1]
                way = [(left + across, top + down) for across, down in path[1:]]
            elif to is not None:
                end = await user_input.point_of(await self.frames.find(to), covered=True)
                way = [end, (end[0] + ASIDE, end[1] + ASIDE)]
            else:
                way = [(x + by[0], y + by[1])]
            await user_input.drag(self.page, start, way, seconds)

        did = f"drew {len(path)} points on" if path else f"dragged to {to or by}"
        outcome = await self.act(did, perform, ref, moving=True)
        if outcome.changes or not all(event.startswith(FLASHED) for event in outcome.events):
            return outcome
        drawn = path or self.describe(ref).startswith("canvas")
        doubt = "what it drew was not read back" if drawn else "but nothing on the page changed"
        return replace(outcome, did=f"{outcome.did}, {doubt}")

    async def drop(
        self, ref: str, files: Sequence[Path] = (), data: Mapping[str, str] | None = None
    ) -> ActionOutcome:
        """Drop files, or data by MIME type, onto an element as if dragged in from outside."""
        handed = [[file.name, base64.b64encode(file.read_bytes()).decode()] for file in files]

        async def perform(target: Target) -> None:
            given = {"element": target.element, "files": handed, "data": dict(data or {})}
            if not await injected.call(target.frame, "drop", given):
                raise ActionError("nothing can be dropped there")

        return await self.act("dropped something on", perform, ref)

    async def highlight(self, text: str, ref: str | None = None) -> ActionOutcome:
        """Select a text with the pointer, in an element or anywhere on the page.

        Without a ref it is the first of the page, else of the frames inside it. Raises ActionError
        where it does not stand there.
        """

        async def perform(target: Target | None = None) -> None:
            frames = [target.frame] if target else await self.frames.shown()
            element = target.element if target else None
            for number, frame in enumerate(frames, 1):
                try:
                    await user_input.select_text(frame, text, element)
                    break
                except ActionError:
                    if number == len(frames):
                        raise

        if ref is None:
            return await self.act_on_page(f"highlighted {text!r}", perform, moving=True)
        return await self.act(f"highlighted {text!r} in", perform, ref, moving=True)

    async def scroll(
        self, pages: float = 1.0, ref: str | None = None, *, to: str | None = None
    ) -> ActionOutcome:
        """Scroll by screens (negative: up), or to `top`, `bottom` or a text.

        With `ref` that element scrolls, or what scrolls around it; the wheel is turned over what
        has no bar.
        """

        async def to_text() -> None:
            found = self.page.get_by_text(to or "").first
            try:
                await found.scroll_into_view_if_needed(timeout=user_input.POINTER_MS)
            except PlaywrightError as error:
                hint = "FIND looks for it in long lists too."
                raise ActionError(f"{to!r} does not stand there", hint=hint) from error

        async def perform(target: Target | None = None) -> str:
            frame = target.frame if target else self.page.main_frame
            element = target.element if target else None
            wanted = {"element": element, "pages": pages, "to": to}
            moved = await injected.call(frame, "scroll", wanted)
            if isinstance(moved, dict):  # no bar moves it
                far = {"top": -user_input.FAR, "bottom": user_input.FAR}.get(to or "")
                return await user_input.wheel(self.page, element, far or pages * moved["screen"])
            return "" if moved else "but nothing moved: it is at its end"

        if to is not None and to not in {"top", "bottom"}:
            return await self.act_on_page(f"scrolled to {to!r}", to_text)
        if ref is None:
            outcome = await self.act_on_page("scrolled", perform)
        else:
            outcome = await self.act("scrolled", perform, ref)
        if outcome.changes or not outcome.did.endswith(user_input.BY_WHEEL):
            return outcome
        return replace(outcome, did=f"{outcome.did}, but nothing on the page changed")

    async def upload(self, ref: str, files: Sequence[str | os.PathLike[str]]) -> ActionOutcome:
        """Put local files into a file field, or into the one that a button opens."""
        paths = [Path(file) for file in files]
        did = f"uploaded {', '.join(path.name for path in paths)} to"
        return await self.act(did, lambda target: user_input.upload(target, paths), ref)

    async def download(self, ref: str, deadline: float = DOWNLOAD_SECONDS) -> SavedFile:
        """Click what gives a file, and wait until it is kept, or why it is not is known.

        Also raises ActionError when the click brings no file.
        """
        before = len(self.events.downloads)
        coming = asyncio.ensure_future(self.page.wait_for_event("download", timeout=0))
        try:
            async with within(deadline, f"download from {ref}"):
                outcome = await self.click(ref)
                if len(self.events.downloads) == before:
                    did_else = outcome.changes or outcome.events
                    await asyncio.wait({coming}, timeout=0 if did_else else FIRST_BYTE_SECONDS)
                    if not coming.done():
                        hint = f"READ {self.url} where the file is shown."
                        raise ActionError(f"{outcome.did} brought no file", hint=hint)
                return await self.events.downloads[before]
        finally:
            coming.cancel()

    async def evaluate(self, function: str, ref: str | None = None) -> ActionOutcome:
        """Run a JavaScript function in the page, or on an element: what it gives, what changed.

        The first line of the changes is its result as JSON. Raises RefError, and `ActionError`
        where it throws.
        """
        result = ""

        async def perform() -> None:
            nonlocal result
            on = (await self.frames.find(ref)).element if ref else self.page
            try:
                result = json.dumps(await on.evaluate(function), ensure_ascii=False, default=str)
            except PlaywrightError as error:
                self.check_alive()
                raise ActionError(f"the script failed: {error.message.splitlines()[0]}") from error

        outcome = await self.act_on_page("ran a script", perform)
        shown = result if len(result) <= LONGEST_RESULT else f"{result[:LONGEST_RESULT]}…"
        return replace(outcome, changes=f"{shown}\n{outcome.changes}".strip())

    async def answer_dialog(self, *, accept: bool, text: str | None = None) -> ActionOutcome:
        """Answer the dialog that is held open; raises ActionError where none is."""
        dialog, before = self.events.held, self._view
        if dialog is None:
            raise ActionError("no dialog is open")
        self.events.held = None

        async def perform() -> None:
            await (dialog.accept(text) if accept else dialog.dismiss())

        did = f'{"accepted" if accept else "dismissed"} the {dialog.type} "{dialog.message[:80]}"'
        if before is None:  # there is no look at a page under a dialog
            await perform()
            return await self._observe(did, await self.look())
        return await self._observe(did, before, perform)

    async def back(self) -> ActionOutcome:
        """Go back in the tab's history."""

        async def perform() -> None:
            await self.page.go_back(wait_until="domcontentloaded", timeout=ACT_SECONDS * 1000)

        return await self.act_on_page("went back", perform)

    async def wait_for(self, text: str = "", deadline: float = ACT_SECONDS) -> ActionOutcome:
        """Wait until a text, or a `/pattern/`, stands on the page as a snapshot shows it.

        Without a text all of the time is waited. Raises DeadlineExceeded when it does not come.
        """
        before = self._view or await self.look()
        async with within(deadline + ACT_SECONDS, f"wait for {text!r}"), drawing(self.page):
            if not text:
                await asyncio.sleep(deadline)
                return await self._observe(f"waited {deadline:g} s", before)
            matches, until = text_matcher(text), time.monotonic() + deadline
            while not matches((await self.look()).visible_text()):
                if time.monotonic() > until:
                    why = f"{text!r} did not come within {deadline:g} s"
                    raise DeadlineExceeded(why, hint="SNAPSHOT shows what is there.")
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
        return await self._observe(f"waited for {text!r}", before)
