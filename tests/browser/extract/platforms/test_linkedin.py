"""LinkedIn: each field, from small pages written after its markup."""

# ruff: noqa: E501 - markup reads best on one line

from __future__ import annotations

from browser.extract.platforms import parse_platform
from tests.browser.extract.platforms.reading import ld, parsed


def test_linkedin_article() -> None:
    page = """<h1>Harbours</h1><div class=base-main-card><h3>Ann Rower</h3><h4>Harbour master</h4><a href="https://de.linkedin.com/in/ann-rower?trk=x">x</a><div class=base-main-card__metadata>Published Dec 19, 2023</div></div>
    <div class=article-content__body><p>Deep water.</p></div><span class=social-counts-reactions__social-counts-numRections>361</span><a class=social-action-counts__social-counts-item>48 Comments</a>
    <section class=comment><a class=comment__actor-name href="https://www.linkedin.com/in/bo">Bo</a><span class=comment__message>Yes.</span><span class=comment__likes-count>6 Likes</span></section>"""
    article = parsed("https://www.linkedin.com/pulse/harbours-ann-rower", page)
    assert (article.title, article.text, article.author, article.handle) == (
        "Harbours",
        "Deep water.",
        "Ann Rower",
        "ann-rower",
    )
    assert (article.published, article.counts) == ("2023-12-19", {"likes": 361, "replies": 48})
    assert [(c.author, c.text, c.counts) for c in article.items] == [("Bo", "Yes.", {"likes": 6})]


def test_a_person_as_shown_without_an_account() -> None:
    person = ld(
        {
            "@graph": [
                {
                    "@type": "Person",
                    "name": "Ann Rower",
                    "address": {"addressLocality": "Port Elm", "addressCountry": "DE"},
                    "worksFor": [{"name": "Port Elm AG"}],
                    "alumniOf": [{"name": "Tide College"}],
                    "interactionStatistic": {
                        "interactionType": "https://schema.org/FollowAction",
                        "userInteractionCount": 500,
                    },
                }
            ]
        }
    )
    page = f"{person}<section class=top-card-layout><h1 class=top-card-layout__title>Ann Rower</h1><h2 class=top-card-layout__headline>Harbour master</h2></section><section data-section=summary><div class=core-section-container__content><p>I like locks.</p></div></section>"
    profile = parsed("https://de.linkedin.com/in/ann-rower", page)
    assert (profile.kind, profile.title, profile.handle, profile.text) == (
        "profile",
        "Ann Rower",
        "ann-rower",
        "I like locks.",
    )
    assert profile.counts == {"followers": 500}
    assert profile.fields == {
        "headline": "Harbour master",
        "place": "Port Elm, DE",
        "works_for": "Port Elm AG",
        "studied": "Tide College",
    }


def test_a_job_as_shown_without_an_account() -> None:
    job = ld(
        {
            "@type": "JobPosting",
            "title": "Keeper",
            "datePosted": "2024-05-03",
            "validThrough": "2024-06-03",
            "employmentType": "FULL_TIME",
            "hiringOrganization": {"name": "Port Elm AG"},
            "jobLocation": {"address": {"addressLocality": "Port Elm"}},
        }
    )
    page = f"{job}<section class=top-card-layout><h1 class=top-card-layout__title>Keeper</h1></section><div class=description__text><div class=show-more-less-html__markup><p>Keep the lock.</p></div></div>"
    record = parsed("https://www.linkedin.com/jobs/view/keeper-123", page)
    assert (record.kind, record.author, record.published, record.text) == (
        "job",
        "Port Elm AG",
        "2024-05-03",
        "Keep the lock.",
    )
    assert record.fields == {"place": "Port Elm", "until": "2024-06-03", "employment": "FULL_TIME"}


def test_the_wall_is_no_record() -> None:
    assert (
        parse_platform("https://www.linkedin.com/in/ann", "<h1>Join LinkedIn</h1><form></form>")
        is None
    )
