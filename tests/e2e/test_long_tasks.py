"""Long work that makes progress is not limited: a thirty-page list, a form with 25 fields."""

from __future__ import annotations

import re

import pytest

from agent import research
from agent.journal.events import read_events
from agent.journal.runs import Runs
from agent.models.base import ModelReply
from tests.browser.page.pages import serve_pages

PAGES, FIELDS = 30, 25
LIST = f"""<title>Boats</title><h1>Boats</h1><ul id=l></ul><button id=n>Next</button><script>
let at = 0;
const draw = () => l.innerHTML = "<li>Boat number " + ++at + " of the fleet</li>";
n.onclick = () => at < {PAGES} && draw(); draw();
</script>"""
FORM = "<title>Form</title><h1>Form</h1>{}<button onclick=\"document.title='sent'\">Send</button>"
_REF = re.compile(r"\[(e\d+) (textbox|button): ([^\]=,]+)")


class Working:
    """Opens a page, performs one action after another with what it saw, and gives up."""

    name = "working"

    def __init__(self, url, then):
        self._url, self._then = url, then
        self._calls = None
        self.said = []

    async def reply(self, system, messages):
        seen = messages[-1].content
        self.said.append(seen)
        if len(messages) == 1:
            return ModelReply(f"<<TOOL:OPEN:{self._url}>>")
        if self._calls is None:
            refs = {m[3].strip(): m[1] for m in _REF.finditer(seen)}
            self._calls = iter(self._then(refs))
        return ModelReply(next(self._calls, "NOT_FOUND All was done."))

    def takes(self, task):
        return task == "heed"

    async def aclose(self):
        pass


def turning(refs):
    for _ in range(PAGES - 1):
        yield f"<<TOOL:CLICK:{refs['Next']}>>"


def filling(refs):
    for number in range(1, FIELDS + 1):
        ref = refs[f"Field {number}"]
        yield f'<<TOOL:TYPE:{{"ref":"{ref}","text":"same"}}>>'
    yield f"<<TOOL:CLICK:{refs['Send']}>>"


@pytest.mark.parametrize(
    ("body", "then", "last"),
    [
        (LIST, turning, f"Boat number {PAGES} of the fleet"),
        (
            FORM.format("".join(f"<p><label>Field {n} <input></label>" for n in range(1, 26))),
            filling,
            "sent",
        ),
    ],
    ids=["list", "form"],
)
@pytest.mark.sample(1)
@pytest.mark.soak
async def test_long_tasks_finish_successfully(tmp_path, body, then, last):
    with serve_pages() as pages:
        pages.put(body, "/work")
        model = Working(f"{pages.base}/work", then)
        report = await research(
            "Do all of it.",
            model=model,
            allow_private=[f"127.0.0.1:{pages.port}"],
            data_dir=tmp_path / "data",
            memory=False,
            max_steps=60,
        )
    events = list(read_events(Runs(tmp_path / "data").find(report.run).journal))
    assert [event.data for event in events if event.type == "guard.noticed"] == []
    assert report.status == "not_found"
    assert last in model.said[-1]
