"""Notices about finished jobs: their targets and texts."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from agent.config import load_options
from agent.export.report_view import saved_text
from agent.notify.notice import Attachment, Notice
from agent.notify.targets import check_target, notify
from browser.net.url import is_web_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent.jobs.job import JobSpec
    from agent.notify.targets import Sender
    from agent.options import Options

    ChannelSenders = Callable[[Options], Mapping[str, Sender]]
    """Returns the channels' notice senders by name, from the current settings."""


def check_targets(targets: Iterable[str]) -> None:
    """Raise `UsageError` for an invalid notification target."""
    settings = load_options({}, config=True)
    for target in targets:
        check_target(target, settings, os.environ, settings.channels)


async def deliver_notice(
    job: JobSpec, outcome: Mapping[str, Any], senders: ChannelSenders | None = None
) -> list[str]:
    """Notify a job's targets that the job has ended; return the targets that failed, with reasons.

    The notice has the same id in every attempt, because a worker may die after sending it but
    before recording that it was sent.
    """
    settings = load_options({}, config=True)
    channel_senders = senders(settings) if senders is not None else None
    deliveries = await notify(
        job.notify, _build_notice(job, outcome), settings, senders=channel_senders
    )
    return [f"{one.target}: {one.detail}" for one in deliveries if not one.sent]


def _build_notice(job: JobSpec, outcome: Mapping[str, Any]) -> Notice:
    name, report = f"notice_{job.workflow}", outcome["report"] or {}
    if job.kind == "remind":
        return Notice(job.question, "", id=name)
    text = saved_text(report) or " ".join(filter(None, (outcome["error"], outcome["hint"])))
    status = outcome.get("badge") or outcome["status"] or outcome["state"]
    if job.kind == "monitor":
        title = f"{job.origin.partition(':')[2]} {status}: {job.question}"
        return Notice(title, text, job.question if is_web_url(job.question) else "", id=name)
    files = (Attachment.from_bytes("report.json", json.dumps(report).encode()),) if report else ()
    return Notice(f"{status}: {job.question}", text, files=files, id=name)
