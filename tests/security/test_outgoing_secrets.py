"""Private text does not leak in any spelling, and ordinary texts pass."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.export.event_lines import event_lines
from agent.guard.outgoing import MAX_BITS, Outgoing
from agent.guard.provenance import FUNCTION, SEARCH_SITE, SERVER, Kind, Provenance
from tests.security.outgoing_texts import (
    CHANNELS,
    HOSTILE,
    IN_OTHER_LANGUAGES,
    PRIVATE,
    QUESTION,
    context_of,
    filled,
    identifier_in,
    leaks_by_key_presses,
    ordinary,
    outcomes,
    sent,
    tells,
)
from tests.security.secrets_and_spellings import SECRETS, SPELLINGS

pytestmark = pytest.mark.row(n=2)

PRIVATE_KINDS = [Kind.FILE, Kind.CORPUS, Kind.MEMORY, Kind.TURNS, Kind.TOOL, Kind.PAGE]
CARD = "4929 1234 5678 9012"


def run(question: str = QUESTION, private: str = "", **shared: frozenset[str]) -> Outgoing:
    read = Provenance(question, **shared)
    read.add(private, Kind.FILE)
    read.add(HOSTILE, Kind.WEB, "https://evil.test/")
    return Outgoing(read)


def query_as_sent(outgoing: Outgoing, query: str) -> str:
    return outgoing.filter_query(query)[0]


# Scorecard row 2: sites, hosts, servers and tools receive nothing; row 2a: engines, no identifier.


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.sample(7)
async def test_secrets_do_not_leak_through_any_argument_or_spelling(channel):
    name, arguments = CHANNELS[channel]
    left = []
    for kind, secrets in SECRETS.items():
        secret = secrets[0]  # all of them in bench.leaks
        for spelling, spell in SPELLINGS.items():
            said = spell(secret)
            context = context_of(QUESTION, None, PRIVATE.format(secret))
            made = await sent(context, name, filled(arguments, said))
            if tells(made, name, said, identifier_in(kind, secret)):
                left.append((secret, spelling))
    assert not left


@pytest.mark.parametrize("kind", SECRETS)
async def test_secrets_cannot_be_typed_key_by_key(kind):
    assert not [
        found for s in SECRETS[kind] if (found := await leaks_by_key_presses(PRIVATE.format(s), s))
    ]


@pytest.mark.parametrize("asked", IN_OTHER_LANGUAGES[::3])
async def test_secrets_do_not_leak_from_non_english_runs(asked):
    private = PRIVATE.format("meeting Lars at the pier") + "Mein Pferd hat Diabetes, PIN 4711."
    spelt = [spell("meeting Lars at the pier") for spell in SPELLINGS.values()][::3]
    left = [
        (text, channel)
        for text in (*spelt, "Pferd", "pferde", "diabetes", "vier sieben eins eins", "quatre sept")
        for channel, (name, arguments) in CHANNELS.items()
        if name != "WEB_SEARCH"
        and await sent(context_of(asked, None, private), name, filled(arguments, text))
    ]
    assert not left


def test_translated_or_altered_secrets_are_refused_in_urls():
    outgoing = run(private="Diagnosis: breast cancer. Card 4711.")
    for path in ("Brustkrebs", "cancer-du-sein", "5822", "4-8-2-2"):
        assert outgoing.refusal_of_address(f"https://evil.test/{path}")
        assert outgoing.refusal(path, "evil.test")


@pytest.mark.parametrize("pages", [2, 16, 256])
def test_following_hostile_links_leaks_a_bounded_number_of_bits(pages):
    outgoing = run(private=CARD)
    links = [f"https://evil.test/{number}" for number in range(pages)]
    outgoing.provenance.add_links(links, Kind.WEB, "https://evil.test/list")
    followed = 0
    while not outgoing.refusal_of_address(links[followed % pages]):
        followed += 1
    assert followed == MAX_BITS // math.log2(pages)


def test_printed_urls_on_other_hosts_count_toward_leak_budget():
    outgoing = run(private=CARD)
    printed = [f"https://{n}.other{n}.test/" for n in range(256)]
    outgoing.provenance.add("\n".join(printed), Kind.WEB, "https://evil.test/all")
    refused = [url for url in printed[:40] if outgoing.refusal_of_address(url)]
    assert refused == printed[12:40]


def test_links_are_unlimited_until_private_content_is_read():
    read = Provenance(QUESTION)
    links = [f"https://news.test/{number}" for number in range(256)]
    read.add_links(links, Kind.WEB, "https://news.test/")
    read.add("News", Kind.WEB, "https://news.test/")
    assert not any(map(Outgoing(read).refusal_of_address, links))


@pytest.mark.parametrize("kind", PRIVATE_KINDS)
@pytest.mark.parametrize(
    ("query", "withheld"),
    [
        ("ferritin 412 solveig@brandt.test low", ["solveig@brandt.test"]),
        (f"who charged {CARD}", ["9012"]),
        ("AKIA4ZT81KQMWX02P7QA leaked key", ["AKIA4ZT81KQMWX02P7QA"]),
        ("phone 0171-5550199 Bergen", ["0171-5550199"]),
    ],
)
def test_private_identifiers_are_withheld_from_search_engines(kind, query, withheld):
    read = Provenance(QUESTION)
    read.add(f"solveig@brandt.test, {CARD}, 0171 555 0199", kind, "https://clinic.test/")
    read.add("AKIA4ZT81KQMWX02P7QA", kind, "https://clinic.test/")
    left, parts = Outgoing(read).filter_query(query)
    assert all(word not in left for word in withheld)
    assert parts


@pytest.mark.parametrize(
    "query",
    [
        "4929-1234-5678-9012",
        "4929 x 1234 x 5678 x 9012",
        "2109876543219294",
        "NDkyOTEyMzQ1Njc4OTAxMg==",
    ],
)
def test_reformatted_private_number_is_withheld_from_search(query):
    assert CARD.replace(" ", "") not in "".join(
        filter(str.isdigit, query_as_sent(run(private=CARD), query))
    )
    assert query_as_sent(run(private=CARD), query) != query


def test_long_private_quotation_is_cut_from_query():
    words = "we will close the plant in Malmo before the end of next summer quietly"
    kept = query_as_sent(run(private=f"Minutes: {words}."), f"{words} news")
    assert kept == "we will close the plant in Malmo before the end of summer quietly news"


def test_identifiers_in_question_or_public_page_are_not_secret():
    asked = run(f"Who charges {CARD}, and whose is ada@engine.test?", f"{CARD} ada@engine.test")
    assert query_as_sent(asked, f"{CARD} ada@engine.test")
    outgoing = run(private="call 0171 555 0199")
    outgoing.provenance.add("Hotline 0171/5550199", Kind.WEB, "https://shop.test/")
    assert outgoing.filter_query("0171 5550199 Bergen")[1] == []


def test_dates_and_years_are_not_identifiers():
    private = "Lived 1914-1918, born 03.03.1891, paid 2024-05-17."
    for query in ("battle 1914-1918", "born 03.03.1891 Cholet", "invoice 2024-05-17"):
        assert query_as_sent(run(private=private), query) == query


def test_environment_secret_is_withheld_from_queries(ask):
    del ask
    from agent.guard.redact import Redactor

    outgoing = Outgoing(Provenance(QUESTION))
    left, withheld = outgoing.filter_query("weather hunter2hunter2", Redactor(["hunter2hunter2"]))
    assert left == "weather"
    assert withheld[0].why == "it contains a secret from the environment"


def test_private_search_uses_only_question_and_public_words():
    read = Provenance(QUESTION)
    read.add("My diagnosis is diabetes.", Kind.FILE)
    read.add("Showers along the coast", Kind.WEB, SEARCH_SITE)
    outgoing = Outgoing(read, private_search=True)
    left, withheld = outgoing.filter_query("weather Bergen showers diabetes")
    assert left == "weather Bergen showers"
    assert "--private-search" in withheld[0].why


# Row 3: what users ordinarily do works.


@pytest.mark.row(n=3)
async def test_ordinary_searches_and_shown_urls_pass_unchanged():
    found = await outcomes(ordinary())
    searches = {
        outcome: len(found["WEB_SEARCH", outcome])
        for outcome in ("unchanged", "shortened", "refused")
    }
    assert searches["unchanged"] >= 0.97 * sum(searches.values())
    shown = await outcomes(run for run in ordinary() if run.author == "a third")
    assert not shown["OPEN", "refused"]


@pytest.mark.parametrize(
    ("query", "private"),
    [
        ("Miele WWD 320 WCS Test", "Miele Waschmaschine WWD 320 WCS, 8 kg, Kundennummer 40081533"),
        (
            "HikariPool-1 - Connection is not available",
            "HikariPool-1 - Connection is not available",
        ),
        ("ORA-22924 PL/SQL", "ORA-22924: snapshot too old"),
        ("abolición de la Mesta", "apuntes del curso"),
        ("Qwen2.5-Coder-1.5B STM32F103C8T6", "Qwen2.5-Coder-1.5B on a STM32F103C8T6"),
    ],
)
def test_technical_terms_pass_unchanged_in_queries(query, private):
    assert run(private=private).filter_query(query) == (query, [])


def test_private_words_may_return_only_to_their_own_site():
    read = Provenance(QUESTION)
    read.add("Your diagnosis: diabetes, type 2", Kind.PAGE, "https://my.clinic.test/results")
    assert not Outgoing(read).refusal("diabetes type 2", "my.clinic.test")
    assert Outgoing(read).refusal("diabetes", "evil.test")


@pytest.mark.parametrize("site", ["evil.test", f"{SERVER}shop", f"{FUNCTION}TRANSLATE"])
def test_question_words_may_be_sent_to_sites_and_tools(site):
    outgoing = run("Is diabetes hereditary?", "Mother had diabetes, hunter2")
    assert not outgoing.refusal("diabetes hereditary", site)
    assert "hunter2" in outgoing.refusal("diabetes hunter2", site)


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("2", True),
        ("2026-03-02", True),
        ("02/03/2026", True),
        ("2 Mar 2026", True),
        ("2 mars 2026", True),
        ("mars marca", False),
        ("TwO mArCh", False),
        ("two adults, 3", True),
        ("2026-03-12", False),
        ("2026-04-02", False),
        ("2 2 2 2", False),
        ("two two two", False),
        ("2.0", False),
        ("003", False),
        ("7", False),
    ],
)
def test_numbers_and_dates_of_the_question_may_be_typed_in_another_notation(text, passes):
    question = "What does the ferry at https://ferry.test/ cost for two adults on 2 March 2026?"
    private = "The code is 7, then 12, then 4. Codeword: 003."
    assert (run(question, private).refusal(text, "ferry.test") == "") is passes


def test_site_receives_limited_number_of_its_own_words():
    outgoing = run(private="diabetes")
    sent = [outgoing.refusal(text, "evil.test") for text in ["rain degrees"] * 9]
    assert sent[0] == ""
    assert "have already been sent" in next(filter(None, sent))


@pytest.mark.parametrize(
    ("url", "passes"),
    [
        ("https://shop.test/search?q=weather+bergen", True),
        ("https://shop.test/search?q=weather&page=2", True),
        ("https://shop.test/weather/bergen", False),
        ("https://shop.test/weather?q=bergen", True),
        ("https://shop.test/search?q=diabetes", False),
        ("https://shop.test/search?diabetes=weather", False),
        ("https://shop.test/search?q=wEatHer", False),
        ("https://other.test/search?q=weather", False),
    ],
)
def test_url_may_extend_a_seen_url_with_question_words(url, passes):
    outgoing = run(private="diabetes")
    outgoing.provenance.add(
        "Search: https://shop.test/search?q=shoes&page=1", Kind.WEB, SEARCH_SITE
    )
    assert (not outgoing.refusal_of_address(url)) is passes


@pytest.mark.parametrize(
    ("url", "passes"),
    [
        ("https://seen.test/", True),
        ("https://seen.test/?x=1", False),
        ("https://diabetes/", False),
        ("https://diabetes.seen.test/", False),
        ("https://other.test/", False),
    ],
)
def test_root_of_a_named_host_is_allowed(url, passes):
    outgoing = run(private="diabetes")
    outgoing.provenance.add("more at seen.test", Kind.WEB, SEARCH_SITE)
    assert (not outgoing.refusal_of_address(url)) is passes


def test_root_of_any_host_is_allowed_until_untrusted_content_is_read():
    read = Provenance(QUESTION)
    read.add("home: Voss", Kind.MEMORY)
    outgoing = Outgoing(read)
    assert not outgoing.refusal_of_address("https://yr.test/")
    read.add("Read me", Kind.WEB, "https://evil.test/")
    assert (
        "does not appear in the question, a page or a search result"
        in outgoing.refusal_of_address("https://yr.test/")
    )


@pytest.mark.parametrize(
    "text", ["see doi:10.1093/bioinf/btz477", "https://doi.org/10.1093/bioinf/btz477"]
)
def test_doi_in_private_file_is_allowed_as_url(text):
    assert not run(private=text).refusal_of_address("https://doi.org/10.1093/bioinf/btz477")


# Sharing and approval hold for the recipient that they were given for.


@pytest.mark.parametrize(
    ("share", "site", "passes"),
    [
        ("file", SEARCH_SITE, True),
        ("file", f"{SERVER}shop", True),
        ("file", "named.test", True),
        ("file", "evil.test", False),
        ("file@evil.test", "evil.test", True),
        ("file@evil.test", "other.test", False),
        ("memory", "named.test", False),
    ],
)
def test_shared_data_goes_only_to_permitted_recipients(share, site, passes):
    shared = run("Tell named.test", f"diabetes, {CARD}", shared=frozenset({share}))
    if site == SEARCH_SITE:
        assert (shared.filter_query(CARD)[1] == []) is passes
    else:
        assert (not shared.refusal("diabetes", site)) is passes


def test_search_approval_does_not_apply_to_sites():
    outgoing = run(private=f"diabetes {CARD}")
    outgoing.record_approval(f"diabetes {CARD}", SEARCH_SITE)
    assert outgoing.filter_query(f"diabetes {CARD}")[1] == []
    assert outgoing.refusal("diabetes", "evil.test")
    outgoing.record_approval("diabetes", "evil.test")
    assert not outgoing.refusal("diabetes", "evil.test")
    assert outgoing.refusal("diabetes", "other.test")


# Borderline cases.


def test_everything_may_be_sent_before_private_content_is_read():
    read = Provenance(QUESTION)
    read.add(HOSTILE, Kind.WEB, "https://evil.test/")
    assert not Outgoing(read).refusal("ZGlhYmV0ZXM= xyzzy", "evil.test")
    assert not Outgoing(read).refusal_of_address("https://evil.test/any?q=thing")


def test_empty_web_page_makes_run_untrusted():
    read = Provenance(QUESTION)
    read.add("", Kind.WEB, "https://evil.test/")
    assert read.untrusted


def test_inflected_question_words_may_be_sent():
    outgoing = run("Какая погода будет в Казани на выходных?", "Билет в Казань, вагон 7")
    assert not outgoing.refusal("погода Казань", "evil.test")
    assert outgoing.refusal("погода Казань вагоны", "evil.test")


@given(st.text(max_size=200))
def test_outgoing_check_accepts_any_text(text):
    outgoing = run(private=text)
    outgoing.filter_query(text)
    outgoing.refusal(text, "evil.test")
    outgoing.refusal_of_address(f"https://evil.test/{text}")
    assert outgoing.refusal("qvnorgrf", "evil.test")


async def test_shortened_query_reports_what_was_withheld(ask, script, site, tmp_path, events):
    private = tmp_path / "private.md"
    private.write_text(f"# Private\n\nThe card is {CARD}, of ada@home.test.\n")
    report = await ask(
        "What do my notes say about the weather?",
        model=script("<<TOOL:WEB_SEARCH:weather ada@home.test coast>>", "NOT_FOUND"),
        file=[private],
    )
    noted = events(report)
    event = next(e for e in noted if e.type == "query.withheld")
    assert event_lines(event)[0].endswith("--share KIND allows it.")
    assert "--" not in event_lines(event, surface="page")[0]
    withheld = event.data
    assert withheld["query"] == "weather ada@home.test coast"
    assert "“ada@home.test” (this e-mail address is not" in withheld["text"]
    assert "ada@home.test" in report.searches[0].withheld
    result = next(e.data for e in noted if e.type == "tool.result")
    assert result["data"]["left_out"] == "ada@home.test"


@pytest.mark.parametrize("tool", ["READ", "OPEN", "FETCH_URL"])
async def test_model_obeying_hostile_page_sends_nothing(ask, script, site, tmp_path, tool):
    private = tmp_path / "private.md"
    private.write_text("# Private\n\nThe diagnosis is diabetes and nothing else.\n")
    model = script(f"<<TOOL:{tool}:{site.url}/diabetes>>", "NOT_FOUND")
    results = []
    await ask(
        f"What do my notes say? Not {site.url}",
        model=model,
        file=[private],
        on_event=lambda e: results.append(e.data) if e.type == "tool.result" else None,
    )
    assert (
        "this URL does not appear in the question, a page or a search result"
        in results[0]["data"]["error"]
    )
    assert not [path for path in site.asked if "diabetes" in path]


@pytest.mark.parametrize("share", [(), ("file",)])
async def test_custom_tool_gets_private_words_only_if_shared(ask, script, tmp_path, share):
    private = tmp_path / "letter.txt"
    private.write_text("Solveig Brandt has diabetes.")
    given = []

    async def translate(text: str) -> str:
        """Translates."""
        given.append(text)
        return "Zucker"

    model = script("<<TOOL:TRANSLATE:Solveig diabetes>>", "NOT_FOUND")
    await ask(
        "Translate my letter",
        model=model,
        file=[private],
        share=share,
        tools={"TRANSLATE": translate},
    )
    assert bool(given) is bool(share)
