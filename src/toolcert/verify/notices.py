"""What a run says about the measurements of earlier runs in its folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from toolcert.core.manifest import Manifest
from toolcert.core.wording import plural
from toolcert.verify.aside import SUPERSEDED
from toolcert.verify.log import UNMEASURED
from toolcert.verify.prepare import Shaping
from toolcert.verify.takeup import Earlier


def untouched(folder: Path, earlier: Earlier) -> str:
    """A run that measured nothing has pushed nothing out."""
    number = earlier.displaced
    stay = "stays as it was" if number == 1 else "stay as they were"
    rows = f"The {plural(number, 'row')} measured earlier in {folder}"
    return f"{rows} {stay}; this run, which measured nothing, is in {folder / UNMEASURED}."


def notices(folder: Path, earlier: Earlier, changed: str, gone: int) -> Iterator[str]:
    """What left the log and what came back; `gone` records were of lines that the dataset no longer has."""
    aside = folder / SUPERSEDED
    if earlier.foreign:
        rows = f"{plural(earlier.foreign, 'row')} measured earlier{changed} {_were(earlier.foreign)}"
        yield f"{rows} set aside in {aside}, until a run asks the same again."
    if gone:
        yield f"{plural(gone, 'row')} that the dataset no longer has {_were(gone)} set aside in {aside}."
    if back := earlier.again.met:
        yield f"{plural(back, 'row')} set aside earlier {_were(back)} taken up again, not asked again."


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def changes(before: Manifest, now: Manifest) -> str:
    """How the run before asked otherwise: ` (model corvid-120b)`; empty where its manifest does not tell."""
    urls = [[spec.base_url for spec in manifest.endpoints] for manifest in (before, now)]
    changed = [f"endpoint {', '.join(urls[0])}"] if urls[0] != urls[1] else []
    for name in Shaping.__struct_fields__:
        old = before.parameters.get(name)
        if old != now.parameters.get(name):
            changed.append(f"{name} {old}")
    return f" ({', '.join(changed)})" if changed else ""
