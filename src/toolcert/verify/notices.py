"""What a run says about the measurements of earlier runs in its folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from toolcert.core.manifest import Manifest
from toolcert.core.values import Value
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


class Aftermath(Value):
    """What became of the records of an earlier run."""

    changed: str = ""
    """How that run asked otherwise."""
    gone: int = 0
    """Records of lines that the dataset no longer has."""
    in_vain: int = 0
    """Failures that were to be asked again and got no answer."""


def notices(folder: Path, earlier: Earlier, after: Aftermath) -> Iterator[str]:
    """What left the log and what came back."""
    aside, gone = folder / SUPERSEDED, after.gone
    if earlier.foreign:
        rows = f"{plural(earlier.foreign, 'row')} measured earlier{after.changed} {_were(earlier.foreign)}"
        yield f"{rows} set aside in {aside}, until a run asks the same again."
    if gone:
        yield f"{plural(gone, 'row')} that the dataset no longer has {_were(gone)} set aside in {aside}."
    if after.in_vain:
        stand = "stands as it was" if after.in_vain == 1 else "stand as they were"
        yield f"{plural(after.in_vain, 'failed row')} got no other answer and {stand}."
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
