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

from browser.errors import ActionError, BrowserError, DeadlineExceeded, RefError
from browser.page import controls, injected, user_input
from browser.page.content import (
    context_of,
    marked_pictures,
    raw_context,
    rendered_html,
    stored_by,
)
from browser.page.driver import ACT_SECONDS, FLASHED, LOOK_SECONDS, PageDriver
from browser.page.page_events import Events, answer_challenge, challenge_of
from browser.page.snapshot import DEFAULT_BUDGET, Choice, expand_in, find_in, listed, snapshot_of
from browser.page.view import lines_around, lines_saying, plain, shown_frames, target_of
from browser.page.waiting import drawing, wanted_in, within
from browser.types import FindResult

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from playwright.async_api import Download, ElementHandle, Frame, Page

    from browser.page.content import Stored
    from browser.page.page_events import Downloads
    from browser.page.user_input import ClickOptions, Point
    from browser.page.view import PageLine, Target
    from browser.types import ActionOutcome, Challenge, PageContext, SavedFile, Snapshot

DOWNLOAD_SECONDS = 50.0
SEEK_SECONDS = 12.0  # for the scrolling of long lists: some thousand rows each second
FIRST_BYTE_SECONDS = 5.0  # for a server that makes the file when it is asked
_EFFECT = injected.read_script("effect")
_DROP = """(element, [files, data]) => {
  const dataTransfer = new DataTransfer();
  for (const [type, text] of Object.entries(data)) dataTransfer.setData(type, text);
  for (const [name, bytes] of files)
    dataTransfer.items.add(new File([Uint8Array.from(atob(bytes), c => c.charCodeAt(0))], name));
  const box = element.getBoundingClientRect();
  const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
  const tell = (kind) => element.dispatchEvent(new DragEvent(
    kind, { bubbles: true, cancelable: true, composed: true, dataTransfer, ...at }));
  tell('dragenter');
  if (tell('dragover')) return false;
  tell('drop');
  return true;
}"""
_SUBMITTING_KEYS = frozenset({"Enter", "NumpadEnter", "Return"})
ASIDE = 2  # pixels: a list asks on which side of another's middle a thing is let go
LOOK_AGAIN_SECONDS = 0.2  # while a text is waited for; a look takes a quarter of that
CLOSE_SECONDS = 1.5
LONGEST_RESULT = 4_000  # characters of what a script gives


class Tab(PageDriver):
    """One page of the session. Every call has a deadline and raises errors of `browser.errors`."""

    def __init__(
        self, page: Page, tab_id: str, downloads: Downloads, adopt: Callable[[Page], str | None]
    ) -> None:
        super().__init__(page, Events(page, downloads.start, adopt))
        self.id = tab_id
        self._choice = Choice()

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
            lines, note = await self._scroll_to(text)
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
            more, whole = await lines_saying(self.page, self.frames, text)
        for line in more:
            view.refs.update(line.refs)
        return [*view.lines, *(line for line in more if line.text not in known)], whole

    async def _refs_of(self, text: str) -> list[tuple[str, str, str]]:
        async with within(LOOK_SECONDS, "read the page"):
            return list(await injected.call(self.page.main_frame, "refsOfText", text))

    async def _scroll_to(self, text: str) -> tuple[list[PageLine], str]:
        """Scroll lists that draw only what is in view until they say a text.

        Gives the lines of the page then, else none; and a note where not all of a list was seen.
        """
        until = time.monotonic() + SEEK_SECONDS
        async with within(SEEK_SECONDS + LOOK_SECONDS, f"look for {text!r}"), drawing(self.page):
            for frame in await shown_frames(self.page):
                state: dict[str, Any] = {"found": True}
                for again in itertools.count():
                    left = max(0, int((until - time.monotonic()) * 1000))
                    asked = {"text": text, "ms": left, "more": bool(again)}
                    state = await injected.call(frame, "seek", asked)
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
            target = await target_of(self.frames, ref)  # FIND gave it, beyond the snapshot
        async with within(LOOK_SECONDS, "read the page"):
            lines = await lines_around(self.page, self.frames, target)
        for line in lines:
            view.refs.update(line.refs)
        return listed(lines)

    async def context(self) -> PageContext:
        """Give URL, title, selection, focus and visible text."""
        self.check_alive()
        await self.check_place()
        async with within(LOOK_SECONDS, "read the page"):
            return context_of(await raw_context(self.page))

    async def effect(self, ref: str | None, keys: str | None = None) -> str:
        """Tell what clicking `ref`, or pressing `keys` in it, submits by HTML; "" where none does.

        What a script does on it nobody can tell. Without a ref the keys go to what has the focus.
        Raises RefError.
        """
        self.check_alive()
        if keys is not None and not _SUBMITTING_KEYS & set(keys.replace("+", " ").split()):
            return ""
        via = "click" if keys is None else "keys"
        async with within(LOOK_SECONDS, "look at what the action would do"):
            if ref is not None:
                element: ElementHandle | None = (await target_of(self.frames, ref)).element
            else:
                focused = await self.page.evaluate_handle("document.activeElement || document.body")
                element = focused.as_element()
            found = await element.evaluate(_EFFECT, via) if element else ""
        return str(found)

    def named(self, ref: str) -> str:
        """Give role and name of an element as they were last shown; the ref where it was not."""
        return self._view.refs.get(ref, ref) if self._view else ref

    async def challenge(self) -> Challenge | None:
        """Find the captcha on the page, as a solver needs it; None where there is none we know."""
        self.check_alive()
        async with within(LOOK_SECONDS, "read the page"):
            return await challenge_of(self.page)

    async def answer(self, token: str) -> str:
        """Put a solver's token into the page's captcha, and say how; "" where it is gone."""
        self.check_alive()
        async with within(ACT_SECONDS, "answer the captcha"):
            await injected.call(self.page.main_frame, "arm")
            how = await answer_challenge(self.page, token)
            await self.settle()
        return how

    async def screenshot(self, *, whole: bool = False, ref: str | None = None) -> bytes:
        """Take a picture of what is in view, of the whole page or of an element, as PNG."""
        self.check_alive()
        await self.check_place()
        # Chrome takes a picture with the next frame, of which a tab behind another draws none.
        async with within(ACT_SECONDS, "take a screenshot"), drawing(self.page):
            if ref:
                target = await target_of(self.frames, ref)
                return await target.element.screenshot(timeout=ACT_SECONDS * 1000)
            return await self.page.screenshot(timeout=ACT_SECONDS * 1000, full_page=whole)

    async def evaluate(self, function: str, ref: str | None = None) -> ActionOutcome:
        """Run a JavaScript function in the page, or on an element: what it gives, what changed.

        The first line of the changes is its result as JSON. Raises RefError, and `ActionError`
        where it throws.
        """
        given = ""

        async def perform() -> None:
            nonlocal given
            on = (await target_of(self.frames, ref)).element if ref else self.page
            try:
                given = json.dumps(await on.evaluate(function), ensure_ascii=False, default=str)
            except PlaywrightError as error:
                self.check_alive()
                raise ActionError(f"the script failed: {error.message.splitlines()[0]}") from error

        outcome = await self.act_on_page("ran a script", perform)
        shown = given if len(given) <= LONGEST_RESULT else f"{given[:LONGEST_RESULT]}…"
        return replace(outcome, changes=f"{shown}\n{outcome.changes}".strip())

    async def drop(
        self, ref: str, files: Sequence[Path] = (), data: Mapping[str, str] | None = None
    ) -> ActionOutcome:
        """Drop files, or data by MIME type, onto an element as if dragged in from outside."""
        handed = [[file.name, base64.b64encode(file.read_bytes()).decode()] for file in files]

        async def perform(target: Target) -> None:
            if not await target.element.evaluate(_DROP, [handed, dict(data or {})]):
                raise ActionError("nothing can be dropped there")

        return await self.act("dropped something on", perform, ref)

    async def answer_dialog(self, *, accept: bool, text: str | None = None) -> ActionOutcome:
        """Answer the dialog that is held open; raises ActionError where none is."""
        dialog, before = self.events.take_held(), self._view
        if dialog is None:
            raise ActionError("no dialog is open")

        async def perform() -> None:
            await (dialog.accept(text) if accept else dialog.dismiss())

        did = f'{"accepted" if accept else "dismissed"} the {dialog.type} "{dialog.message[:80]}"'
        if before is None:
            await perform()
            return await self._done(did, await self.look())
        return await self._done(did, before, perform)

    async def ref_of(self, found: str | ElementHandle) -> str:
        """Give the ref of an element, or of the only one that a selector finds.

        Raises RefError where it finds none, or several.
        """
        async with within(LOOK_SECONDS, "find the element"):
            if not isinstance(found, str):
                return str(await injected.call(self.page.main_frame, "register", found))
            try:
                elements = await self.page.query_selector_all(found)
            except PlaywrightError as error:
                raise RefError(f"{found!r} is no ref of this page, and no selector") from error
            if len(elements) != 1:
                raise RefError(f"{found!r} finds {len(elements) or 'no'} elements")
            return str(await injected.call(self.page.main_frame, "register", elements[0]))

    async def pictures(self) -> tuple[bytes, ...]:
        """Show what is in view, refs drawn on it, as JPEG; without too if they hide a thing."""
        self.check_alive()
        await self.check_place()
        async with within(ACT_SECONDS, "take a picture"), drawing(self.page):
            return await marked_pictures(self.page, ACT_SECONDS)

    async def rendered_html(self) -> str:
        """Give what a person sees of the page as HTML, styles applied."""
        self.check_alive()
        await self.check_place()
        return await rendered_html(self.page)

    async def identify(self, ref: str) -> dict[str, str]:
        """Say what tells a ref's element again in another load: role, name, attributes, path.

        Raises RefError where it is gone, or stands in a frame.
        """
        target = await target_of(self.frames, ref)
        if target.frame is not self.page.main_frame:
            raise RefError(f"{ref} stands in a frame of its own")
        found: dict[str, str] = await injected.call(target.frame, "identify", target.element)
        return found

    async def identified(self, known: Mapping[str, str]) -> str:
        """Give the HTML of an element that `identify` told of; empty where it is gone."""
        async with within(LOOK_SECONDS, "read the page"):
            return str(await injected.call(self.page.main_frame, "identified", dict(known)) or "")

    async def html(self) -> str:
        """Give the DOM as it stands, scripts included: sites leave in them what they hold."""
        self.check_alive()
        await self.check_place()
        async with within(LOOK_SECONDS, "read the page"):
            return await self.page.content()

    async def stored(self) -> Stored:
        """Give the browser's cookies and what this page's site keeps."""
        self.check_alive()
        async with within(LOOK_SECONDS, "read what the site keeps"):
            return await stored_by(self.page)

    async def answers(self, seconds: float) -> bool:
        """Whether the page's own thread is free: not in a script without end, nor crashed."""
        if self.events.crashed or self.events.closed:
            return False
        try:
            async with within(seconds, "ask the page"):
                await self.page.evaluate("1")
        except BrowserError:
            return False
        return True

    async def close(self) -> None:
        """Close the tab; raises DeadlineExceeded when it does not let itself be closed."""
        async with within(CLOSE_SECONDS, "close the tab"):
            await self.page.close()

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
            plain = did == "clicked" and not hold
            return missed or (await controls.pressed(self, target, before) if plain else "")

        return await self.act(f"{'-'.join((*hold, did))}", perform, ref, dialog)

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
            target = await user_input.meant_by(target, "fieldIn")
            before = await user_input.state_of(target)
            if instead:
                await user_input.select_text(self.page, target.frame, instead, target.element)
                await user_input.overtype(self.page, text)
            elif append:
                await user_input.add(self.page, target, text, before["kind"])
            else:
                await user_input.fill(self.page, target, text, before)
            said = await controls.typed(self, target, before, text, whole=not (append or instead))
            if submit:
                await self.page.keyboard.press("Enter")
            return said

        return await self.act(
            "typed and submitted" if submit else "typed into", perform, ref, dialog
        )

    async def type_secret(
        self, ref: str, value_for: Callable[[str], str | None], *, submit: bool = False
    ) -> ActionOutcome:
        """Put a secret into a password field of the page itself, never of a frame in it.

        `value_for` gives it for the page's address, None where it may not be typed there. Raises
        ActionError, which does not hold the value.
        """

        async def perform(target: Target) -> str:
            field = await user_input.state_of(target)
            if target.frame != self.page.main_frame or not field["secret"]:
                raise ActionError(
                    "a secret goes into a password field of the page itself, and this is none"
                )
            value = value_for(target.frame.url)
            if value is None:
                raise ActionError("no secret of that name may be typed on this site")
            await user_input.fill(self.page, target, value, field)
            if submit:
                await self.page.keyboard.press("Enter")
            return ""

        return await self.act("typed a secret into", perform, ref)

    async def clear(self, ref: str) -> ActionOutcome:
        """Empty a field."""

        async def perform(target: Target) -> str:
            before = await user_input.state_of(target)
            await user_input.fill(self.page, target, "", before)
            return await controls.typed(self, target, before, "", whole=True)

        return await self.act("cleared", perform, ref)

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

        async def perform(target: Target) -> str:
            target = await user_input.meant_by(target, "drawnFor")
            label = await user_input.choose(target, value)
            if label is None:
                return await controls.choose_shown(self, target, value)
            return await controls.chosen(self, target, label)

        return await self.act(f"selected {value!r} in", perform, ref)

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

        async def perform(target: Target) -> None:
            await user_input.hover(self.page, target, at)

        return await self.act("hovered", perform, ref, moving=True)

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
                end = await user_input.point_of(await target_of(self.frames, to), covered=True)
                way = [end, (end[0] + ASIDE, end[1] + ASIDE)]
            else:
                way = [(x + by[0], y + by[1])]
            await user_input.drag(self.page, start, way, seconds)

        did = f"drew {len(path)} points on" if path else f"dragged to {to or by}"
        outcome = await self.act(did, perform, ref, moving=True)
        if outcome.changes or not all(said.startswith(FLASHED) for said in outcome.events):
            return outcome
        drawn = path or self.named(ref).startswith("canvas")
        said = "what it drew was not read back" if drawn else "but nothing on the page changed"
        return replace(outcome, did=f"{outcome.did}, {said}")

    async def highlight(self, text: str, ref: str | None = None) -> ActionOutcome:
        """Select a text with the pointer, in an element or anywhere on the page.

        Raises ActionError where it does not stand there.
        """
        if ref is None:
            return await self.act_on_page(
                f"highlighted {text!r}", lambda: self._highlight(text), moving=True
            )
        return await self.act(
            f"highlighted {text!r} in",
            lambda target: user_input.select_text(self.page, target.frame, text, target.element),
            ref,
            moving=True,
        )

    async def _highlight(self, text: str) -> None:
        """Select a text where it stands first, the frames inside the page after the page itself."""
        for frame in await shown_frames(self.page):
            with suppress(ActionError):
                await user_input.select_text(self.page, frame, text)
                return
        raise user_input.not_there(text)

    async def scroll(
        self, pages: float = 1.0, ref: str | None = None, *, to: str | None = None
    ) -> ActionOutcome:
        """Scroll by screens (negative: up), or to `top`, `bottom` or a text.

        With `ref` that element scrolls, or what scrolls around it; the wheel is turned over what
        has no bar.
        """
        if to is not None and to not in {"top", "bottom"}:
            return await self.act_on_page(f"scrolled to {to!r}", lambda: self._to_text(to))
        if ref is None:
            outcome = await self.act_on_page(
                "scrolled", lambda: self._scroll(self.page.main_frame, None, pages, to)
            )
        else:
            outcome = await self.act(
                "scrolled", lambda it: self._scroll(it.frame, it.element, pages, to), ref
            )
        if outcome.changes or not outcome.did.endswith(user_input.BY_WHEEL):
            return outcome
        return replace(outcome, did=f"{outcome.did}, but nothing on the page changed")

    async def _scroll(
        self, frame: Frame, element: ElementHandle | None, pages: float, to: str | None
    ) -> str:
        asked = {"element": element, "pages": pages, "to": to}
        moved = await injected.call(frame, "scroll", asked)
        if isinstance(moved, dict):
            far = {"top": -user_input.FAR, "bottom": user_input.FAR}.get(to or "")
            return await user_input.wheel(self.page, element, far or pages * moved["screen"])
        return "" if moved else "but nothing moved: it is at its end"

    async def upload(self, ref: str, files: Sequence[str | os.PathLike[str]]) -> ActionOutcome:
        """Put local files into a file field, or into the one that a button opens."""
        paths = [Path(file) for file in files]

        async def perform(target: Target) -> None:
            await user_input.upload(self.page, target, paths)

        names = ", ".join(path.name for path in paths)
        return await self.act(f"uploaded {names} to", perform, ref)

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
                    await self._download_begins(coming, outcome)
                return await self.events.downloads[before]
        finally:
            coming.cancel()

    async def _download_begins(
        self, coming: asyncio.Future[Download], outcome: ActionOutcome
    ) -> None:
        gone = outcome.changes or outcome.events
        await asyncio.wait({coming}, timeout=0 if gone else FIRST_BYTE_SECONDS)
        if not coming.done():
            raise ActionError(
                f"{outcome.did} brought no file", hint=f"READ {self.url} where the file is shown."
            )

    async def back(self) -> ActionOutcome:
        """Go back in the tab's history."""
        return await self.act_on_page("went back", lambda: self._history("go_back"))

    async def forward(self) -> ActionOutcome:
        """Go forward in the tab's history."""
        return await self.act_on_page("went forward", lambda: self._history("go_forward"))

    async def reload(self) -> ActionOutcome:
        """Load the page again."""
        return await self.act_on_page("reloaded", lambda: self._history("reload"))

    async def wait_for(self, text: str = "", deadline: float = ACT_SECONDS) -> ActionOutcome:
        """Wait until a text, or a `/pattern/`, stands on the page as a snapshot shows it.

        Without a text all of the time is waited. Raises DeadlineExceeded when it does not come.
        """
        before = self._view or await self.look()
        async with within(deadline + ACT_SECONDS, f"wait for {text!r}"), drawing(self.page):
            if not text:
                await asyncio.sleep(deadline)
                return await self._done(f"waited {deadline:g} s", before)
            wanted, until = wanted_in(text), time.monotonic() + deadline
            while not wanted((await self.look()).shown):
                if time.monotonic() > until:
                    said = f"{text!r} did not come within {deadline:g} s"
                    raise DeadlineExceeded(said, hint="SNAPSHOT shows what is there.")
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
        return await self._done(f"waited for {text!r}", before)

    async def _to_text(self, text: str) -> None:
        found = self.page.get_by_text(text).first
        try:
            await found.scroll_into_view_if_needed(timeout=user_input.POINTER_MS)
        except PlaywrightError as error:
            said = f"{text!r} does not stand there"
            raise ActionError(said, hint="FIND looks for it in long lists too.") from error

    async def _history(self, way: str) -> None:
        await getattr(self.page, way)(wait_until="domcontentloaded", timeout=ACT_SECONDS * 1000)
