"""A run's expectations, and check files."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from agent.errors import UsageError
from agent.run.expectations import Expectation, read_suite
from agent.types import ConfidenceParts, Report, ReportSource, Sentence, UsageTotals

REPORT = Report(
    run="r",
    question="When?",
    status="answered",
    answer="It was first lit in 1829. [1]",
    confidence=0.8,
    confidence_parts=ConfidenceParts(answers="fully"),
    sentences=[Sentence(text="It was first lit in 1829.", citations=[1], verdict="supported")],
    sources=[
        ReportSource(
            n=1, url="https://www.example.org/light?x=1", fetched_at="", sha256="", via="http"
        )
    ],
    usage=UsageTotals(usd=0.02),
    steps=4,
    elapsed_s=3.5,
)


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"answer": "18\\d\\d"},
        {"answer": ["FIRST lit", "1829"]},
        {"answer": 1829},
        {"not_answer": "1830"},
        {"cite": "https://*.example.org/*"},
        {"cite": "www.example.org"},
        {"cite": "*/light*"},
        {"not_cite": ["*.example.com", "example.org"]},
        {"min_confidence": 0.8, "verified": True},
        {"max_usd": 0.02, "max_steps": 4, "max_seconds": 3.5},
    ],
)
def test_met_expectation_reports_no_failure(expected):
    assert Expectation(**expected).failures(REPORT) == []


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ({"status": "not_found"}, "status is answered, not not_found"),
        ({"answer": ["1829", "1830"]}, "does not match '1830'"),
        ({"not_answer": "18.."}, "matches '18..': '1829'"),
        ({"cite": "*.example.com"}, "no source matches '*.example.com': https://www.example.org"),
        ({"not_cite": "*.org"}, "is cited, but `not_cite` excludes '*.org'"),
        ({"min_confidence": 0.9}, "confidence is 0.80, below 0.90"),
        ({"verified": False}, "the answer is verified"),
        ({"max_usd": 0.01}, "cost $0.0200, above $0.0100"),
        ({"max_steps": 3}, "4 steps, above 3"),
        ({"max_seconds": 3}, "3.5 s, above 3 s"),
    ],
)
def test_unmet_expectation_reports_failure(expected, said):
    (failure,) = Expectation(**expected).failures(REPORT)
    assert said in failure


def test_answer_without_sentences_is_not_verified():
    bare = REPORT.model_copy(update={"sentences": []})
    assert len(Expectation(verified=True).failures(bare)) == 1
    assert Expectation(verified=False).failures(bare) == []


@pytest.mark.parametrize("wrong", [{"answer": "("}, {"min_confidence": 2}, {"anser": "x"}])
def test_invalid_expectation_is_refused(wrong):
    with pytest.raises(ValidationError):
        Expectation(**wrong)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("checks: [", "not valid YAML"),
        ("", "contains no checks"),
        ("- question: x", "contains no checks"),
        ("checks: []", "checks: Tuple should have at least 1 item"),
        ("checks: [{question: a, run: b}]", "either a question or a run"),
        ("checks: [{question: a, expect: {answer: '('}}]", "not a valid regular expression"),
        ("checks: [{question: a, expects: {}}]", "checks.0.expects"),
        ("checks: [{question: a}]\nchecks: [{question: b}]", "not valid YAML"),
    ],
)
def test_invalid_checks_file_reports_location(tmp_path, text, said):
    path = tmp_path / "checks.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said.replace("(", "\\(")):
        read_suite(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("checks:\n  - question: a\n    expect: {answer: '('}\n", ":3: checks.0.expect.answer: "),
        ("checks:\n  - question: a\n\n    expects: {}\n", ":4: checks.0.expects: "),
        ("checks:\n  - question: a\n  - name: b\n", ":3: checks.1: "),
        ("checks:\n  - question: a\n    options:\n      max_step: 3\n", ":4: checks.0.options."),
        ("options:\n  max_steps: many\nchecks: [{question: a}]\n", ":2: options.max_steps: "),
        ("checks:\n  - question: a\n   expect: {}\n", "line 3"),
    ],
)
def test_checks_error_names_its_line(tmp_path, text, said):
    path = tmp_path / "checks.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_suite(path)
    assert said in str(caught.value)
