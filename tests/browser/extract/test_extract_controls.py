"""The controls of a page's content are named; those of its frame are not."""

from __future__ import annotations

from browser.extract import extract

URL = "http://isles.example/berths"
FRAME = (
    '<header><form role="search"><input type="search" aria-label="Search the isles"></form>'
    "</header>"
)


def controls(main: str) -> tuple[str, ...]:
    page = f"{FRAME}<main><h1>Berths</h1>{main}</main><footer><button>Subscribe</button></footer>"
    return extract(page, URL).controls


def test_fields_are_named_by_their_labels() -> None:
    form = (
        "<label>Length in metres <input></label>"
        '<label for="n">Nights</label><input type="number" id="n">'
    )
    assert controls(form) == ("textbox Length in metres", "spinbutton Nights")


def test_invisible_label_is_marked_label_only() -> None:
    fields = "<input aria-label=Depth><input title=Draught><input aria-label=Flag placeholder=Land>"
    assert controls(fields) == (
        "textbox Depth (label only)",
        "textbox Draught (label only)",
        "textbox Land",
    )


def test_select_is_listed_with_its_options() -> None:
    choice = "<label>Season <select><option>Summer</option><option>Winter</option></select></label>"
    assert controls(choice) == ("select Season: Summer; Winter",)


def test_content_search_box_is_listed_but_site_search_is_not() -> None:
    own = '<form role="search"><input type="search" placeholder="Search the catalogue"></form>'
    assert controls(own) == ("searchbox Search the catalogue",)


def test_table_sort_buttons_are_not_listed() -> None:
    assert controls("<table><tr><th><button>Depth</button></th></tr></table>") == ()


def test_hidden_control_is_not_listed() -> None:
    assert controls("<button hidden>Close</button><button>Show more</button>") == (
        "button Show more",
    )


def test_at_most_eight_controls_are_listed() -> None:
    assert len(controls("".join(f"<button>Entry {n}</button>" for n in range(20)))) == 8
