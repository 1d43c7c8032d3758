"""The page in the real browser: every function, wide and at 390 px, and no text of a run obeyed."""

from __future__ import annotations

import json
import re

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from agent.jobs.job import JobSpec
from agent.jobs.jobs import Jobs
from agent.jobs.monitor_checks import check_monitor
from tests.conftest import COMMAND
from tests.loopback import Handler, serving
from tests.serve.conftest import QUESTION, TOKEN
from tests.users_chrome import driven_chrome

PATIENCE = 120_000
"""Milliseconds until something counts as missing; nothing here takes long."""
expect.set_options(timeout=PATIENCE)
HOSTILE = (
    '<img src=x onerror="window.hit=1"><script>window.hit=1</script>{{7*7}} [x](javascript:hit)'
)


@pytest.fixture
async def entered(new_context):
    """Open authorised browsers; script errors fail the test."""
    wrong = []

    async def entering(served, width=390, scheme="light"):
        size = {"width": width, "height": 800}
        page = await (await new_context(viewport=size, color_scheme=scheme)).new_page()
        page.set_default_timeout(PATIENCE)
        await page.context.request.post(served.url, form={"token": TOKEN})
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: wrong.append(m.text) if "Content Security" in m.text else None)
        await page.goto(served.url)
        return page

    yield entering
    assert wrong == []


@pytest.fixture
async def page(served, entered):
    return await entered(served)


@pytest.fixture(scope="module")
def scripted(start, home):
    """A server whose model's replies are set by the test: `(server, say)`."""
    script = home / "script.jsonl"
    script.write_text("")

    def say(*replies):
        script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))

    return start("--model", f"scripted:{script}", data="scripted")[0], say


async def ask(page, question):
    await page.get_by_label("What do you want to know?").fill(question)
    await page.get_by_role("button", name="Ask", exact=True).click()
    await page.wait_for_url("**/runs/*")
    return page.url.rpartition("/")[2]


def tool_results(served, run):
    journal = (served.data / "runs" / run / "journal.jsonl").read_text()
    events = map(json.loads, journal.splitlines())
    return [e["data"]["data"] for e in events if e["type"] == "tool.result"]


async def no_overflow(page):
    """Nothing is wider than the window, on a phone and on a desktop."""
    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 800})
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_question_can_be_asked_and_quotes_opened_by_keyboard(page):
    await page.get_by_label("What do you want to know?").focus()
    await page.keyboard.type(QUESTION)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/runs/*")
    answer = page.locator("#report .answer")
    await expect(answer).to_contain_text("184 metres")
    await expect(page.locator("#live")).to_be_hidden()
    await answer.locator("a.cite").focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    await expect(dialog.locator("mark")).to_contain_text("184 metres")
    await page.keyboard.press("Tab")
    await dialog.get_by_role("button", name="Show the whole page").focus()
    await page.keyboard.press("Enter")
    frame = page.frame_locator("dialog iframe")
    await expect(frame.locator("mark#words")).to_contain_text("184 metres")
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await no_overflow(page)


async def test_runs_can_be_found_tagged_compared_and_repeated(page, served, finished):
    await page.goto(f"{served.url}/runs/{finished}")
    await page.get_by_label("Tags").fill("lamp, sea")
    async with page.expect_response("**/tags"):
        await page.get_by_role("button", name="Save").click()
    await page.get_by_role("button", name="Ask again and compare").click()
    await page.wait_for_url("**/diff/**")
    await expect(page.locator("h1")).to_have_text("The answer is the same")
    await page.goto(f"{served.url}/library?q=metr")
    assert await page.locator(".found mark").count()
    await page.get_by_role("link", name=re.compile("^lamp")).first.click()
    await expect(page.locator(".runs li")).to_have_count(1)
    await page.goto(f"{served.url}/library")
    for box in (await page.get_by_role("checkbox").all())[:2]:
        await box.check()
    await page.get_by_role("button", name="Compare two").click()
    await page.wait_for_url("**/diff/**")
    await no_overflow(page)


async def test_memories_can_be_added_trusted_and_deleted(page, served, finished):
    await page.goto(f"{served.url}/memory")
    await page.get_by_label("Name").fill("ship")
    await page.get_by_label("Text", exact=True).fill("the Petrel")
    await page.get_by_role("button", name="Remember").click()
    row = page.locator(".memories li", has_text="the Petrel")
    await row.get_by_role("button", name="forget").click()
    await expect(row).to_have_count(0)
    row = page.locator(".memories li", has=page.get_by_role("button", name="trust")).first
    row = page.locator(f".memories li[data-id='{await row.get_attribute('data-id')}']")
    await expect(row.locator(".unsure")).to_be_visible()
    await row.get_by_role("button", name="trust").click()
    await expect(row.locator(".unsure")).to_have_count(0)
    await no_overflow(page)


@pytest.mark.parametrize(
    ("width", "scheme", "paths"),
    [  # each view once, each width with each theme
        (1280, "light", ["/runs/{run}", "/jobs"]),
        (1280, "dark", ["/library?q=sunnock", "/settings"]),
        (390, "light", ["/memory"]),
        (390, "dark", ["/", "/runs/{run}"]),
    ],
)
async def test_views_have_no_accessibility_violations(
    entered, served, finished, width, scheme, paths
):
    page = await entered(served, width, scheme)
    for path in paths:
        await page.goto(served.url + path.format(run=finished))
        await page.wait_for_load_state("networkidle")
        found = (await Axe().run(page)).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        await no_overflow(page)


async def test_hostile_run_content_is_shown_inert(page, served, finished):
    folder = served.data / "runs" / finished
    hostile = folder.with_name("20200101-000000-evil")
    if not hostile.exists():
        hostile.mkdir()
        (hostile / "blobs").mkdir()
        for name in (folder / "blobs").iterdir():
            body = name.read_bytes().replace(b"</body>", HOSTILE.encode() + b"</body>")
            (hostile / "blobs" / name.name).write_bytes(body)
        (hostile / "journal.jsonl").write_bytes((folder / "journal.jsonl").read_bytes())
        report = json.loads((folder / "report.json").read_text())
        report |= {"run": hostile.name, "question": HOSTILE, "answer": f"{HOSTILE} [1]"}
        report["sources"][0]["title"] = HOSTILE
        report["sources"][0]["url"] = "javascript:window.hit=1"
        report["sentences"][0]["text"] = report["sentences"][0]["reason"] = HOSTILE
        (hostile / "report.json").write_text(json.dumps(report))
        served.client.put(f"/api/runs/{hostile.name}/tags", json={"tags": ["<b onclick=hit()>"]})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for path in ("", "/runs/{}", "/library?q=onerror", "/runs/{}/saved/1", "/diff/{}/" + finished):
        await page.goto(served.url + path.format(hostile.name))
        assert await page.evaluate("window.hit") is None
    assert [url for url in asked if not url.startswith(served.url)] == []
    assert not [url for url in asked if url.endswith("/x")]


async def test_watcher_can_answer_act_in_live_page_and_send_hint(scripted, site, entered):
    """The run waits for an answer; meanwhile its page is viewed and typed in manually."""
    served, say = scripted
    say(
        f"<<TOOL:OPEN:{site.url}/collection>>",
        '<<TOOL:ASK_USER:{"question":"Which bell do you mean?"}>>',
        "<<TOOL:SNAPSHOT>>",
        "The bell is in the collection. [S1]",
    )
    page = await entered(served)
    await page.get_by_label("Plan first").check()
    run = await ask(page, "Where is the bell?")
    plan = page.get_by_label("The plan")
    await expect(plan).to_have_value("- Where is the bell?\n- bell\n")
    await plan.fill("- the fog bell of the collection")
    await page.get_by_role("button", name="Start").click()
    answer = page.get_by_label("Your answer")
    await expect(answer).to_be_visible()
    await page.get_by_label("refs").check()
    await page.get_by_role("button", name="Show the page").click()
    picture = page.locator(".picture img")
    await expect(picture).to_have_attribute("src", re.compile("^data:image/"))
    await expect(page.locator("figcaption")).to_have_text(f"{site.url}/collection")
    await picture.click(position={"x": 60, "y": 60})
    await page.get_by_label("Hint for the model").fill("The one in the hall.")
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_label("Hint for the model")).to_have_value("")
    await expect(page.locator("#activity")).to_have_text("Asking you Which bell do you mean?")
    await answer.fill("the fog bell")
    await answer.press("Enter")
    await expect(page.locator("#report h1")).to_have_text("Where is the bell?")
    results = tool_results(served, run)
    assert results[1]["answer"] == "the fog bell"
    assert "The one in the hall." in [one.get("the_user_says") for one in results]
    await expect(page.locator("#late")).to_be_hidden()


class Harbour(Handler):
    """A page behind a captcha that a click solves, with a button that sends something."""

    def get(self) -> None:
        if self.path == "/robots.txt":
            self.send_error(404)
        else:
            self.send(200, "text/html", WALL if self.path == "/wall" else b"<p>What was read.</p>")

    def post(self, body: bytes) -> None:
        self.server.site.sent += 1
        self.send(200, "text/plain", b"")


class HarbourSite:
    def __init__(self, url: str) -> None:
        self.url, self.sent = url, 0


WALL = b"""<!doctype html><title>Harbour</title>
<button id="send" hidden onclick="fetch('/', {method: 'POST'})">Send the form</button>
<div id="wall" style="position: fixed; inset: 0" onclick="this.remove(); send.hidden = false;
say.textContent = 'The lamp room opens at nine.'"><p>Please complete the captcha below</p>
<button>I'm not a robot</button></div><p id="say"></p>"""


@pytest.fixture
async def attached(start, home, chrome_in_use, playwright):
    """A server whose source is the front tab, with a harbour page to visit: `(server, site)`."""
    script = home / "attached.jsonl"
    with serving(Harbour, HarbourSite) as harbour:
        click = '<<TOOL:CLICK:{"ref":"{{ref:Send the form}}"}>>'
        find = "<<TOOL:FIND:Send the form>>"
        said = [f"<<TOOL:OPEN:{harbour.url}/wall>>", find, click, find, click]
        said.append("The lamp room opens at nine. [S1]")
        script.write_text("".join(json.dumps(reply) + "\n" for reply in said))
        chrome = chrome_in_use.cdp_url
        async with driven_chrome(playwright, chrome) as context:
            await context.pages[0].goto(f"{harbour.url}/")
            flags = ("--model", f"scripted:{script}", "--cdp", chrome)
            host = harbour.url.removeprefix("http://")
            yield start(*flags, "--allow-private", host, data="attached")[0], harbour


async def test_attached_tab_captcha_is_solved_manually_and_actions_are_approved(attached, entered):
    served, harbour = attached
    page = await entered(served)
    await page.get_by_label("Sources").select_option("my open tab")
    run = await ask(page, f"When does the lamp room of {harbour.url}/wall open?")
    asked = page.locator(".question")
    await expect(asked).to_contain_text("solved its captcha in the browser window")
    picture = page.locator(".picture img")  # shown without asking: it is needed
    await expect(picture).to_have_attribute("src", re.compile("^data:image/"))
    async with page.expect_response("**/act"):
        await picture.click()
    await asked.get_by_role("button", name="Yes", exact=True).click()
    await expect(asked).to_contain_text("Send the form")
    first = await asked.get_attribute("data-n")
    await asked.get_by_role("button", name="No", exact=True).click()
    await expect(page.locator(f".question[data-n='{first}']")).to_have_count(0)
    await expect(asked).to_contain_text("Send the form")
    assert harbour.sent == 0
    await asked.get_by_role("button", name="Yes", exact=True).click()
    await expect(page.locator("#report .answer")).to_contain_text("opens at nine")
    results = tool_results(served, run)
    assert "the user refused" in json.dumps(results)
    assert harbour.sent == 1


async def test_run_can_be_stopped_resumed_and_deleted(scripted, entered):
    served, say = scripted
    say('<<TOOL:ASK_USER:{"question":"Which tide?"}>>', "NOT_FOUND")
    page = await entered(served)
    run = await ask(page, "When is high tide?")
    await expect(page.get_by_label("Your answer")).to_be_visible()
    await page.get_by_role("button", name="Stop").click()
    await page.get_by_role("button", name="Resume", exact=False).click()
    await page.get_by_label("Your answer").fill("the spring tide")
    earlier = served.client.get(f"/runs/{run}/parts")
    assert not earlier.text  # the stopped run's report is not shown meanwhile
    await page.get_by_label("Your answer").press("Enter")
    delete = page.get_by_role("button", name="Delete")
    await expect(delete).to_be_visible()
    assert tool_results(served, run)[-1]["answer"] == "the spring tide"
    await delete.click()
    await page.get_by_role("button", name="Delete permanently?").click()
    await page.wait_for_url("**/library")
    await expect(page.locator(f"a[href='/runs/{run}']")).to_have_count(0)
    assert not (served.data / "runs" / run).exists()


async def test_folder_can_be_selected_as_source_by_name(page, served):
    await page.get_by_label("Sources").select_option("folder boats")
    run = await ask(page, "How many crates of herring does the Petrel carry?")
    await expect(page.locator("#report .answer")).to_contain_text("42 crates")
    [source] = served.report(run)["sources"]
    assert source["url"].endswith("petrel.md")
    await expect(page.locator("select[name=source]")).to_have_value("boats")
    followed = served.ask("Which boat carries herring?", continues=run)
    assert {one["via"] for one in served.report(followed)["sources"]} == {"file"}


async def test_files_can_be_attached_keys_stored_and_times_are_local(start, entered, commands):
    served, _ = start(data="filed")
    page = await entered(served)
    note = {"name": "../../pump log.md", "mimeType": "text/markdown"}
    body = b"# Pump log\n\nIda Marrin repaired the pump at Hesk Light on 4 May 2024."
    await page.get_by_label("Files", exact=True).set_input_files({**note, "buffer": body})
    await expect(page.locator(".files li")).to_contain_text("pump log.md")
    dropped = "f => f.dispatchEvent(new DragEvent('drop', {dataTransfer: (() => { const d = new"
    dropped += " DataTransfer(); d.items.add(new File(['crates'], 'b.txt')); return d; })()}))"
    await page.locator("form.ask").evaluate(dropped)
    await page.get_by_role("button", name="Remove b.txt").click()
    run = await ask(page, "Who repaired the pump at Hesk Light?")
    await expect(page.locator("#report .answer")).to_contain_text("Ida Marrin")
    [file] = (served.data / "uploads").glob("*/*pump log.md")
    assert (file.parent.parent.name, file.read_bytes()) == ("uploads", body)
    assert str(file) in (served.data / "runs" / run / "paths.json").read_text()

    await page.goto(f"{served.url}/settings")
    await page.get_by_label("Provider").select_option("groq")
    await page.get_by_label("Key", exact=True).fill("gsk-of-a-test")
    await page.get_by_role("button", name="Store the key").click()
    await expect(page.get_by_text("The key is stored.")).to_be_visible()
    await page.goto(served.url)
    offered = page.get_by_label("Model").locator("option")
    await expect(offered).to_have_text(["groq/llama-3.3-70b-versatile", "none: quote passages"])
    time = page.locator(".runs time").first
    at = await time.get_attribute("datetime")
    form = "at => new Date(at).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'})"
    await expect(time).to_have_text(await page.evaluate(form, at))
    # The servers of other tests have the same settings, and no key.
    assert commands.run(str(COMMAND), "keys", "rm", "groq", env=served.env).returncode == 0


async def test_printed_report_omits_steps_and_controls(page, served, finished):
    await page.goto(f"{served.url}/runs/{finished}")
    await page.emulate_media(media="print")
    await expect(page.locator("#report .answer")).to_be_visible()
    for part in (".top", "#after", "#report .timeline", "#live"):
        for one in await page.locator(part).all():
            await expect(one).to_be_hidden()


async def test_schedule_can_be_added_run_now_and_deleted(page, served):
    await page.goto(f"{served.url}/jobs")
    again = page.get_by_role("region", name="Schedules")
    await again.get_by_label("Question").fill("What changed on the ferry?")
    await again.get_by_label("When").fill("sometimes")
    await again.get_by_role("button", name="Schedule").click()
    await expect(again.get_by_role("alert")).to_contain_text("cannot parse the time")
    await again.get_by_label("When").fill("every weekday at 8")
    await again.get_by_label("Time zone").fill("Europe/Berlin")
    await again.get_by_role("button", name="Schedule").click()
    row = again.get_by_role("listitem").filter(has_text="on the ferry?")
    await expect(row).to_contain_text("08:00 (Europe/Berlin)")
    await row.get_by_role("button", name="run now").click()
    asked = page.locator("#queue li", has_text="on the ferry?")
    await expect(asked).to_contain_text("schedule what-changed-on-the")
    await asked.get_by_role("button", name="cancel").click()
    await expect(asked).to_contain_text("cancelled")
    await row.get_by_role("button", name="remove").click()
    await expect(row).to_have_count(0)
    await no_overflow(page)


async def test_monitor_shows_page_change_as_diff(page, served, timetable):
    """Its checks are made in the test, with the functions that `research worker` calls."""
    await page.goto(f"{served.url}/jobs")
    watched = page.get_by_role("region", name="Monitors")
    await watched.get_by_label("Address or question").fill(f"{timetable.url}/ferry")
    await watched.get_by_text("Watch only a part").click()
    await watched.get_by_label("CSS selector").fill("p")
    await watched.get_by_role("button", name="Watch").click()
    row = watched.locator(".runs > li", has_text="/ferry")
    await expect(row).to_contain_text("No changes yet")
    rows = served.client.get("/api/monitors").json()
    [found] = [one for one in rows if one["target"] == f"{timetable.url}/ferry"]
    with Jobs.open(data_dir=served.data) as jobs:
        seen = []
        for said in ("nine", "ten"):
            timetable.said = f"The ferry leaves at {said}."
            spec = JobSpec(
                id=said, kind="monitor", question="", run=said, origin=f"schedule:{found['name']}"
            )
            seen.append((await check_monitor(spec, jobs, None, None)).status)
    assert seen == ["first", "changed"]
    await page.reload()
    await expect(row.locator("del")).to_contain_text("The ferry leaves at nine.")
    await expect(row.locator("ins")).to_contain_text("The ferry leaves at ten.")
    await no_overflow(page)
    [change] = served.client.get(f"/api/monitors/{found['name']}").json()["changes"]
    assert "+ The ferry leaves at ten." in change["diff"]
    looks = page.locator("#queue li", has_text="/ferry")
    before = await looks.count()
    await row.get_by_role("button", name="check now").click()
    await expect(looks).to_have_count(before + 1)
    await row.get_by_role("button", name="remove").click()
    await expect(row).to_have_count(0)


async def test_unauthenticated_visitor_is_refused_and_token_does_not_leak(served, new_context):
    page = await (await new_context()).new_page()
    page.set_default_timeout(PATIENCE)
    sent = []
    page.on("request", lambda one: sent.append([one.url, one.headers]))
    answer = await page.goto(f"{served.url}/library")
    assert answer.status == 401
    await page.get_by_label("Token").fill(f"{TOKEN}x")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page).to_have_url(f"{served.url}/")
    await page.get_by_label("Token").fill(TOKEN)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("link", name="Library").click()
    await expect(page.get_by_role("heading", name="Library")).to_be_visible()
    [cookie] = await page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    kept = await (await page.context.new_cdp_session(page)).send("Page.getNavigationHistory")
    assert TOKEN not in json.dumps([cookie, kept, sent])


async def test_question_can_be_queued_paused_and_cancelled(page, served):
    question = f"How high is the tower, at {page.viewport_size['width']}?"
    await page.goto(f"{served.url}/jobs")
    await page.get_by_label("New question").fill(question)
    await page.get_by_role("button", name="Add to queue").click()
    row = page.locator("#queue li", has_text=question)
    await expect(row.locator(".tag")).to_have_text("queued")
    await page.get_by_role("button", name="Pause").click()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.get_by_role("button", name="Pause")).to_be_visible()
    await row.get_by_role("button", name="cancel").click()
    await expect(row.locator(".tag")).to_have_text("cancelled")
    await expect(row.get_by_role("button", name="cancel")).to_have_count(0)
    await no_overflow(page)
