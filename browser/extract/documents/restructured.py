"""Reads reStructuredText as rendered by docutils; Sphinx's additions become plain text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from browser.extract.documents.archive import missing_extra_error
from browser.extract.documents.composer import Composer
from browser.extract.tree import parse_html
from browser.types import Document

if TYPE_CHECKING:
    from docutils import nodes

# Maximum number of characters; docutils takes about 2 s for this many.
MAX_LENGTH = 400_000
_ROLE = re.compile(r":[\w:.+-]+:`~?!?([^`<]+?)\s*(?:<[^`>]*>)?`")
_DIRECTIVE = re.compile(r"^\s*\.\. ([\w:.+-]+)::", re.MULTILINE)
# Directives that would show only file names or settings.
_EMPTY_DIRECTIVES = ("toctree", "include", "literalinclude", "automodule", "autoclass", "highlight",
                     "currentmodule", "index", "contents", "raw", "meta", "image")  # fmt: skip
_SETTINGS = {
    "file_insertion_enabled": False, "raw_enabled": False, "report_level": 5, "halt_level": 5,
    "_disable_config": True, "syntax_highlight": "none", "embed_stylesheet": False,
    "input_encoding": "unicode", "output_encoding": "unicode", "doctitle_xform": False,
    "initial_header_level": 1,
    "id_prefix": "x-", "line_length_limit": 100_000,
}  # fmt: skip


def read_rst(text: str, url: str, name: str) -> Document:
    """Read reStructuredText; Sphinx's roles and directives are replaced by their text.

    Raises ExtractError without the `documents` extra.
    """
    try:
        from docutils.core import publish_parts  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise missing_extra_error("rst", "documents", "Markdown") from error
    _add_directives(text)
    plain = _ROLE.sub(lambda match: match[0] if match[0].startswith(":math:") else match[1], text)
    html = publish_parts(plain, writer="html5", settings_overrides=_SETTINGS)["html_body"]
    composer = Composer()
    root = parse_html(f"<body>{html}</body>")
    composer.markup(root)
    return composer.document(url, "rst", name, Document(url))


def _add_directives(text: str) -> None:
    """Make docutils keep the content of unknown directives."""
    from docutils import nodes  # noqa: PLC0415 - an extra
    from docutils.parsers.rst import Directive, directives, languages  # noqa: PLC0415

    class Plain(Directive):  # type: ignore[misc] # docutils has no types
        """A directive that shows its arguments and its content."""

        has_content = True
        optional_arguments = 1
        final_argument_whitespace = True
        option_spec: ClassVar[Any] = _AnyOption()

        def run(self) -> list[nodes.Node]:
            box = nodes.container()
            if self.name not in _EMPTY_DIRECTIVES:
                box += [nodes.paragraph("", argument) for argument in self.arguments]
                self.state.nested_parse(self.content, self.content_offset, box)
            return [box]

    english = languages.get_language("en")
    known = directives._directive_registry.keys() | english.directives.keys()  # noqa: SLF001
    for directive in {*_DIRECTIVE.findall(text), *_EMPTY_DIRECTIVES}:
        if directive.lower() not in known or directive in _EMPTY_DIRECTIVES:
            directives.register_directive(directive.lower(), Plain)


class _AnyOption(dict[str, Any]):
    """The options of a directive that accepts any option."""

    def __missing__(self, name: str) -> Any:
        return lambda value: value
