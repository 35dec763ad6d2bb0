"""The page's own files: templates, style and script, and the policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from evalaction.report.blocks import Bullets, Fold, Listing, Table
from evalaction.report.html.palette import DARK, LIGHT, declarations

if TYPE_CHECKING:
    from jinja2 import Environment

_SCRIPTS = ("data.js", "marks.js", "list.js", "grid.js", "panel.js", "page.js")


def _asset(name: str) -> str:
    return files("evalaction").joinpath("data", "page", name).read_text(encoding="utf-8")


@cache
def style() -> str:
    """The style sheet: dark where the reader's system is, unless the button on the page says otherwise."""
    dark = declarations(DARK)
    return (
        f":root{{color-scheme:light;{declarations(LIGHT)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n" + _asset("style.css")
    )


@cache
def script() -> str:
    return '"use strict";\n(() => {\n' + "\n".join(map(_asset, _SCRIPTS)) + "})();\n"


def policy() -> str:
    """The content security policy: our own script and style by their digests, and nothing else."""
    return (
        f"default-src 'none'; script-src {_digest(script())}; style-src {_digest(style())}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def environment() -> Environment:
    """Templates that escape whatever they are given."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    for kind in (Table, Bullets, Listing, Fold):
        made.tests[kind.__name__.lower()] = _is_a(kind)
    return made


def load() -> None:
    """Compile the templates ahead of time: a run does it while replies are under way."""
    for name in ("page.html", "macros.html"):
        environment().get_template(name)


def _is_a(kind: type) -> Callable[[object], bool]:
    return lambda block: isinstance(block, kind)
