"""The manifest of a run: who, what, when, with which versions; never a secret."""

from __future__ import annotations

from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.core.values import JsonObject, Value

RUN_FORMAT = 1
"""Version of the run log; readers refuse a newer one."""


class Dataset(Value):
    """The dataset of a verify run."""

    path: str
    digest: str | None = None
    rows: int | None = None


class Part(Value):
    """One of the runs that a merged run was made from."""

    run: str
    shard: str | None = None
    started_at: float = 0.0
    finished_at: float | None = None
    toolcert: str = ""
    planned: int | None = None
    planned_by_all: int | None = None


class Manifest(Value):
    """What a run is about, written before its first record."""

    run: str
    """Short id of the run."""
    job: str
    """`probe` or `verify`."""
    started_at: float
    toolcert: str
    """Version that made the run."""
    finished_at: float | None = None
    interrupted: bool = False
    format: int = RUN_FORMAT
    endpoints: tuple[EndpointSpec, ...] = ()
    models: dict[str, tuple[ModelInfo, ...]] = {}
    """The models of each endpoint, including those that are not asked."""
    partial: bool = False
    """Only some of the listed models were chosen."""
    unreachable: dict[str, str] = {}
    """Endpoints that gave no list of models, with the reason; nothing was measured there."""
    suite: str | None = None
    probes: tuple[str, ...] = ()
    iterations: int | None = None
    threshold: float = PROBE_THRESHOLD
    dataset: Dataset | None = None
    planned: int | None = None
    """Rows that a verify run plans to ask, where the number is known at the start; of a shard its cases."""
    shard: str | None = None
    """`2/8` where the run asks only its share of the cases."""
    planned_by_all: int | None = None
    """Of a shard: the cases that all shards together ask."""
    parts: tuple[Part, ...] = ()
    """The runs that this one was merged from, as long as it was not continued since."""
    parameters: JsonObject = {}
    """What else shaped the requests: temperature, max_tokens, adapter, stream mode, ..."""
    has_stale_lines: bool = False
    """The log may hold lines that do not count: of a case asked again later, or of a row that left the dataset.
    Where this is false, readers need not look for them."""
    argv: tuple[str, ...] = ()
    versions: dict[str, str] = {}

    @property
    def asked_models(self) -> tuple[str, ...]:
        """The ids of the models that the run asks, each once."""
        named = self.parameters.get("model")
        listed = (info.id for infos in self.models.values() for info in infos if info.can_chat)
        return (str(named),) if named else tuple(dict.fromkeys(listed))

    @property
    def about(self) -> str:
        """The dataset, or the suite; of a shard also which one, because its verdict is that of a share."""
        told = self.dataset.path if self.dataset is not None else self.suite or ""
        return f"{told}, shard {self.shard}" if self.shard else told
