"""A page's captcha is found with what a solver needs, and its token is put in the right place."""

# ruff: noqa: E501 - the pages are easier to read unbroken

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest
from urchin_extras.twocaptcha import TASK_TYPES

from browser.captchas import SOLVABLE
from browser.types import Challenge

FRAMES = [
    ("recaptcha", "<iframe src='{0}/recaptcha/api2/anchor?ar=1&k=6LcKey-one&size=invisible'></iframe>", {"invisible": True}),
    ("recaptcha", "<iframe src='{0}/recaptcha/enterprise/anchor?ar=1&k=6LcKey-one'></iframe>", {"enterprise": True}),
    ("hcaptcha", "<iframe src='{0}/hcaptcha.com/captcha/v1/hcaptcha.html#frame=checkbox&sitekey=6LcKey-one'></iframe>", {}),
    ("turnstile", "<iframe src='{0}/challenges.cloudflare.com/turnstile/if/ov2/0x6LcKey-one/light/'></iframe>", {}),
]  # fmt: skip
WIDGETS = [
    ("recaptcha", "<div class=g-recaptcha data-sitekey=6LcKey-one data-s=extra></div>", {"data": "extra"}),
    ("hcaptcha", "<div class=h-captcha data-sitekey=6LcKey-one></div>", {}),
    ("turnstile", "<div class=cf-turnstile data-sitekey=6LcKey-one data-action=join data-cdata=c></div>", {"action": "join", "data": "c"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body", "more"), FRAMES + WIDGETS)
@pytest.mark.sample(3)
async def test_challenge_detects_captcha_with_site_key(show, pages, kind, body, more):
    tab = await show(body.format(pages.base))
    key = "0x6LcKey-one" if "0x" in body else "6LcKey-one"
    assert await tab.challenge() == Challenge(kind, key, tab.url, **more)


def test_each_captcha_has_a_kind_and_a_task_of_the_solver():
    kinds = {captcha.kind for captcha in SOLVABLE}
    assert kinds == {*get_args(get_type_hints(Challenge)["kind"])}
    assert {name.partition("-")[0] for name in TASK_TYPES} == kinds


async def test_page_without_captcha_has_no_challenge(show):
    tab = await show("<p>An essay on captchas.</p><div data-sitekey=theme>box</div>")
    assert await tab.challenge() is None


async def test_captcha_in_frame_is_found(show, pages):
    inner = pages.put("<div class=h-captcha data-sitekey=inside></div>")
    tab = await show(f"<iframe src='{pages.other}{inner}'></iframe>")
    found = await tab.challenge()
    assert found
    assert found.site_key == "inside"
    assert await tab.answer_challenge("token") == "filled"


async def test_captcha_token_reaches_widget_callback(show):
    tab = await show("""<div class=g-recaptcha data-sitekey=k data-callback=site.done></div>
      <textarea name=g-recaptcha-response hidden></textarea><p id=said></p>
      <script>site = {done: (t) => said.textContent = `${t} and ${document.querySelector('textarea').value}`}</script>""")
    assert await tab.answer_challenge("token-1") == "callback"
    assert "token-1 and token-1" in (await tab.snapshot()).text


async def test_callback_of_script_rendered_widget_is_found(show):
    tab = await show("""<div class=g-recaptcha data-sitekey=k></div><p id=said></p><script>
      ___grecaptcha_cfg = {clients: {0: {Z: {Z: {sitekey: 'k', callback: (t) => said.textContent = `heard ${t}`}}}}};
      </script>""")
    assert await tab.answer_challenge("token-2") == "callback"
    assert "heard token-2" in (await tab.snapshot()).text


async def test_captcha_form_without_button_is_submitted(show):
    tab = await show("""<form onsubmit="said.textContent = new FormData(this).get('cf-turnstile-response'); return false">
      <div class=cf-turnstile data-sitekey=k></div></form><p id=said></p>""")
    assert await tab.answer_challenge("token-3") == "submitted"
    assert "token-3" in (await tab.snapshot()).text


async def test_captcha_form_with_button_waits_for_click(show):
    tab = await show("""<form onsubmit="said.textContent = hcaptcha.getResponse(); return false"><script>hcaptcha = {}</script>
      <div class=h-captcha data-sitekey=k></div><button>Join</button></form><p id=said></p>""")
    assert await tab.answer_challenge("token-4") == "filled"
    outcome = await tab.click(next(iter((await tab.snapshot()).refs)))
    assert "token-4" in outcome.changes


async def test_vanished_captcha_accepts_no_token(show):
    tab = await show("<p>through</p>")
    assert await tab.answer_challenge("token") == ""
