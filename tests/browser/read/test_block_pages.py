"""What blocks a page is named for what it is."""

from __future__ import annotations

import pytest

from browser.extract import extract
from browser.page.block_pages import find_block_page
from browser.types import Outcome

URL = "https://courier.test/story"
DIALOG = '<div role="dialog" aria-modal="true"><p>We set cookies.</p><button>Fine</button></div>'
LONG = (
    "<p>" + "The boats went round the island in the morning and came back at noon. " * 12 + "</p>"
)


def block_page_of(html):
    return find_block_page(200, URL, URL, html, extract(html, URL))


@pytest.mark.parametrize(
    "dialog",
    [
        DIALOG,
        "<dialog open><h2>Cookies</h2><button>OK</button></dialog>",
        '<section aria-modal="true"><p>Ihre Einwilligung</p></section>',
    ],
)
def test_consent_dialog_over_short_page_is_a_block_page(dialog):
    wall = block_page_of(f"<main><h1>Race</h1><p>Choose first.</p></main>{dialog}")
    assert wall.outcome is Outcome.CONSENT


def test_consent_dialog_over_full_page_is_not_a_block_page():
    assert block_page_of(f"<main><h1>Race</h1>{LONG}</main>{DIALOG}") is None


def test_other_dialog_is_not_a_block_page():
    assert (
        block_page_of('<main><p>Short.</p></main><div role="dialog"><p>Sign up!</p></div>') is None
    )
