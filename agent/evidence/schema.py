"""The JSON Schema that a person gives: read, checked, and the fields that it asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

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
    """A value that the schema asks for: `path` names it (`*` for each item of a list).

    `said` is its title and description.
    """

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
        for reference in _references(definition):
            if not reference.startswith("#") or schema._at(reference) is None:
                raise UsageError(
                    f"the schema refers to {reference}, which is not in it",
                    hint="Put what it refers to under $defs in the same file.",
                )
        return schema

    @property
    def text(self) -> str:
        """The schema as a model reads it."""
        return json.dumps(self.definition, ensure_ascii=False)

    def errors(self, instance: Any) -> list[tuple[str, str]]:
        """Say what is wrong with an instance: JSON pointers and messages, in their order."""
        from jsonschema.validators import validator_for  # noqa: PLC0415 - as above
        from referencing import Registry  # noqa: PLC0415 - as above

        kind = validator_for(self.definition)
        # A registry of our own: without one a reference to a web address would be fetched.
        validator = kind(self.definition, registry=Registry(), format_checker=kind.FORMAT_CHECKER)
        found = sorted(validator.iter_errors(instance), key=lambda e: list(map(str, e.path)))
        return [(pointer(e.absolute_path), e.message) for e in found[:ERRORS]]

    def fields(self) -> list[Field]:
        """List the single values that are asked for."""
        return list(self._fields(self.definition, (), DEEPEST))

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
            kinds = node.get("type", "string")
            kinds = kinds if isinstance(kinds, list) else [kinds]
            kind = next((kind for kind in kinds if kind != "null"), "string")
            said = " ".join(str(node[key]) for key in ("title", "description") if node.get(key))
            choices = tuple(value for value in node.get("enum", ()) if value is not None)
            yield Field(path, kind, said, choices, str(node.get("format", "")))

    def _at(self, reference: str) -> Any:
        """Find what a reference within the schema points at; None where there is nothing."""
        place: Any = self.definition
        for part in filter(None, reference.removeprefix("#").split("/")):
            plain = part.replace("~1", "/").replace("~0", "~")
            place = place.get(plain) if isinstance(place, dict) else None
        return place


def pointer(path: Iterable[str | int]) -> str:
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
