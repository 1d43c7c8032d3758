"""The schema that a person gives, read and checked; and which of the values filled in stay.

Numbers, dates and short texts are looked for in code; what does not stand in what is cited for them
follows from the passages by the word of a judge, or is left out. Of longer texts, and of yes or no,
a verdict may stay open.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError
from agent.evidence.facts import facts_of
from agent.evidence.passages import columns_of, nearest_quote
from agent.evidence.verify import verify_claim
from agent.types import Verdict, VerdictState
from browser.text.sentences import sentences
from browser.text.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from jsonschema.protocols import Validator

    from agent.evidence.store import Evidence
    from agent.evidence.verify import Judge
    from agent.types import Passage

Object = dict[str, Any]
_HINT = "It is a JSON Schema (json-schema.org), an object such as " + json.dumps(
    {"type": "object", "properties": {"opened": {"type": "string", "format": "date"}}}
)
ERRORS = 10
"""Errors that are shown of one instance: what is wrong with the rest follows from them."""
DEEPEST = 6
"""Levels of nesting whose fields are listed; a schema may refer to itself."""


@dataclass(frozen=True, slots=True)
class Field:
    """A value that the schema asks for: `path` names it (`*` for each item of a list)."""

    path: tuple[str, ...]
    kind: str
    said: str
    choices: tuple[Any, ...] = ()
    format: str = ""

    @property
    def name(self) -> str:
        """The name as people read it: `opened`, `ferries.*.name`."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema whose references all lie within it: nothing is ever fetched for one."""

    definition: Object

    @classmethod
    def of(cls, given: Path | Object) -> Schema:
        """Take a schema, or read it; raises `UsageError` for what is none."""
        definition = given if isinstance(given, dict) else _read(given)
        try:
            from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - an extra
            from jsonschema.validators import validator_for  # noqa: PLC0415 - as above
        except ModuleNotFoundError as error:
            hint = "pip install 'urchin-research[schema]'"
            raise UsageError("a JSON Schema needs the extra `schema`", hint=hint) from error

        try:
            validator_for(definition).check_schema(definition)
        except SchemaError as error:
            where = "/".join(map(str, error.absolute_path))
            raise UsageError(f"the schema is not valid at /{where}: {error.message}") from error
        schema = cls(definition)
        schema._check_references()
        return schema

    @property
    def text(self) -> str:
        """The schema as a model reads it."""
        return json.dumps(self.definition, ensure_ascii=False)

    def errors(self, instance: Any) -> list[tuple[str, str]]:
        """Say what is wrong with an instance: JSON pointers and messages, in their order."""
        found = sorted(
            self._validator().iter_errors(instance), key=lambda e: list(map(str, e.path))
        )
        return [(pointer(e.absolute_path), e.message) for e in found[:ERRORS]]

    def fields(self) -> list[Field]:
        """List the single values that are asked for."""
        return list(self._fields(self.definition, (), DEEPEST))

    def _validator(self) -> Validator:
        from jsonschema.validators import validator_for  # noqa: PLC0415 - as above
        from referencing import Registry  # noqa: PLC0415 - as above

        kind = validator_for(self.definition)
        # A registry of our own: without one a reference to a web address would be fetched.
        return kind(self.definition, registry=Registry(), format_checker=kind.FORMAT_CHECKER)

    def _check_references(self) -> None:
        for reference in _references(self.definition):
            if not reference.startswith("#") or self._at(reference) is None:
                raise UsageError(
                    f"the schema refers to {reference}, which is not in it",
                    hint="Put what it refers to under $defs in the same file.",
                )

    def _at(self, reference: str) -> Any:
        place: Any = self.definition
        for part in reference.removeprefix("#").strip("/").split("/"):
            if not part:
                continue
            plain = part.replace("~1", "/").replace("~0", "~")
            place = place.get(plain) if isinstance(place, dict) else None
        return place

    def _fields(self, node: Any, path: tuple[str, ...], deep: int) -> Iterator[Field]:
        node = self._at(node["$ref"]) if isinstance(node, dict) and "$ref" in node else node
        if not isinstance(node, dict) or not deep:
            return
        if "properties" in node:
            for name, inner in node["properties"].items():
                yield from self._fields(inner, (*path, name), deep - 1)
        elif "items" in node:
            yield from self._fields(node["items"], (*path, "*"), deep - 1)
        else:
            yield _field(node, path)


def pointer(path: Any) -> str:
    """Write a path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _read(path: Path) -> Object:
    try:
        definition = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read the schema {path}: {error.strerror}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the schema {path} is not JSON: {error}", hint=_HINT) from error
    if not isinstance(definition, dict):
        raise UsageError(f"the schema {path} is no JSON object", hint=_HINT)
    return definition


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        reference = node.get("$ref")
        if isinstance(reference, str):
            yield reference
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _references(inner)


def _field(node: Object, path: tuple[str, ...]) -> Field:
    kinds = node.get("type", "string")
    kinds = [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if kind != "null"]
    said = " ".join(str(node[key]) for key in ("title", "description") if node.get(key))
    choices = tuple(value for value in node.get("enum", ()) if value is not None)
    return Field(path, kinds[0] if kinds else "string", said, choices, str(node.get("format", "")))


ValuePath = tuple[str | int, ...]
SHORT = 80
"""Characters up to which a text is a name or a term, which has to stand there as it is."""
_GONE = object()
"""Stands in the place of a value that is left out."""


@dataclass(frozen=True, slots=True)
class ValuesDraft:
    """An instance as it was filled in, and passage ids by the JSON pointers they stand for."""

    data: Any
    citations: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Value:
    """A value that stays, where it stands, and what carries it; `sources` are run numbers."""

    pointer: str
    value: Any
    verdict: Verdict
    sources: tuple[int, ...]


@dataclass(slots=True)
class WeighedValues:
    """What is left of a draft: `notes` say what was left out, and what the schema still wants."""

    data: Any = None
    values: list[Value] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def weighed(
    draft: ValuesDraft, schema: Schema, evidence: Evidence, judge: Judge | None = None
) -> WeighedValues:
    """Keep the values that have evidence; the others become null, or are absent.

    `judge` is asked of each value that does not stand there, as a claim such as `country: Kenya`.
    """
    sifting = _Sifting(draft, evidence, judge)
    data = sifting.rebuilt(draft.data, (), ())
    wrong = {where for where, _ in schema.errors(data)}
    for path in sifting.empty:
        if pointer(path) in wrong:
            _remove(data, path)
    said = (f"{where or '/'}: left out: {why}" for where, why in sifting.left_out)
    still = (f"{where or '/'}: {message}" for where, message in schema.errors(data))
    return WeighedValues(data, sifting.values, [*said, *still])


class _Sifting:
    """Builds an instance anew of the values that have evidence.

    `left_out` says where a value stood that has none, and why; `empty` where there is none now.
    """

    def __init__(self, draft: ValuesDraft, evidence: Evidence, judge: Judge | None) -> None:
        self._draft = draft
        self._evidence = evidence
        self._judge = judge
        self.values: list[Value] = []
        self.left_out: list[tuple[str, str]] = []
        self.empty: list[ValuePath] = []

    def rebuilt(self, node: Any, old: ValuePath, new: ValuePath) -> Any:
        """Build a node anew; `old` and `new` are where it stood, and where it does now."""
        if isinstance(node, dict):
            built = {
                key: self.rebuilt(inner, (*old, key), (*new, key)) for key, inner in node.items()
            }
            return {key: None if inner is _GONE else inner for key, inner in built.items()}
        if isinstance(node, list):
            return self._rebuilt_list(node, old, new)
        return None if node is None else self._value(node, old, new)

    def _rebuilt_list(self, node: list[Any], old: ValuePath, new: ValuePath) -> list[Any]:
        items: list[Any] = []
        for number, inner in enumerate(node):
            known = len(self.values)
            place = (*new, len(items))
            item = self.rebuilt(inner, (*old, number), place)
            bare = item is _GONE or (isinstance(item, dict) and len(self.values) == known)
            if not bare:
                items.append(item)
            else:
                self.empty = [path for path in self.empty if path[: len(place)] != place]
        return items

    def _value(self, value: Any, old: ValuePath, new: ValuePath) -> Any:
        verdict, passages = self._checked(value, old)
        if verdict.state in (VerdictState.UNCITED, VerdictState.CONTRADICTED):
            self.left_out.append((pointer(old), verdict.reason))
            self.empty.append(new)
            return _GONE
        sources = tuple(dict.fromkeys(passage.source for passage in passages))
        self.values.append(Value(pointer(new), value, verdict, sources))
        return value

    def _checked(self, value: Any, path: ValuePath) -> tuple[Verdict, list[Passage]]:
        """Check a value against the passages cited for it, or for what it is a part of."""
        cited = (self._draft.citations.get(pointer(path[:end])) for end in range(len(path), -1, -1))
        ids = next((ids for ids in cited if ids), ())
        found = map(self._evidence.passage, ids)
        passages = [passage for passage in found if passage is not None]
        sources = (self._evidence.source(passage.source) for passage in passages)
        titles = [source.title for source in sources if source is not None]
        said = " ".join(str(part) for part in path if isinstance(part, str))
        verdict = _held(value, said, passages, titles)
        if verdict.state in (VerdictState.SUPPORTED, VerdictState.UNCITED) or self._judge is None:
            return verdict, passages
        told = ("no", "yes")[value] if isinstance(value, bool) else value
        judged = self._judge(f"{said.replace('_', ' ')}: {told}", passages)
        if judged is None:
            return verdict, passages
        if judged.state is VerdictState.SUPPORTED:
            quote = judged.quote or nearest_quote(f"{said} {value}", passages)
            return replace(judged, quote=quote), passages
        state = VerdictState.CONTRADICTED if _must_stand_there(value) else judged.state
        return replace(judged, state=state), passages


def _remove(data: Any, path: ValuePath) -> None:
    for part in path[:-1]:
        data = data[part]
    if path and isinstance(data, dict):
        data.pop(path[-1], None)


def _held(value: Any, said: str, passages: Sequence[Passage], titles: Sequence[str]) -> Verdict:
    """Check a value against the passages cited for it; `said` is what the field is called.

    Numbers, dates and short texts have to stand there, names perhaps in the title of the page; of
    longer texts and of yes or no a verdict may stay open. The quote is a sentence of a passage,
    literally.
    """
    if not passages:
        return Verdict(VerdictState.UNCITED, reason="no passage of the run is cited")
    for passage in passages:
        quote = _quote(value, said, passage)
        if quote:
            return Verdict(VerdictState.SUPPORTED, quote, "it stands there", passage=passage.id)
    if isinstance(value, str) and any(stands_in(value, title) for title in titles):
        quote = nearest_quote(f"{said} {value}", passages)
        return Verdict(VerdictState.SUPPORTED, quote, "it stands in the title of the page")
    if _must_stand_there(value):
        reason = "it does not stand in what is cited for it"
        return Verdict(VerdictState.CONTRADICTED, "", reason)
    claim = value if isinstance(value, str) else f"{said}: {'yes' if value else 'no'}"
    verdict = verify_claim(claim, passages)
    quote = verdict.quote or nearest_quote(claim, passages)
    return Verdict(verdict.state, quote, verdict.reason, passage=verdict.passage)


def _quote(value: Any, said: str, passage: Passage) -> str:
    """Give the words that hold a value; of a row with a column for the field, only that counts."""
    field = frozenset(content_words(said.rpartition(" ")[2].replace("_", " ")))
    named = [(name, cell) for name, cell in columns_of(passage) if field & set(content_words(name))]
    if named:
        text = passage.text.strip()
        return text if any(stands_in(value, cell) for _, cell in named) else ""
    return next((s for s in _pieces(passage.text) if stands_in(value, s)), "")


def stands_in(value: Any, text: str) -> bool:
    """Tell whether a number, a date or words stand in a text, however they are written there."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return _number_stands(float(value), text)
    date = _iso_date(value)
    return _date_stands(date, text) if date else _flat(value) in _flat(text)


def _must_stand_there(value: Any) -> bool:
    return not isinstance(value, bool) and (not isinstance(value, str) or len(value) <= SHORT)


def _iso_date(value: str) -> tuple[int, ...] | None:
    """Read `2026`, `2026-11` or `2026-11-21`, with a time behind it or not."""
    parts = value.partition("T")[0].split("-")
    sizes = [len(part) for part in parts]
    plain = all(part.isdecimal() for part in parts) and sizes == [4, 2, 2][: len(parts)]
    return tuple(map(int, parts)) if plain else None


def _number_stands(value: float, text: str) -> bool:
    facts = facts_of(text)
    years = (float(date.year) for date in facts.dates if date.year)
    shares = (100 * value,) if 0 < value < 1 else ()
    found = (*(figure.value for figure in facts.figures), *years)
    return any(
        math.isclose(one, other, rel_tol=1e-9) for one in found for other in (value, *shares)
    )


def _date_stands(date: tuple[int, ...], text: str) -> bool:
    return any(
        all(a == b for a, b in zip(date, found[:3], strict=False)) for found in facts_of(text).dates
    )


def _flat(text: str) -> str:
    """Words alone, with a space at both ends, so that none is found inside another."""
    return f" {' '.join(words(text))} "


def _pieces(text: str) -> Iterable[str]:
    """The sentences, then the whole."""
    yield from (text[start:end] for start, end in sentences(text))
    yield text.strip()
