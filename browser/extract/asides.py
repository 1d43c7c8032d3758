"""Lines that stand within an article's body but are none of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from browser.extract.shingles import word_list
from browser.text import count_words

if TYPE_CHECKING:
    from browser.extract.blocks import Block

_RELATED = re.compile(
    r"\W*(?:you (?:may|might) (?:also )?(?:like|enjoy|be interested)|related:"
    r"|related(?: (?:articles?|stories|posts?|content|links|news|topics|coverage|reading))?\W*$"
    r"|recommended(?: for you| reading| stories| articles)?\W*$"
    r"|more from\b|more stories|more:|read (?:more|next|also)|see also|also read|also see"
    r"|more on this|most read|most popular|trending|don.t miss|popular (?:now|posts)"
    r"|what to read next|latest (?:news|stories)|tell us what you think"
    r"|more (?:[\w-]+ ){0,2}(?:recipes|articles|posts|guides|reviews)\W*$"
    r"|\d+ (?:responses?|replies|thoughts?|reactions?) (?:to|on)\b"
    r"|\d+ (?:antworten|gedanken|reaktionen) (?:auf|zu)\b"
    r"|leave a (?:comment|reply)|\d* ?comments?\W*$|share this|share on\b"
    r"|das könnte (?:sie|dich) auch|mehr zum thema|lesen sie auch|auch interessant"
    r"|weitere artikel|weiterlesen|zum thema|ähnliche (?:artikel|beiträge)|kommentare?\W*$"
    r"|teilen\W*$|(?:à )?lire aussi|sur le même sujet|articles? (?:liés|similaires)"
    r"|te puede interesar|lee también|artículos relacionados|você pode gostar"
    r"|leia (?:também|mais)|veja também)",
    re.IGNORECASE,
)
_SMALL_PRINT = re.compile(
    r"\W*(?:©|copyright\b|\(c\) ?\d{4}|all rights reserved|alle rechte vorbehalten"
    r"|filed under\b|posted (?:in|under|on|by)\b|tags?\s*[:\n]|tagged\b|categor(?:y|ies)\s*:"
    r"|schlagw(?:ö|o)rte?r?\s*:|advertisement\W*$|anzeige\W*$|publicidad\w*\W*$|sponsored\b"
    r"|sign up (?:for|to)\b|subscribe (?:to|now)\b|follow us\b|click here to\b"
    r"|(?:photo(?:graph)?|image|picture|foto|bild)s?\s*(?:credit|courtesy|by|:)|source\s*:|quelle\s*:"
    r"|last (?:updated|modified|reviewed|changed)\b|zuletzt (?:geändert|aktualisiert)\b"
    r"|letzte (?:änderung|aktualisierung)\b|(?:was|is) this (?:page|article) (?:helpful|useful)"
    r"|war diese(?:r artikel|seite) hilfreich)",
    re.IGNORECASE,
)
_BYLINE = re.compile(
    r"\W*(?:(?:by|von|par|por|di|written by|published|updated|posted|veröffentlicht|aktualisiert"
    r"|stand|publié|publicado|actualizado)\b"
    r"|(?:interview|text|words|story|photos?|fotos?|illustrations?|protokoll)\s*:)[^.!?]*$",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b\d{1,2}[./-]\d{1,2}[./-](?:20|19)?\d{2}\b|\b(?:19|20)\d{2}-\d{2}-\d{2}\b"
    r"|\b\d{1,2}\.? (?:de )?[^\W\d]{3,10}\.? (?:de )?(?:19|20)\d{2}\b"
    r"|\b[^\W\d]{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? (?:19|20)\d{2}\b"
)
_RELATED_CLASS = re.compile(
    r"related|recommend|readmore|read-more|you-may|more-stories", re.IGNORECASE
)
_CAPTION = re.compile(
    r"caption|bildtext|bildunterschrift|bildzeile|photo-?credit|image-?credit|legende\b",
    re.IGNORECASE,
)
_NOTES = re.compile(r"(?:^|\s)(?:foot|end)notes?(?:-list|s?_list)?(?:\s|$)", re.IGNORECASE)
_TRAIL = re.compile(r"[^.!?]{1,60}(?: [›»>/] [^.!?]{1,60})+")
# What blogs say below each entry, at length.
_COLOPHON = re.compile(
    r"\W*(?:this (?:entry|post|article) was (?:posted|published|written)\b"
    r"|(?:dieser|der) (?:beitrag|eintrag|artikel) wurde (?:am|von|unter)\b)",
    re.IGNORECASE,
)
# A line that is all link and no longer than this calls to do something.
_LONGEST_CALL = 4
# Small print is short; a paragraph that begins like it is not.
_LONGEST_SMALL_PRINT = 25


def opens_related(block: Block) -> bool:
    """Whether a heading, or a line like one, begins links to other articles."""
    if count_words(block.text) > 8:
        return False
    if block.kind == "heading" and _RELATED_CLASS.search(block.node.get("class") or ""):
        return True
    label = block.kind == "heading" or block.text.rstrip().endswith(":")
    return label and _RELATED.match(block.text) is not None


def is_aside(block: Block) -> bool:
    """Whether a line is a link to another article, small print, or nothing but links."""
    words = count_words(block.text)
    linky = block.is_linky
    if block.kind in {"table", "code"}:
        return False
    if _COLOPHON.match(block.text) or (block.kind == "paragraph" and _is_call(block, words)):
        return True
    if words > _LONGEST_SMALL_PRINT and not linky:
        return False
    if _RELATED.match(block.text) and (linky or block.kind == "heading"):
        return True
    return _SMALL_PRINT.match(block.text) is not None or not word_list(block.text)


def is_caption(block: Block) -> bool:
    """Whether a line is about a picture, by its element or by what its classes call it."""
    if block.kind == "caption" or block.node.tag == "figure":
        return True
    parent = block.node.getparent()
    names = [element.get("class") or "" for element in (block.node, parent) if element is not None]
    return _CAPTION.search(" ".join(names)) is not None


def is_footnote(block: Block) -> bool:
    """Whether a line stands among the notes of a text, as generators of pages set them below it."""
    return any(
        element.get("role") == "doc-endnotes" or _NOTES.search(element.get("class") or "")
        for element in block.node.iterancestors()
    )


def _is_call(block: Block, words: int) -> bool:
    return words <= _LONGEST_CALL and block.link_chars >= len(block.text.strip())


def is_trail(block: Block) -> bool:
    """Whether a line says where in the site one is: links joined by › or the like."""
    return (
        block.link_chars > 0
        and block.kind in {"paragraph", "item"}
        and count_words(block.text) <= _LONGEST_SMALL_PRINT
        and _TRAIL.fullmatch(block.text) is not None
    )


def is_dateline(block: Block) -> bool:
    """Whether a line above the body only says who wrote it and when; the Document says it, too."""
    if block.kind not in {"paragraph", "item"} or count_words(block.text) > _LONGEST_SMALL_PRINT:
        return False
    if _BYLINE.match(block.text):
        return True
    # A sentence that speaks of a day is one of the body's.
    return _DATE.search(block.text) is not None and not block.text.rstrip().endswith(
        (".", "!", "?")
    )


def is_title(block: Block, title: str) -> bool:
    """Whether a block only repeats the page's title, which the Document carries by itself."""
    if block.kind not in {"heading", "paragraph"} or not title:
        return False
    return word_list(block.text) == word_list(title)
