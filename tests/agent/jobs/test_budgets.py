"""Budgets across runs: what is left, a run with nothing left, and a paused queue."""

from __future__ import annotations

import asyncio

import pytest

from agent.config import load_options
from agent.jobs.shared_limits import SharedSpending
from agent.journal.events import Journal, utc_now
from agent.journal.runs import Runs
from agent.journal.usage import Spending
from agent.run.settings import EMPTY_BUDGET, remaining_budget, spendable_usd


@pytest.fixture
def spend(harness):
    """Record a run that cost this much."""

    def spending(usd: float) -> None:
        journal = Journal(Runs(harness.jobs.data_dir).create(utc_now()))
        tokens = {"input_tokens": 1, "cached_tokens": 0, "output_tokens": 1}
        journal.write("model.reply", "1", text="", model="m", usd=usd, **tokens)
        journal.close()

    return spending


def test_run_budget_is_limited_by_remaining_day_and_month(harness, spend):
    def settings(**more: float):
        return load_options({"data_dir": harness.jobs.data_dir, **more})

    spend(2.0)
    spending = Spending(Runs(harness.jobs.data_dir))
    both = {"budget_day": 3.0, "budget_month": 9.0}
    assert remaining_budget(settings(**both), spending) == {"day": 1.0, "month": 7.0}
    spend(0.5)
    assert remaining_budget(settings(**both), spending) == {"day": 0.5, "month": 6.5}
    assert spendable_usd(settings(budget=0.2, budget_day=3.0)) == 0.2
    assert spendable_usd(settings(budget=0.9, budget_month=3.0)) == 0.5
    assert 0 < spendable_usd(settings(budget_day=1.0)) < 1e-6
    assert spendable_usd(settings()) is None


def test_spending_of_other_machines_counts_against_shared_budget(harness, spend, tmp_path, run):
    spend(2.0)
    here, there = (
        SharedSpending(harness.jobs.database, folder)
        for folder in (harness.jobs.data_dir, tmp_path / "another machine")
    )
    for one in (here, there, here):
        one.publish()
    assert there.budgets_after_other_folders({"budget_day": 3.0, "budget_month": 1.5}) == {
        "budget_day": 1.0,
        "budget_month": EMPTY_BUDGET,
    }
    # a machine's own runs are counted locally, so they are not deducted here
    assert here.budgets_after_other_folders({"budget_day": 3.0}) == {"budget_day": 3.0}
    (tmp_path / "config.toml").write_text("budget-day = 3.0\n")
    where = str(tmp_path / "another machine")
    told = run("usage", "--data-dir", where, RESEARCH_JOBS_URL=harness.jobs.database.url)
    assert told.stdout.split()[-1:] == ["$1.00"], told.stderr


async def test_exhausted_budget_pauses_queue_until_it_is_raised(harness, spend, monkeypatch):
    spend(2.0)
    monkeypatch.setenv("RESEARCH_BUDGET_DAY", "1.0")
    monkeypatch.setattr("agent.jobs.upkeep.UPKEEP_S", 0.1)
    async with harness.working():
        job = await harness.until(
            harness.add("Who?", delay=30), lambda _: bool(harness.jobs.paused)
        )
        assert harness.jobs.paused == "the daily budget is used up"
        monkeypatch.setenv("RESEARCH_BUDGET_DAY", "9.0")
        await harness.until(job, lambda _: not harness.jobs.paused)
    await asyncio.to_thread(harness.jobs.cancel, job.id)
