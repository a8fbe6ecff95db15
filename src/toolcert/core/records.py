"""What a run log holds: the manifest of the run, and one self-contained record for each case, verdict fields first.

The manifest says who, what, when and with which versions; never a secret. Verdict fields have fixed names only. A field
with free keys belongs into `Detail`: readers of verdicts find the end of the head by the name of that last key.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from toolcert.core.cases import Outcome, SkipKind
from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Finding
from toolcert.core.statistics.rates import PROBE_THRESHOLD
from toolcert.core.targets import EndpointSpec, ModelInfo
from toolcert.core.values import JsonObject, Seconds, Value

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


class ProbeFacts(Value):
    """What a probe case measured besides its outcome."""

    probe: str
    iteration: int
    called: bool | None = None
    """A valid call of the right tool came in the first turn; None when not measured."""
    handled: bool | None = None
    """The tool's result was used; None when there was nothing to use or it was not measured."""
    calls: int = 0
    """Calls that came, right or wrong: a model whose calls are wrong is not one that makes none."""
    seconds: tuple[Seconds, ...] = ()
    """Time of each turn's last attempt."""
    first_token: Seconds | None = None
    retried: bool = False
    """Passed or failed only after a retry: kept apart from first tries."""
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    fingerprints: tuple[str, ...] = ()
    """Of the deployments that answered, each once."""


class RowFacts(Value):
    """What a dataset row measured besides its outcome: everything that a comparison needs."""

    index: int
    content: str
    """Hash of what was asked (messages, tools, tool_choice, parallel_tool_calls, response_format)."""
    sampling: str = ""
    """Hash of how it was asked (temperature, top_p, max_tokens, seed, stream)."""
    called: bool | None = None
    finish: str | None = None
    calls: tuple[str, ...] = ()
    """One digest per call: canonical name and arguments."""
    names: tuple[str, ...] = ()
    valid: bool | None = None
    """All calls satisfy their schemas; None without calls or without a usable schema."""
    verdicts: tuple[bool | None, ...] = ()
    """Whether each call satisfies its schema, in the order of `names`; None where the schema cannot be used."""
    wanted: bool | None = None
    """Whether the row itself expects a call; None where it says nothing."""
    correct: bool | None = None
    """The row's own expectation was met; None where it had none."""
    buckets: tuple[str, ...] = ()
    """Why calls are invalid: InvalidJson, UnknownName, SchemaMismatch.<keyword>, ..."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    fingerprint: str | None = None
    answered_as: str | None = None
    """The model name in the answer."""
    id_style: str | None = None
    text_beside_call: bool = False
    seconds: Seconds | None = None
    first_token: Seconds | None = None
    attempts: int = 1
    tools: int = 0
    """How many tools were offered."""
    offered: tuple[str, ...] = ()
    """Names of the offered tools; only the first few of a long list."""
    lost: str | None = None
    """The tool whose call was left in the text or lost, where that can be determined."""
    turns: int = 0
    """Messages of the user."""
    streamed: bool = False
    tags: tuple[str, ...] = ()
    id: str | None = None
    """The name that the dataset gives the row."""


class LoadPhase(StrEnum):
    """The part of a load run to which a request belongs."""

    PAIR = "pair"
    """Asked alone and under load; the two are compared."""
    SEARCH = "search"
    """Asked at a level between, to find where calls begin to break."""
    RAMP = "ramp"
    """Asked at a level between, for its times."""
    HOLD = "hold"
    """Asked while the load is held for a given time."""


class LoadFacts(Value):
    """Where a request of a load run belongs."""

    phase: LoadPhase
    level: int
    """Requests that were to be in flight at a time."""
    number: int
    """The question; the two requests of a pair have the same."""
    began: float = 0.0
    """Unix time at which it was handed to the endpoint's session."""


class Detail(Value):
    """The evidence behind a verdict; last on the line so that readers of verdicts can stop early."""

    findings: tuple[Finding, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    expected: Any = None
    figures: JsonObject = {}
    """Figures of one probe only (the first failing rung, the differing fields, ...)."""


class Record(Value):
    """The result of one case."""

    case: str
    endpoint: str
    model: str
    outcome: Outcome
    reason: str = ""
    """Why it is not `passed`, in words for people: no code may look into them."""
    skip: SkipKind | None = None
    """Why it was skipped, where it was."""
    cause: str = ""
    """The reason without the details of this case, where it has some: cases are grouped by it."""
    codes: tuple[str, ...] = ()
    """The codes of its findings, each once, errors first; without those that follow from another (see `Finding`)."""
    at: float = 0.0
    """Unix time the case finished."""
    probe: ProbeFacts | None = None
    row: RowFacts | None = None
    load: LoadFacts | None = None
    detail: Detail = Detail()
