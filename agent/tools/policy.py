"""Allows or refuses tool calls, runs them and records them. All calls go through this module.

Whether a call may send text depends on the author of the text. Whether it may act depends on the
open page. Whether its effect may outlast the run depends on what the run has read. A check raises
`ToolError` to refuse a call.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agent.errors import MAX_ERROR_CHARS, ResearchError, ToolError, error_text
from agent.guard.outgoing import FORBIDDEN_REASON, Sent, Sink
from agent.guard.provenance import SEARCH_SITE, Kind, exact_url, site_of
from agent.guard.secret_store import secret_name
from agent.journal.messages import image_rows
from agent.protocol.call_results import cut_texts, to_json
from agent.tools.context import CALL_PLACE, CALL_TIMEOUT, NO_BROWSER, UNKNOWN
from agent.tools.registry import Risk, Tool, ToolResult
from agent.tools.sources import register_tool_result
from agent.tools.user import refusal, require_approval
from agent.types import Image, Observation, has_error
from browser.errors import (
    AttachFailed,
    BrowserError,
    BrowserMissing,
    LaunchFailed,
    OutcomeUnknown,
    RefError,
)
from browser.net.url import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent.tools.context import ToolContext
    from agent.tools.registry import Finish, Registry
    from agent.types import ToolCall
    from browser.page.tab import Tab


class Policy:
    """Runs calls of known tools that pass the checks, and records every call.

    A failed call becomes a result with an error and a hint; it never ends the run. Calls on the
    open page run one at a time, in the order of the reply. If an action on the page fails, later
    actions in the same reply are skipped, because they assumed that it had succeeded.
    """

    def __init__(self, tools: Registry, context: ToolContext) -> None:
        self._tools = tools
        self._context = context
        self._page_turn = asyncio.Lock()
        self._failed_act: dict[str, str] = {}  # step id -> the first tool that failed

    async def run(self, call: ToolCall, place: str) -> Callable[[], Observation]:
        """Run a call. Returns a function that finishes it, to be called in tag order.

        Finishing assigns source numbers, which must not depend on the speed of calls.
        """
        tool = self._tools.get(call.name)
        on_page = tool is not None and (
            tool.on_page or tool.opens_page or (tool.page_without_url and "://" not in call.param)
        )
        async with self._page_turn if on_page else nullcontext():
            started = time.monotonic()
            was_run = False
            try:
                if tool is None:
                    raise self._unknown(call.name)
                arguments, changes = await self._parse_and_check(tool, call, place)
                was_run = True
                result = await self._call(tool, call, place, arguments, changes)
            # Any exception in a tool, even an internal error, becomes a result, so that the run
            # continues.
            except Exception as error:  # noqa: BLE001
                result = _error_result(error)
                if tool is not None and (tool.acts or tool.opens_page):
                    self._failed_act.setdefault(place.rpartition("/")[0], tool.name)
            ms = int((time.monotonic() - started) * 1000)
        return lambda: self._finish(call, place, result, ms, was_run=was_run)

    def _unknown(self, name: str) -> ToolError:
        why_off = self._tools.off.get(name)
        return ToolError(
            f"{name} is off: {why_off}" if why_off else f"Unknown tool: {name}", hint=""
        )

    async def _parse_and_check(
        self, tool: Tool, call: ToolCall, place: str
    ) -> tuple[Any, dict[str, Any]]:
        """Parse a call's parameter and run all checks; raises `ToolError`.

        Returns the arguments and, if any were changed, data about the changes for the call's
        result.
        """
        context = self._context
        CALL_PLACE.set(place)
        if tool.acts and (failed := self._failed_act.get(place.rpartition("/")[0])):
            raise ToolError(
                f"not run: {failed} failed earlier in this reply",
                hint="Read the error, then repeat this call if it still makes sense.",
            )
        arguments, tier = tool.parse(call.param)
        if tier:
            parsed = arguments
            if not isinstance(parsed, dict):
                parsed = arguments.model_dump(mode="json", exclude_unset=True)
            repaired = {"name": call.name, "param": call.param, "tier": tier, "into": parsed}
            context.record("call.repaired", place, **repaired)

        changes: dict[str, Any] = {}
        if not await check_server_tool(context, tool, arguments):
            arguments, changes = await check_outgoing(context, tool, arguments)
        # Before `check_action`, because whether an action needs approval depends on the open page.
        await reopen_page(context, tool, arguments)
        await check_action(context, tool, arguments)
        await check_effect_on_later_runs(context, tool, arguments)
        return arguments, changes

    async def _call(
        self, tool: Tool, call: ToolCall, place: str, arguments: Any, changes: dict[str, Any]
    ) -> ToolResult | Finish:
        """Run the tool of an allowed call; raises `ToolError` or any exception from the tool."""
        context = self._context
        # Recorded before the call: if the run is interrupted here, the call must not be repeated.
        if tool.risk is not Risk.READ:
            context.record("tool.intent", place, name=call.name, param=call.param)
        seconds = context.seconds_left(tool.seconds or context.limits.call_seconds)
        try:
            async with asyncio.timeout(seconds) as timeout:
                # The call extends its own timeout while the user or a solver is working.
                CALL_TIMEOUT.set(timeout)
                result = await tool.run(context, arguments)
        except TimeoutError as error:
            raise _timeout_error(tool, seconds) from error
        if not changes:
            return result

        def with_changes() -> ToolResult:
            finished = result() if callable(result) else result
            return replace(finished, data={**finished.data, **changes})

        return with_changes

    def _finish(
        self,
        call: ToolCall,
        place: str,
        unfinished: ToolResult | Finish,
        ms: int,
        *,
        was_run: bool,
    ) -> Observation:
        """Finish a call, and record it without secrets and with the user's new hints.

        `was_run` is False if the call was refused before its tool ran.
        """
        context, tool = self._context, self._tools.get(call.name)
        clean = context.redactor.text
        try:
            result = unfinished() if callable(unfinished) else unfinished
            if tool is not None and tool.is_source and not has_error(result.data):
                result = register_tool_result(context, call, result)
        except (BrowserError, ResearchError) as error:
            result = _error_result(error)
        data = context.redactor.value(result.data)
        # Cut it, since an error message can be as long as the tool's input.
        if has_error(data):
            data = cut_texts(data, MAX_ERROR_CHARS)
        outcome = Observation(
            call,
            context.with_hints(data),
            # Passages must be verbatim, so a passage that contains a secret is dropped rather than
            # redacted.
            passages=tuple(p for p in result.passages if clean(p.text) == p.text),
            results=tuple(
                replace(r, url=clean(r.url), title=clean(r.title), snippet=clean(r.snippet))
                for r in result.results
            ),
            snapshot=clean(result.snapshot),
            web=clean(result.web),
            label=result.label,
            hint=error_text(result.hint) if result.hint else "",
            images=tuple(self._image(picture) for picture in result.pictures),
            was_run=was_run,
            **(tool.describe(call) if tool else {}),
        )
        if outcome.get("outcome") == UNKNOWN:
            context.record("tool.outcome_unknown", place, name=call.name, param=call.param)
        blobs = {name: context.store_bytes(body) for name, body in result.blobs}
        context.record("tool.result", place, **result_event_data(outcome, ms, blobs))
        return outcome

    def _image(self, picture: bytes) -> Image:
        kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
        return Image(kind, picture, self._context.store_bytes(picture))


def result_event_data(
    result: Observation, ms: int = 0, blobs: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the data for a `tool.result` event: everything that a replay needs.

    The web text begins with the snapshot, so only the snapshot's length in characters is stored.
    """
    has_snapshot = result.web.startswith(result.snapshot)
    observed = {
        "images": image_rows(result.images),
        "passages": [passage.id for passage in result.passages],
        "results": [[hit.url, hit.title, hit.snippet] for hit in result.results],
        "snapshot": len(result.snapshot) if has_snapshot else 0,
    }
    return {
        "name": result.tool,
        "param": result.call.param,
        "data": json.loads(to_json(result.data)),
        "capped": result.capped,
        "web": result.web,
        "label": result.label,
        "hint": result.hint,
        "ms": ms,
        "blobs": blobs or {},
        **({} if result.was_run else {"made": False}),
        **({"traits": sorted(result.traits)} if result.traits else {}),
        **({"request": result.request} if result.request else {}),
        **{name: value for name, value in observed.items() if value},
    }


_CHECK_EFFECT_HINT: Final = "It is not repeated. Check whether it took effect."


def unknown_outcome() -> ToolResult:
    """Create the result of an interrupted call; tells the model to check its effect, not repeat."""
    why = "outcome unknown: the run was interrupted while this was in progress"
    return ToolResult({"error": why, "outcome": UNKNOWN}, hint=_CHECK_EFFECT_HINT)


def _timeout_error(tool: Tool, seconds: float) -> ToolError | OutcomeUnknown:
    """Create the error for a call that timed out; an action may have taken effect."""
    why = f"no answer within {seconds:.0f} s"
    if not tool.acts:
        return ToolError(why)
    error = OutcomeUnknown(tool.name, why)
    if not tool.on_page:
        error.hint = _CHECK_EFFECT_HINT
    return error


def _error_result(error: Exception) -> ToolResult:
    data: dict[str, Any] = {"error": str(error) or type(error).__name__}
    if isinstance(error, OutcomeUnknown):
        data["outcome"] = UNKNOWN
    if isinstance(error, RefError) and error.candidates:
        data["candidates"] = list(error.candidates)
    if isinstance(error, AttachFailed | BrowserMissing | LaunchFailed):
        data["outcome"] = NO_BROWSER
    return ToolResult(data, hint=getattr(error, "hint", ""))


# Checks of outgoing text.

_SHARE_HINT = "The user can allow it with --share file|corpus|memory|page|tool."
_OUTGOING_HINTS: Final = {
    Sink.QUERY: f"Use other search words. {_SHARE_HINT}",
    Sink.ADDRESS: "Start at an address in the question, a page or a result, and go on from there.",
    Sink.SITE: "Use words from the question. The user can allow more with --share KIND@SITE.",
    Sink.TOOL: f"Use words from the question. {_SHARE_HINT}",
}


async def check_outgoing(
    context: ToolContext, tool: Tool, arguments: Any
) -> tuple[Any, dict[str, Any]]:
    """Check whether the text that a call sends, as its tool declares, may go to its recipients.

    The user is asked if possible; otherwise, searches are made without the withheld words. Returns
    the arguments and, if any were changed, data about the changes for the call's result. Raises
    `ToolError` with the reason.
    """
    changes: dict[str, Any] = {}
    for sent in tool.sent(context, arguments):
        if sent.sink is Sink.QUERY:
            query = await _checked_query(context, tool, sent)
            if query != sent.text:
                left_out = [word for word in sent.text.split() if word not in query.split()]
                changes["left_out"] = " ".join(left_out)
                arguments = arguments.model_copy(update={sent.field: query})
            continue
        if context.redactor.text(sent.text) != sent.text:
            raise refusal(context, tool.name, FORBIDDEN_REASON)
        site, why = _recipient(context, tool, arguments, sent), ""
        outgoing = context.outgoing
        if sent.sink is Sink.ADDRESS:
            why = outgoing.refusal_of_address(sent.text)
        elif sent.text:
            check = outgoing.refusal_of_keys if sent.continues else outgoing.refusal
            why = check(sent.text, site)
        why = why or outgoing.count_choice(site, sent.bits)
        if why:
            await _approve_sending(context, tool, sent, site, why)
    return arguments, changes


def _recipient(context: ToolContext, tool: Tool, arguments: Any, sent: Sent) -> str:
    """Return the site that will be able to read the text."""
    if sent.sink is Sink.TOOL:
        return tool.site
    if sent.sink is Sink.ADDRESS:
        return site_of(sent.text)
    tab = context.web.tab if context.web else None
    return site_of(getattr(arguments, "url", "")) or (site_of(tab.url) if tab else "")


async def _checked_query(context: ToolContext, tool: Tool, sent: Sent) -> str:
    """Return the query that may be sent: approved by the user, or without the withheld words."""
    query, withheld = context.outgoing.filter_query(sent.text, context.redactor)
    if not withheld:
        return query
    why = "; ".join(f"“{part.text}” ({part.why})" for part in withheld)
    secret = context.redactor.text(sent.text) != sent.text
    approve = None if secret else context.approve
    if approve is not None and await approve(
        f"search for “{sent.text}”, although it contains {why}"
    ):
        context.outgoing.record_approval(sent.text, SEARCH_SITE)
        return sent.text
    if not query or not sent.field:
        raise refusal(context, tool.name, why, _OUTGOING_HINTS[Sink.QUERY])
    clean = context.redactor.text
    context.record("query.withheld", query=clean(sent.text), sent=query, text=clean(why))
    return query


async def _approve_sending(
    context: ToolContext, tool: Tool, sent: Sent, site: str, why: str
) -> None:
    """Ask the user to approve sending text to its recipient; raises `ToolError` if refused."""
    hint = _OUTGOING_HINTS[sent.sink]
    if context.approve is None:
        raise refusal(context, tool.name, why, hint)
    what = f"send “{sent.text}” to" if sent.text else "follow another link on"
    reply = await context.approve(f"{what} {site.rpartition(':')[2] or 'a tool'} ({why})")
    if not reply:
        did = "did not reply" if reply is None else "refused"
        raise refusal(
            context, tool.name, f"the user {did}: {why}", "Continue without sending that text."
        )
    context.outgoing.record_approval(sent.text, site)


# Checks of actions, and of effects that outlast the run.


async def check_action(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Get approval for uploads, and for all actions on sites where the user is logged in.

    A file may be uploaded without approval only if the question names the site and either names the
    file or `--share file` is set.
    """
    web, read = context.web, context.provenance
    if web is None:
        return
    logged_in = read.attached or bool(read.sites)
    if tool.opens_page and logged_in and read.is_personal(arguments.url):
        if not _is_personal_link(context, arguments.url):
            effect = f"open {arguments.url} using this browser's logged-in sessions"
            await require_approval(context, tool.name, effect, site_of(arguments.url))
        return
    if not (tool.acts and tool.on_page) or web.tab is None:
        return
    site, question = site_of(web.tab.url), context.question.casefold()
    files = _file_names(arguments)
    files_named = read.is_shared(Kind.FILE, site) or all(
        name.casefold() in question for name in files
    )
    if files and not (site and site in question and files_named):
        paths = ", ".join(arguments.path.splitlines())
        effect = f"upload {paths} to {site or web.tab.url}"
        await require_approval(context, tool.name, effect, site, kinds=("upload",))
    elif logged_in and (secret := await _named_login(context, tool, arguments)):
        # The user bound the secret to this origin and named it in the question, which counts as
        # approval.
        effect = f"{tool.name} to log in at {web.tab.url}"
        context.record("policy.approved", name=tool.name, effect=effect, by=f"secret {secret}")
    elif logged_in:
        effect, kinds = await _describe_act(web.tab, tool, arguments)
        await require_approval(context, tool.name, effect, site, kinds=kinds)


async def _describe_act(tab: Tab, tool: Tool, arguments: Any) -> tuple[str, tuple[str, ...]]:
    """Return a description of an action and its site for the user, and the action's kinds."""
    fields = arguments.model_dump(exclude_none=True)
    ref, kinds = fields.get("ref"), [tool.approval]
    element = tab.describe(ref) if ref else "the page"
    text = fields.get("text") or ""
    submits = await tab.submitted_form(ref, fields.get("keys")) if tool.may_submit else ""
    if tool.approval == "type" and (secret := secret_name(text)):
        kinds, effect = ["login"], f"log in with the stored secret {secret}: {element}"
    else:
        others = {k: v for k, v in fields.items() if k in arguments.model_fields_set - {"ref"}}
        # A script may contain braces, so arguments must not be used as a format string.
        verb = tool.verb.format(**fields) if tool.verb else f"{tool.name} {others} on"
        effect = f"{verb} {element}"
        if dialog := fields.get("dialog"):
            effect += f", answer its dialog with {dialog!r}"
    if fields.get("submit"):
        submits = "submits the form"
    if submits:
        kinds.append("submit")
        effect += f", which {submits}"
    return f"{effect}, at {tab.url}", tuple(kinds)


async def _named_login(context: ToolContext, tool: Tool, arguments: Any) -> str:
    """Return the stored secret that a call types or submits at the user's request, or "".

    The question must mention it by name, and the page must be from its origin. Only the form with
    the password field into which the secret was typed may be submitted.
    """
    tab = context.web.tab if context.web else None
    if tab is None:
        return ""
    named = [name for name in context.secrets_for(tab.url) if context.question_names_secret(name)]
    if tool.takes_secret:
        wanted = secret_name(arguments.text)
        return wanted if wanted in named else ""
    if not named or not tool.may_submit:
        return ""
    submits = await tab.submits_login(arguments.ref, getattr(arguments, "keys", None))
    return named[0] if submits else ""


def _file_names(arguments: Any) -> list[str]:
    """Return the names of the files that a call uploads."""
    paths = getattr(arguments, "path", "")
    if not isinstance(paths, str):  # the points of a drawn path
        return []
    return [path.replace("\\", "/").rpartition("/")[2] for path in paths.splitlines()]


def _is_personal_link(context: ToolContext, url: str) -> bool:
    """Return whether a URL was given by the user, or by a private page on the URL's site.

    The root URL of a site that the question names also counts.
    """
    if exact_url(url) in context.provenance.personal_links:
        return True
    parsed = parse(url)
    if parsed is None or not parsed.host or parsed.host not in context.question.casefold():
        return False
    # Only the root URL, since any other URL may be invented.
    return parsed.path == "/" and not parsed.query


async def check_effect_on_later_runs(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Get approval for a call that affects or starts later runs, if the run read others' text.

    With `--allow-tasks`, goals and reminders do not need approval as long as all such text came
    from memory.
    """
    provenance = context.provenance
    allowed = context.tasks_allowed and tool.allowed_task and not provenance.has_read_untrusted
    if tool.lasting and provenance.untrusted and not allowed:
        fields = arguments.model_dump(exclude_none=True, exclude_defaults=True)
        shown = ", ".join(f"{key} {value!r}" for key, value in fields.items())
        starts_runs = tool.risk is Risk.EXTERNAL
        effect = f"run {tool.name}" if starts_runs else "change what later runs rely on"
        await require_approval(context, tool.name, f"{effect} ({shown})", act=starts_runs)


async def check_server_tool(context: ToolContext, tool: Tool, arguments: Any) -> bool:
    """Get approval for an MCP tool, unless the user always allows it.

    The effects of such a tool are unknown. The user can approve all tools of its server. Returns
    whether the user saw and approved these arguments.
    """
    if tool.source != "mcp" or tool.always_allowed:
        return False
    known = tool.server in context.approved_sites
    effect = f"call {tool.name} with {to_json(arguments)}"
    await require_approval(context, tool.name, effect, tool.server)
    return not known


# Reopening the page of an interrupted run.


async def reopen_page(context: ToolContext, tool: Tool, arguments: Any) -> None:
    """Reopen the page of an interrupted run before the first call that needs it.

    A call that only views the page continues. A call that acts on it or uses a ref is refused with
    `ToolError`, because the old page's refs and typed text are gone.
    """
    web = context.web
    if web is None or web.interrupted_page is None:
        return
    if tool.opens_page:  # a different page is about to replace it
        web.interrupted_page = None
        return
    needs_page = tool.on_page or tool.page_without_url
    if getattr(arguments, "url", "") or not needs_page:
        return
    page, web.interrupted_page = web.interrupted_page, None
    try:
        web.egress.guard.check_url(page.url)
        async with web.lock:
            browser = await web.start_browser()
            seconds = context.seconds_left(context.limits.read_seconds)
            web.tab = await browser.open(page.url, deadline=seconds, session=page.session)
    except BrowserError as error:
        message = f"the run was interrupted, and {page.url} could not be reopened: {error}"
        raise ToolError(message, hint="OPEN a page.") from error
    message = (
        f"the run was interrupted here and has been resumed: {page.url} was reopened with its "
        "cookies; earlier refs are invalid, and unsent typed text is gone"
    )
    web.tab.events.add(message)
    if tool.acts or getattr(arguments, "ref", None):
        raise ToolError(message, hint="SNAPSHOT shows the page with new refs.")
