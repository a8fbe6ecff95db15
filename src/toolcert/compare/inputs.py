"""What a word on the command line stands for: a run folder, a results file, or a blessed baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from toolcert.compare.blessing import Blessing, find_blessing
from toolcert.compare.comparison import Side
from toolcert.compare.matching import Match
from toolcert.compare.rundata import By, RunData
from toolcert.core.errors import InputError
from toolcert.core.values import Value
from toolcert.runs.reader import is_run
from toolcert.runs.writer import RECORDS

_GZIP = b"\x1f\x8b"


class Source(Value):
    """A run that takes part, before it is read."""

    label: str
    path: Path
    own: bool
    """A run of ours, with a manifest."""
    blessing: Blessing | None = None


def locate(word: str, baselines: Path) -> Source:
    """Find what `word` names: something on disk, or a blessed baseline, but never one where the other may be meant."""
    path, blessing = Path(word), find_blessing(baselines, word)
    if blessing is not None:
        if path.exists() and path.resolve() != Path(blessing.path):
            raise InputError(
                f"{word} is the name of a blessed baseline and of {path.resolve()}.",
                remedy=f"Write ./{word} for the latter, or bless the baseline under another name.",
            )
        return _blessed(blessing, baselines)
    if not path.exists():
        raise InputError(
            f"there is no run, results file or blessed baseline {word}.",
            remedy="Name a run folder of `toolcert verify`, a results.jsonl file, or bless a run under this name.",
        )
    if path.name == RECORDS and is_run(path.parent):
        path = path.parent
    if path.is_dir():
        if not is_run(path):
            raise InputError(f"{path} is a folder, but not a run of toolcert: it has no manifest.json.")
        return Source(label=_label(path), path=path, own=True)
    _check_file(path)
    return Source(label=_label(path), path=path, own=False)


def _blessed(blessing: Blessing, baselines: Path) -> Source:
    if not Path(blessing.path).exists():
        raise InputError(
            f"the baseline {blessing.name} was blessed at {blessing.path}, and there is nothing any more.",
            remedy=f"Bless another run: toolcert bless RUN --as {blessing.name}",
        )
    found = locate(blessing.path, baselines)
    return Source(label=blessing.name, path=found.path, own=found.own, blessing=blessing)


def _check_file(path: Path) -> None:
    """Refuse what cannot be a results file, before any of it is read."""
    if not path.is_file():
        raise InputError(
            f"{path} is a pipe or device, and results are read more than once.", remedy="Save them to a file first."
        )
    try:
        with path.open("rb") as file:
            start = file.read(len(_GZIP))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    if not start:
        raise InputError(f"{path} is empty.", remedy="Was the run that should have written it interrupted?")
    if start == _GZIP:
        raise InputError(f"{path} is compressed.", remedy=f"Unpack it first: gunzip --keep {path}")


def read_source(source: Source, match: Match, *, mixed: bool, by: By | None = None) -> RunData:
    """Read a run; `mixed` says that runs of ours and results files are compared with each other."""
    if source.own:
        from toolcert.compare.ours import read_run

        data = read_run(source.path, source.label, by)
    else:
        from toolcert.compare.foreign import Reading, read_results

        reading = Reading(requests=match is Match.CONTENT or mixed, digests=mixed, by=by)
        data = read_results(source.path, source.label, reading)
    if not len(data.columns):
        raise InputError(f"{source.path} has no rows.", remedy="Was the run that should have written it interrupted?")
    return data


def describe(source: Source, data: RunData) -> Side:
    """What a report says about a run."""
    manifest = data.manifest
    models = {who.asked for who in data.identities if who.asked}
    dataset = manifest.dataset if manifest is not None else None
    return Side(
        label=source.label,
        path=str(source.path),
        foreign=not source.own,
        rows=len(data.columns),
        measured=data.measured,
        model=", ".join(sorted(models)[:3]),
        endpoint=manifest.endpoints[0].base_url if manifest is not None and manifest.endpoints else "",
        dataset=None if dataset is None else dataset.path,
        dataset_digest=None if dataset is None else dataset.digest,
        parameters={} if manifest is None else manifest.parameters,
        started_at=None if manifest is None else manifest.started_at,
        blessed_as=None if source.blessing is None else source.blessing.name,
        torn=data.torn,
    )


def distinct_labels(sources: Sequence[Source]) -> list[str]:
    """Labels that tell the runs apart: with as much of the path as that takes."""
    labels = [source.label for source in sources]
    return [
        label if labels.count(label) == 1 else str(source.path) for source, label in zip(sources, labels, strict=True)
    ]


def is_mixed(sources: Iterable[Source]) -> bool:
    """Whether runs of ours and results files meet."""
    return len({source.own for source in sources}) > 1


def _label(path: Path) -> str:
    return path.stem if path.is_file() else path.name or str(path)
