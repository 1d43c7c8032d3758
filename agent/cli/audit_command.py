"""`research audit`: check a draft against its sources."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from agent.cli.ask import run_to_end
from agent.cli.flags import EXISTING_FILE, option, output_flags, run_flags, service_option
from agent.cli.terminal import print_error
from agent.config import load_options
from agent.errors import CHECK_FAILED, NOT_VERIFIED, WebOutOfReach
from agent.export.report_view import faults, sentences_to_check
from agent.run.audit import audit as audit_draft
from agent.run.outcome import EXIT_CODES

if TYPE_CHECKING:
    from pathlib import Path

    from agent.types import Report


def _has_no_readable_reference(report: Report) -> bool:
    """Return whether no reference could be checked; dead links count as checked."""
    states = {reference.state for reference in report.references}
    return bool(states) and states <= {"not_read", "not_checked"}


@click.command()
@click.argument("draft", type=EXISTING_FILE, metavar="FILE")
@option(
    ("--bib", "bibliography"), "FILE", "Bibliography for resolving `[@key]`.", type=EXISTING_FILE
)
@service_option
@run_flags("--model", "--judge", "--base-url", "--allow", "--deny", "--budget", "--data-dir")
@output_flags
def audit(draft: Path, bibliography: Path | None, **flags: Any) -> int:
    """Check each sentence of FILE (.md .html .docx .pdf .bib …) against the sources it cites.

    Also checks whether each reference is reachable, has moved, is archived, matches a known
    publication or has been retracted. The report is written next to the draft (FILE.audit.html)
    unless --export names other files. Exits with code 8 if a check fails. With --require-verified,
    also exits with code 8 if a figure, date or name in a sentence is missing from the source that
    it cites, and with code 4 if a sentence is not verified.
    """
    flags["export"] = flags["export"] or (draft.with_name(f"{draft.name}.audit.html"),)
    required = flags.pop("require_verified")
    settings = load_options(
        {"data_dir": flags["data_dir"], "require_verified": required}, config=True
    )
    start = partial(audit_draft, draft, bibliography=bibliography, config=True)
    reports: list[Report] = []
    required = settings.require_verified
    code = run_to_end(start, flags, settings.data, required=required, on_report=reports.append)
    if code == EXIT_CODES["answered"] and any(map(_has_no_readable_reference, reports)):
        print_error("no reference could be read, so nothing was checked", WebOutOfReach.hint)
        return WebOutOfReach.exit_code
    wrong = any(faults(one) or (required and sentences_to_check(one)) for one in reports)
    # An interrupted or failed run keeps its own exit code.
    return CHECK_FAILED if wrong and code in (EXIT_CODES["answered"], NOT_VERIFIED) else code
