"""The frame of every page: autoescaped templates, one style sheet, one script, and a policy that forbids the rest."""

from __future__ import annotations

import base64
import hashlib
import shlex
from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from toolcert.core.findings import Severity
from toolcert.core.text.visible_text import visible_block
from toolcert.diagnose import kind_of
from toolcert.reports.display_text import count, dollars, duration, percent, plural, seconds, speed_of, visible
from toolcert.reports.html.charts import agreement, rates, times
from toolcert.version import __version__

STYLES = ("tokens", "base", "tables", "controls", "charts", "matrix", "rows", "history", "compare", "phone", "print")
"""In this order: later sheets refine earlier ones."""
SCRIPTS = ("theme", "address", "copy", "sort", "more", "pages", "filter", "matrix", "days", "reveal")
_CODE = Markup("<code>{}</code>")
TONES = {Severity.ERROR: "bad", Severity.WARNING: "warn", Severity.NOTE: "mute"}


def render(template: str, **context: Any) -> str:
    """The page of `template`; every value in `context` is escaped, and control characters are written out."""
    return visible_block(_environment().get_template(template).render(**context))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("toolcert.reports.html", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = style_sheet()
    script = '"use strict";\n' + "\n".join(asset(f"script/{name}.js") for name in SCRIPTS)
    environment.globals.update(
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        symbols=Markup(asset("symbols.svg")),  # noqa: S704 - our own file
        policy=_policy(style, script),
        charts=SimpleNamespace(**vars(agreement) | vars(rates) | vars(times)),
        version=__version__,
    )
    environment.filters.update(
        content=content,
        count=count,
        dollars=dollars,
        speed=speed_of,
        percent=percent,
        plural=plural,
        seconds=seconds,
        duration=duration,
        visible=visible,
        prose=prose,
        quoted=shlex.quote,
    )
    return environment


def prose(sentence: str) -> Markup:
    """Our own sentences as markup; text between backticks becomes code."""
    pieces = sentence.split("`")
    return Markup("").join(_CODE.format(piece) if number % 2 else escape(piece) for number, piece in enumerate(pieces))


def content(text: str) -> Markup:
    """Text between two tags, where quotes need no escape: evidence is full of them."""
    return Markup(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))  # noqa: S704 - escaped here


def _policy(style: str, script: str) -> str:
    """The content-security policy: only our own style and script, by their digests."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def style_sheet() -> str:
    """The style of every page."""
    return "\n".join(asset(f"style/{name}.css") for name in STYLES)


def page_policy() -> str:
    """The content-security policy of every page."""
    return str(_environment().globals["policy"])


def asset(name: str) -> str:
    """The text of a file of this package."""
    return files("toolcert.reports.html").joinpath("assets", name).read_text("utf-8").strip()


def full_title(code: str, title: str) -> str:
    """The title of a finding; for `args.schema.required` it names the schema keyword."""
    family = kind_of(code).code
    detail = code.removeprefix(family).strip(".")
    return f"{title.rstrip('.')}: `{detail}`" if detail else title
