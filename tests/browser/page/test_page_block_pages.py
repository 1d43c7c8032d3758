"""What blocks a page is named."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

import pytest

from browser.read.reader import read_rendered
from browser.types import Outcome

ARTICLE = (
    "<article>" + "<p>The tide tables of the harbour were drawn by hand.</p>" * 60 + "</article>"
)
WALLS = [
    (Outcome.OK, f"<h1>How captchas work</h1>{ARTICLE}<form><input type=password></form> Sign in"),
    (Outcome.OK, "<h1>Opening hours</h1><p>Nine to five.</p>"),
    (Outcome.CAPTCHA, "<p>Please complete the captcha below</p><div class=g-recaptcha>box</div>"),
    (Outcome.CAPTCHA, "<div class=h-captcha data-sitekey=x style='height:80px'>box</div>"),
    (Outcome.OK, "<form>Name <input><div class=h-captcha data-sitekey=x style='height:80px'></div></form>"),
    (Outcome.BOT_CHECK, "<h1>Just a moment...</h1><p>Verifying you are human.</p>"),
    (Outcome.LOGIN, "<h1>Log in</h1><form><input name=u><input type=password></form>"),
    (Outcome.PAYWALL, "<p>It began in</p><div class=paywall-box style='height:80px'>Subscribe to continue reading</div>"),
    (Outcome.BLOCKED, "<h1>Access denied</h1><p>You do not have permission.</p>"),
]  # fmt: skip


@pytest.mark.parametrize(("outcome", "body"), WALLS)
@pytest.mark.sample(4)
async def test_block_pages_are_distinguished_from_content(show, outcome, body):
    tab = await show(body)
    assert (await read_rendered(tab)).outcome is outcome
