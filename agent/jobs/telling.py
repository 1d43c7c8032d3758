"""Who is told that a job has ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent.config import load_options
from agent.jobs.job import JobOutcome
from agent.notify.notice import Attachment, Notice
from agent.notify.targets import notify
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent.config import Options
    from agent.jobs.job import JobSpec
    from agent.notify.targets import Sender

    Ways = Callable[[Options], Mapping[str, Sender]]
    """Gives the further ways to people by the settings as they are now: those of channels."""


async def remind(job: JobSpec, *_: object) -> JobOutcome:
    """Do a job whose whole work is its notice, which is told as that of any job is."""
    return JobOutcome(state="done", status="reminded", report={"answer": job.question})


async def tell(job: JobSpec, outcome: Mapping[str, Any], ways: Ways | None = None) -> list[str]:
    """Tell the targets of a job; gives what did not get there. One told twice has the same id."""
    settings = load_options({}, config=True)
    further = ways(settings) if ways is not None else None
    deliveries = await notify(job.notify, _notice(job, outcome), settings, ways=further)
    return [f"{one.target}: {one.detail}" for one in deliveries if not one.sent]


def _notice(job: JobSpec, outcome: Mapping[str, Any]) -> Notice:
    name, report = f"notice_{job.workflow}", outcome["report"] or {}
    if job.kind == "remind":
        return Notice(job.question, "", id=name)
    text = report.get("answer") or " ".join(filter(None, (outcome["error"], outcome["hint"])))
    said = outcome["status"] or outcome["state"]
    if job.kind == "monitor":
        title = f"{job.origin.partition(':')[2]} {said}: {job.question}"
        return Notice(title, text, job.question if is_web_url(job.question) else "", id=name)
    files = (Attachment.named("report.json", json.dumps(report).encode()),) if report else ()
    return Notice(f"{said}: {job.question}", text, files=files, id=name)
