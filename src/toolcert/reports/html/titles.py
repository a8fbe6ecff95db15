"""The title of a finding, with the part of its code that says more than its kind."""

from __future__ import annotations

from toolcert.diagnose import kind_of


def full_title(code: str, title: str) -> str:
    """`args.schema.required` is of the kind `args.schema`: its title names the keyword."""
    family = kind_of(code).code
    detail = code.removeprefix(family).strip(".")
    return f"{title.rstrip('.')}: `{detail}`" if detail else title
