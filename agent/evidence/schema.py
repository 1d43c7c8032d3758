"""Loads and checks a user's JSON Schema, and lists the fields that it requests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Object = dict[str, Any]
_HINT = "Expected: a JSON Schema (json-schema.org), an object such as " + json.dumps(
    {"type": "object", "properties": {"opened": {"type": "string", "format": "date"}}}
)
MAX_ERRORS = 10
"""Maximum number of errors listed for one instance; most further ones result from these."""
MAX_DEPTH = 6
"""Maximum nesting depth of listed fields, because a schema may refer to itself."""


@dataclass(frozen=True, slots=True)
class Field:
    """A value that the schema requests; in `path`, `*` stands for any item of a list.

    `description` is its title and description from the schema.
    """

    path: tuple[str, ...]
    kind: str
    description: str
    choices: tuple[Any, ...] = ()
    format: str = ""

    @property
    def name(self) -> str:
        """The path in dotted form: `opened`, `ferries.*.name`."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Schema:
    """A JSON Schema with internal references only: none is ever fetched."""

    definition: Object

    @classmethod
    def load(cls, schema: Path | Object) -> Schema:
        """Read a schema, from a file if it is a path; raises `UsageError` if it is not valid."""
        definition = schema if isinstance(schema, dict) else _read(schema)
        try:
            from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - an extra
            from jsonschema.validators import validator_for  # noqa: PLC0415 - as above
        except ModuleNotFoundError as error:
            hint = "pip install 'urchin-research[schema]'"
            raise UsageError(
                "using a JSON Schema requires the `schema` extra", hint=hint
            ) from error
        try:
            validator_for(definition).check_schema(definition)
        except SchemaError as error:
            where = "/".join(map(str, error.absolute_path))
            raise UsageError(f"the schema is not valid at /{where}: {error.message}") from error
        loaded = cls(definition)
        for reference in _references(definition):
            if not reference.startswith("#") or loaded._resolve(reference) is None:
                raise UsageError(
                    f"the schema refers to {reference}, which it does not contain",
                    hint="Put the referenced definition under $defs in the same file.",
                )
        return loaded

    @property
    def text(self) -> str:
        """The schema as JSON, for a prompt."""
        return json.dumps(self.definition, ensure_ascii=False)

    def errors(self, instance: Any) -> list[tuple[str, str]]:
        """Validate an instance; returns (JSON pointer, message) pairs, sorted by pointer."""
        from jsonschema.validators import validator_for  # noqa: PLC0415 - as above
        from referencing import Registry  # noqa: PLC0415 - as above

        kind = validator_for(self.definition)
        # With the default registry instead of an empty one, references to web addresses would be
        # fetched.
        validator = kind(self.definition, registry=Registry(), format_checker=kind.FORMAT_CHECKER)
        found = sorted(validator.iter_errors(instance), key=lambda e: list(map(str, e.path)))
        return [(pointer(e.absolute_path), e.message) for e in found[:MAX_ERRORS]]

    def fields(self) -> list[Field]:
        """List the individual values that the schema requests."""
        return list(self._fields(self.definition, (), MAX_DEPTH))

    def _fields(self, node: Any, path: tuple[str, ...], levels: int) -> Iterator[Field]:
        if isinstance(node, dict) and "$ref" in node:
            node = self._resolve(node["$ref"])
        if not isinstance(node, dict) or not levels:
            return
        if "properties" in node:
            for name, inner in node["properties"].items():
                yield from self._fields(inner, (*path, name), levels - 1)
        elif "items" in node:
            yield from self._fields(node["items"], (*path, "*"), levels - 1)
        else:
            types = node.get("type", "string")
            types = types if isinstance(types, list) else [types]
            kind = next((type_ for type_ in types if type_ != "null"), "string")
            texts = [str(node[key]) for key in ("title", "description") if node.get(key)]
            choices = tuple(value for value in node.get("enum", ()) if value is not None)
            yield Field(path, kind, " ".join(texts), choices, str(node.get("format", "")))

    def _resolve(self, reference: str) -> Any:
        """Return the target of a `#/…` reference; None if there is none."""
        node: Any = self.definition
        for part in filter(None, reference.removeprefix("#").split("/")):
            key = part.replace("~1", "/").replace("~0", "~")
            node = node.get(key) if isinstance(node, dict) else None
        return node


def pointer(path: Iterable[str | int]) -> str:
    """Format a path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _read(path: Path) -> Object:
    try:
        definition = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read the schema {path}: {error.strerror}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the schema {path} is not JSON: {error}", hint=_HINT) from error
    if not isinstance(definition, dict):
        raise UsageError(f"the schema {path} is not a JSON object", hint=_HINT)
    return definition


def _references(node: Any) -> Iterator[str]:
    """Yield every `$ref` in a schema."""
    if isinstance(node, dict):
        reference = node.get("$ref")
        if isinstance(reference, str):
            yield reference
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _references(inner)
