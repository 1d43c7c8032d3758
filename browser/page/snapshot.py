"""Renders a view as text: snapshots within a budget, the results of FIND and EXPAND, and diffs."""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from browser.errors import RefError
from browser.net.url import without_query
from browser.page.lines import MAX_COMPARED_LINES, REF_PATTERN
from browser.text.words import BM25, CHARS_PER_TOKEN, content_words, words
from browser.types import REF, FindResult, Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from browser.page.lines import PageLine
    from browser.page.view import View

DEFAULT_BUDGET = 3_000
"""In tokens (see `CHARS_PER_TOKEN`); enough for all or nearly all of the median page."""
MAX_BYTES = 8_000_000  # even without a budget, snapshots are cut at this size

FOLD_COST = 21  # characters in a fold's line, such as `[x12: 34 more lines]`
MIN_FOLDED = 3  # minimum number of lines to fold; 2 to 5 are equally good on 33 news pages
COVERED_LINES_HEADING = "(beneath it:)"
# Weights, tuned on saved pages for the share of distinct words shown at the default budget.
_HEADING_BONUS = 6.0
_CONTROL_BONUS = 3.0
_LANDMARK_WEIGHTS = {"navigation": 0.6, "contentinfo": 0.5, "complementary": 0.7, "banner": 0.8}
_FULL_WEIGHT_ROWS = 4  # the other rows of a group have less weight
_ROW_WEIGHT = 0.5
_HIDDEN_WEIGHT = 0.2


@dataclass(slots=True)
class LineSelection:
    """The selected lines of a view.

    `rendered` contains their text in order, including collapsed sections; `kept` contains their
    indexes in the view; `folds` maps the ref of each collapsed section to the indexes of its lines.
    """

    rendered: list[str]
    kept: set[int]
    folds: dict[str, list[int]] = field(default_factory=dict)

    def fold(self, indexes: list[int], what: str) -> None:
        """Replace lines by a single line with a ref."""
        ref = f"x{len(self.folds) + 1}"
        self.folds[ref] = indexes
        self.rendered.append(f"[{ref}: {len(indexes)} {what}]")


def render_snapshot(
    view: View, budget: int | None, query: str | None
) -> tuple[Snapshot, LineSelection]:
    """Render a view within a budget of tokens (None: no limit)."""
    selection = select_lines(view.lines, budget, query)
    if budget is None and _size("\n".join(selection.rendered)) > MAX_BYTES:
        selection = select_lines(view.lines, MAX_BYTES // 5, query)
    text = "\n".join(selection.rendered)
    if view.is_pdf:
        text = "(the browser shows a PDF: READ without url returns its text)"
    if view.cut_above:
        text = "(shown from the scroll position; SCROLL to top for the beginning)\n" + text
    if view.cut_below:
        text += "\n(the page continues: FIND searches all of it, SCROLL shows what follows)"
    if _size(text) > MAX_BYTES:
        text = text.encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore")
    refs: dict[str, str] = {}
    for index in sorted(selection.kept):
        refs.update(view.lines[index].refs)
    return Snapshot(view.url, view.title, text, refs), selection


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def select_lines(
    lines: Sequence[PageLine], budget: int | None, query: str | None = None
) -> LineSelection:
    """Select the lines that fit in `budget` tokens (None: all), and collapse the others.

    The lines of a dialog come before the lines beneath it. Consecutive lines that are out of sight,
    such as menus that the page keeps outside the window, are collapsed. With a budget, only the
    first options of a select are shown, because the user does not see the others either: the
    select's line gives their number, and EXPAND shows all of them.
    """
    front = _front_lines(lines)
    beneath = set(range(len(lines))).difference(front) if front else set()
    order = [*front, *sorted(beneath)] if front else range(len(lines))
    rendered = [
        line.uncovered() if i in beneath else line.rendered() for i, line in enumerate(lines)
    ]
    if budget is None:
        text = [rendered[i] for i in order]
        text[len(front) : len(front)] = [COVERED_LINES_HEADING] if beneath else []
        return LineSelection(text, set(order))
    shown = [i for i in order if lines[i].kind != "options"]
    unseen = _invisible_runs(lines, shown)
    candidates = [i for i in shown if i not in unseen]
    kept: set[int] = set()
    for layer in (
        [i for i in candidates if i not in beneath],
        [i for i in candidates if i in beneath],
    ):
        left = budget * CHARS_PER_TOKEN - sum(len(rendered[i]) + 1 for i in kept)
        kept |= _select_fitting(lines, rendered, layer, left, query)
    selection = LineSelection([], kept)
    left_out: list[int] = []  # since the last shown line

    def end_fold() -> None:
        if left_out:
            selection.fold(list(left_out), _fold_label(lines, left_out, unseen))
            left_out.clear()

    for number, i in enumerate(shown):
        if i in beneath and shown[number - 1] not in beneath:
            end_fold()
            selection.rendered.append(COVERED_LINES_HEADING)
        if i in kept:
            end_fold()
            selection.rendered.append(rendered[i])
        else:
            if left_out and (left_out[-1] in unseen) != (i in unseen):
                end_fold()
            left_out.append(i)
    end_fold()
    return selection


def _select_fitting(
    lines: Sequence[PageLine],
    rendered: Sequence[str],
    indexes: Sequence[int],
    limit: int,
    query: str | None,
) -> set[int]:
    """Select the lines that fit into a number of characters: all of them, or the best."""
    if sum(len(rendered[i]) + 1 for i in indexes) <= limit:
        return set(indexes)
    texts = [rendered[i] for i in indexes]
    picked = _pick_lines([lines[i] for i in indexes], texts, limit, query)
    return {indexes[number] for number in picked}


def _fold_label(lines: Sequence[PageLine], indexes: Sequence[int], unseen: set[int]) -> str:
    if indexes[0] in unseen:
        return "lines out of sight"
    groups = {line.group and line.group[0] for line in (lines[i] for i in indexes)}
    return "more rows" if len(groups) == 1 and None not in groups else "more lines"


def _front_lines(lines: Sequence[PageLine]) -> list[int]:
    """Return the indexes of the lines in a dialog or other layer that covers the page."""
    level = max((line.layer for line in lines), default=0)
    front = [i for i, line in enumerate(lines) if level and line.layer == level]
    has_content = any(not lines[i].out_of_sight and lines[i].kind != "region" for i in front)
    return front if has_content and len(lines) - len(front) >= MIN_FOLDED else []


def _invisible_runs(lines: Sequence[PageLine], shown: Sequence[int]) -> set[int]:
    """Return the indexes of invisible lines that form runs of at least MIN_FOLDED."""
    found: set[int] = set()
    run: list[int] = []
    for i in [*shown, None]:
        if i is not None and lines[i].out_of_sight:
            run.append(i)
            continue
        if len(run) >= MIN_FOLDED:
            found.update(run)
        run = []
    return found


def _pick_lines(
    lines: Sequence[PageLine], rendered: Sequence[str], limit: int, query: str | None
) -> set[int]:
    """Pick lines greedily, for `limit` characters in total, including collapsed sections.

    The score of a line is the number of its words that no picked line shows, per character. A
    line's relevance to the query is not divided by the line's length: this way, 58 of 60 expected
    items are shown within 700 tokens, instead of 52.
    """
    vocabulary = [frozenset(words(line.text)) for line in lines]
    query_terms = content_words(query) if query else []
    relevance = [0.0] * len(lines)
    if query_terms:
        relevance = BM25([content_words(line.text) for line in lines]).scores(query_terms)
    weights = [_weight(line) for line in lines]
    bonuses = [_bonus(line) * weight for line, weight in zip(lines, weights, strict=True)]
    seen: set[str] = set()

    def score(i: int) -> float:
        new_words = len(vocabulary[i] - seen)
        # The 8 prevents very short lines from winning by length alone.
        return relevance[i] + (weights[i] * new_words + bonuses[i]) / (len(rendered[i]) + 8)

    # Scores can only fall, when picked lines show some of a line's words. The heap may contain
    # outdated scores, so only its first entry is recomputed ("lazy greedy").
    kept: set[int] = set()
    spent = FOLD_COST  # before any line is picked, all lines are in one fold
    heap = [(-score(i), i) for i in range(len(lines))]
    heapq.heapify(heap)
    while heap:
        negated, i = heapq.heappop(heap)
        current = score(i)
        if heap and current < -negated - 1e-9 and current < -heap[0][0]:
            heapq.heappush(heap, (-current, i))
            continue
        # Showing a line may split, shrink or remove a fold.
        folds = (i > 0 and i - 1 not in kept) + (i < len(lines) - 1 and i + 1 not in kept) - 1
        cost = len(rendered[i]) + 1 + FOLD_COST * folds
        if spent + cost <= limit:
            kept.add(i)
            seen |= vocabulary[i]
            spent += cost
    return kept


def _weight(line: PageLine) -> float:
    weight = _HIDDEN_WEIGHT if line.hidden else 1.0
    for landmark, landmark_weight in _LANDMARK_WEIGHTS.items():
        if landmark in line.region:
            weight *= landmark_weight
    if line.group and line.group[1] > _FULL_WEIGHT_ROWS:
        weight *= _ROW_WEIGHT
    return weight


def _bonus(line: PageLine) -> float:
    passive_roles = ("link", "clickable", "hoverable")
    bonus = _HEADING_BONUS if line.kind.startswith("h") else 0.0
    if any(not what.startswith(passive_roles) for what in line.refs.values()):
        bonus += _CONTROL_BONUS
    return bonus


FIND_CHARS = 4_000  # about 1,000 tokens
MAX_FOUND_LINES = 20  # if there are more matches, the search should be narrowed
MAX_ROW_LINES = 6  # a repeated row of up to this many lines is shown in full
_FIELD_ROLES = frozenset({"checkbox", "combobox", "select", "spinbutton", "switch", "textbox"})
_SIZE_AND_POSITION = re.compile(r"\d+×\d+(?: at -?\d+,-?\d+)?(?: in \d+×\d+)?")
"""Matches the size and position of a control, which are not part of the page's text."""
_CONTROL_MARKS = re.compile(rf"\[{REF}(?: \w+)?:? ?|\]")
_NO_ADJACENT_DIGIT = r"(?!(?<=\d)\d)"  # only whole numbers match: 12 is not found in 1234


def find_lines(lines: list[PageLine], text: str) -> FindResult:
    """Find lines that contain `text`, a control with that role, or the words in `text`.

    `found` is false if no line contains the text, the role or all of the words; in that case, the
    closest matches are shown. Lines are in page order.
    """
    needle = " ".join(text.split()).casefold()
    exact = [i for i, line in enumerate(lines) if needle and _contains(line.text, needle)]
    if needle and not exact:
        exact = [n for i in _split_over_two(lines, needle) for n in (i, i + 1)]
    by_role = [
        i
        for i, line in enumerate(lines)
        if any(what.split(" ", 1)[0] == needle for what in line.refs.values())
    ]
    stems = [content_words(line.text) for line in lines]
    query_terms = content_words(text)
    ranked = [number for number, _ in BM25(stems).best(query_terms, MAX_FOUND_LINES)]
    if exact:  # lines that contain only some of the words would bury the exact match
        ranked = [i for i in ranked if set(query_terms) <= set(stems[i])]
    exact_rows = [n for i in exact for n in (*_repeated_row(lines, i), *_field_below(lines, i))]
    hits = list(dict.fromkeys(exact_rows + by_role + ranked))
    if not hits:
        return FindResult(f"nothing on this page matches {text!r}", found=False)

    # If only one of several words is not a stop word, that word alone is not a match.
    specific = len(set(query_terms)) > 1 or len(text.split()) == 1
    numbers = [word for word in needle.split() if any(map(str.isdigit, word))]
    by_words = specific and any(
        set(query_terms) <= set(stems[i])
        and all(_contains(_SIZE_AND_POSITION.sub(" ", lines[i].text), word) for word in numbers)
        for i in ranked
    )
    chosen, formatted = _format_by_region(lines, hits)
    citable = tuple(lines[i].citable() for i in chosen)
    if exact or by_role or by_words:
        return FindResult(formatted, True, citable)
    return FindResult(f"no match for {text!r}; closest lines:\n{formatted}", False, citable)


def _split_over_two(lines: list[PageLine], text: str) -> list[int]:
    """Return the index of each paragraph part that contains the text when joined with the next."""
    parts = (i for i in range(len(lines) - 1) if lines[i + 1].is_continuation)
    return [i for i in parts if _contains(f"{lines[i].text} {lines[i + 1].text}", text)]


def _contains(shown: str, text: str) -> bool:
    """Whether a line contains the text, either as shown or across its links and controls."""
    shown = shown.casefold()
    bare = " ".join(_CONTROL_MARKS.sub("", shown).split())
    if text not in shown and text not in bare:  # true of most lines; matching a pattern is slower
        return False
    pattern = re.compile(_NO_ADJACENT_DIGIT + re.escape(text) + _NO_ADJACENT_DIGIT)
    return bool(pattern.search(shown) or pattern.search(bare))


def _repeated_row(lines: list[PageLine], at: int) -> range:
    """Return the indexes of the repeated row around a line, or only its own if the row is long."""
    start, end, group = at, at + 1, lines[at].group
    while group and start and lines[start - 1].group == group:
        start -= 1
    while group and end < len(lines) and lines[end].group == group:
        end += 1
    return range(start, end) if end - start <= MAX_ROW_LINES else range(at, at + 1)


def _field_below(lines: list[PageLine], label: int) -> range:
    """Return the index of the unnamed field below a line that is only a label, if there is one."""
    below = label + 1
    if lines[label].refs or below == len(lines) or lines[below].depth != lines[label].depth:
        return range(0)
    first = next(iter(lines[below].refs.values()), "")
    role, _, name = first.partition(" ")
    is_unnamed_field = role in _FIELD_ROLES and (not name or name.startswith("("))
    return range(below, below + 1) if is_unnamed_field else range(0)


def _format_by_region(lines: list[PageLine], hits: list[int]) -> tuple[list[int], str]:
    """Return the hits that fit, in page order, and their text."""
    chosen: list[int] = []
    spent = 0
    for hit in hits[: MAX_FOUND_LINES * 2]:
        spent += len(lines[hit].text)
        if chosen and spent > FIND_CHARS:
            break
        chosen.append(hit)
    parts: list[str] = []
    region = ""
    chosen.sort()
    for hit in chosen:
        line = lines[hit]
        if line.region and line.region != region:
            parts.append(f"in {line.region}:")
        region = line.region
        parts.append(line.rendered()[:FIND_CHARS])
    if len(chosen) < len(hits):
        parts.append(f"({len(hits) - len(chosen)} more lines match)")
    return chosen, "\n".join(parts)


EXPAND_CHARS = 12_000  # about 3,000 tokens


def expand_ref(view: View, selection: LineSelection, ref: str) -> str:
    """Show a collapsed section, all options of a select, a field's value, or an element's lines.

    Raises RefError if the last snapshot does not contain the ref.
    """
    lines = view.lines
    if fold := selection.folds.get(ref):
        return format_lines([lines[i] for i in fold])
    for number, line in enumerate(lines):
        if ref in line.options:
            return "\n".join(line.options[ref])
        if ref in line.values:
            return line.values[ref][:EXPAND_CHARS]
        if ref in line.refs:
            end = number + 1  # more deeply indented lines belong to the element
            while end < len(lines) and lines[end].depth > line.depth:
                end += 1
            return format_lines(lines[number:end])
    raise RefError(f"{ref} is neither a collapsed section nor an element in the last snapshot")


def format_lines(lines: Sequence[PageLine]) -> str:
    """Join lines, up to EXPAND_CHARS characters."""
    parts: list[str] = []
    spent = 0
    for number, line in enumerate(lines):
        text = line.rendered()
        spent += len(text) + 1
        if parts and spent > EXPAND_CHARS:
            parts.append(f"({len(lines) - number} more lines: use FIND)")
            break
        parts.append(text)
    return "\n".join(parts)


_LONG_LINE = 120  # characters; for longer lines, only the changed parts are shown
_SEGMENTS = re.compile(r"\[[^\[\]]*\]|[^\s\[]+\s*|\s+|\[")  # controls, words, spaces
_MAX_REMOVED_LINES = 3  # shown for each run of consecutive removed lines
_REMOVED_CHARS, _ABOVE_CHARS = 80, 60  # shown of a removed line; of a line above


def describe_changes(before: View | None, after: View, query: str | None) -> str:
    """Describe the changes between two views: a diff, or the new snapshot if that is shorter.

    `+` lines are new, `-` lines were removed, `~` lines changed, `>` lines moved below another
    line. If no line changed, the elements whose appearance changed are named. An empty string means
    that no visible change was found.
    """
    snapshot, _ = render_snapshot(after, DEFAULT_BUDGET, query)
    if before is None or without_query(before.url) != without_query(after.url):
        return snapshot.text
    old = [line.uncovered() for line in before.lines if line.kind != "options"]
    new = [line.uncovered() for line in after.lines if line.kind != "options"]
    if old == new:
        return "\n".join(f"~ [{ref}] looks different: {how}" for ref, how in after.restyled)
    if len(old) + len(new) > MAX_COMPARED_LINES:
        return snapshot.text
    parts = _diff(old, new)
    # A dialog may cover the entire page: covered lines are counted, not listed as changed.
    covered_before = {line.uncovered() for line in before.lines if line.covered_parts}
    covered = [line for line in after.lines if line.covered_parts]
    newly_covered = sum(line.uncovered() not in covered_before for line in covered)
    if newly_covered:
        lines = "a line is" if newly_covered == 1 else f"{newly_covered} lines are"
        opened = any(part.startswith("+") for part in parts)
        parts.append(f"({lines} {'covered by what opened' if opened else 'now covered in part'})")
    text = "\n".join(parts)
    return text if len(text) <= len(snapshot.text) else snapshot.text


def new_lines(before: View, after: View) -> tuple[str, ...]:
    """Return the page's new lines, without refs; none if the view is of another page."""
    if without_query(before.url) != without_query(after.url):
        return ()
    known = {line.plain for line in before.lines}
    return tuple(line.plain for line in after.lines if line.plain not in known)


def _diff(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Diff two renderings; lines are matched by their refs or, without refs, by their text."""
    old_keys = [" ".join(REF_PATTERN.findall(text)) or text for text in old]
    new_keys = [" ".join(REF_PATTERN.findall(text)) or text for text in new]
    steps = SequenceMatcher(None, old_keys, new_keys, autojunk=False).get_opcodes()
    # Changed blocks of equal length are compared line by line; in others, lines were added and
    # removed.
    uneven = [
        step for step in steps if step[0] != "equal" and step[2] - step[1] != step[4] - step[3]
    ]
    removed_lines = {text for _, i1, i2, _, _ in uneven for text in old[i1:i2]}
    added_lines = {text for _, _, _, j1, j2 in uneven for text in new[j1:j2]}
    # A line with a control that was removed in one place and added unchanged in another was moved.
    moved = {text for text in removed_lines & added_lines if "[" in text}
    out: list[str] = []
    for tag, i1, i2, j1, j2 in steps:
        if tag == "equal" or (tag == "replace" and j2 - j1 == i2 - i1):
            pairs = zip(old[i1:i2], new[j1:j2], strict=True)
            out += [f"~ {_changed_parts(a, b)}" for a, b in pairs if a != b]
            continue
        for at in range(j1, j2):
            text = new[at]
            if text in moved:
                place = f"now below: {new[at - 1].strip()[:_ABOVE_CHARS]}" if at else "now first"
                out.append(f"> {text.strip()} ({place})")
            else:
                out.append(f"+ {text}")
        removed = [f"- {text[:_REMOVED_CHARS]}" for text in old[i1:i2] if text not in moved]
        out += removed[:_MAX_REMOVED_LINES]
        if len(removed) > _MAX_REMOVED_LINES:
            out.append(f"- ({len(removed) - _MAX_REMOVED_LINES} more lines are gone)")
    return out


def _changed_parts(old: str, new: str) -> str:
    """Shorten a long line to its changed controls and words."""
    if len(new) <= _LONG_LINE:
        return new.strip()
    before, after = _SEGMENTS.findall(old), _SEGMENTS.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    added = ["".join(after[j1:j2]).strip() for _, _, _, j1, j2 in steps if j2 > j1]
    if added:
        return "… " + " … ".join(added) + " …"
    removed = "".join("".join(before[i1:i2]) for _, i1, i2, _, _ in steps).strip()
    return f"… (without {removed[:_LONG_LINE]}) …" if removed else new.strip()
