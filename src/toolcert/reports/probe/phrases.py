"""What every report of a probe run says of a model: name, verdict, score and order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from toolcert.core.exchanges import Exchange
from toolcert.core.findings import Severity
from toolcert.core.requests import Request
from toolcert.core.statistics.rates import Certainty, runs_needed
from toolcert.core.targets import EndpointSpec
from toolcert.core.values import Value
from toolcert.core.verdict import Word
from toolcert.endpoints.curl import curl_line, token_line
from toolcert.probes.summary.scorecard import (
    Cause,
    Example,
    FindingCount,
    ModelSummary,
    ProbeSummary,
)
from toolcert.reports.display_text import NO_VALUE, dollars, plural, visible
from toolcert.runs.files import refuse_link, write_whole

ROLES = {
    Word.CERTIFIED: "good",
    Word.PASSES: "good",
    Word.PARTIAL: "half",
    Word.UNDECIDED: "unknown",
    Word.FAILS: "bad",
    Word.UNSUPPORTED: "cannot",
    Word.NOT_MEASURED: "unknown",
}
"""The tone in which each verdict is shown."""


def verdict_of(model: ModelSummary) -> tuple[str, str]:
    """Role (good, half, bad, cannot, unknown) and word."""
    return ROLES[model.verdict.word], model.verdict.word.text


class VerdictCount(Value):
    """How many models have a verdict."""

    role: str
    word: str
    number: int


def verdict_counts(words: Iterable[str]) -> tuple[VerdictCount, ...]:
    """How often each verdict is among `words`, best first; the words of an older tool are not counted."""
    counted = Counter(words)
    return tuple(
        VerdictCount(role=ROLES[word], word=word.text, number=counted[word.text]) for word in Word if counted[word.text]
    )


def place_of(summary: ProbeSummary) -> str:
    """Where the models are served, in a title."""
    return "one endpoint" if len(summary.endpoints) == 1 else plural(len(summary.endpoints), "endpoint")


def score_of(model: ModelSummary) -> str:
    """Points of 100, as a range while it is open; a model that cannot be asked has none."""
    if model.verdict.word is Word.UNSUPPORTED:
        return NO_VALUE
    return str(model.score)


def errors_of(model: ModelSummary) -> tuple[FindingCount, ...]:
    """Findings that break an agent, worst first."""
    return tuple(found for found in model.findings if found.severity is Severity.ERROR)


def caveat_of(model: ModelSummary) -> str:
    """The errors of a model with a good verdict: seen once and not again, known, or allowed."""
    errors = errors_of(model)
    return plural(len(errors), "error") if errors and verdict_of(model)[0] == "good" else ""


def still_open(summary: ProbeSummary) -> str:
    """How many runs would decide reliabilities that are still open; empty if all are decided."""
    settled = (Certainty.PROVEN, Certainty.UNRELIABLE)
    figures = [model.reliability for model in summary.models if model.reliability.rate.n]
    undecided = [figure.rate.n for figure in figures if figure.certainty not in settled]
    if summary.threshold >= 1 or not undecided:
        return ""
    done, needed = max(undecided), runs_needed(summary.threshold)
    if done < needed:
        return f"{plural(done, 'run')} are too few to be sure; {needed} passing runs would certify (-n {needed})."
    return f"{done} runs, some of them failed, do not settle {summary.threshold:g}; more would (-n {2 * done})."


def cost_of(summary: ProbeSummary) -> str:
    """What the run cost, and how many models have a price; empty without any price."""
    cost = summary.totals.usage.cost
    if cost is None:
        return ""
    asked = [model for model in summary.models if model.usage.requests]
    priced = sum(model.usage.cost is not None for model in asked)
    return dollars(cost) + (f" ({priced} of {plural(len(asked), 'model')} priced)" if priced < len(asked) else "")


_MOST_NAMES = 8
"""Most models named beside a finding; the page lists all."""


def models_of(summary: ProbeSummary, cause: Cause) -> str:
    """Where a finding was seen, as `at 3 of 8 models: a, b, c`."""
    shown = [visible(name) for name in cause.models[:_MOST_NAMES]]
    hidden = len(cause.models) - len(shown)
    more = f" and {hidden} more" if hidden else ""
    return f"at {len(cause.models)} of {plural(len(summary.models), 'model')}: {', '.join(shown)}{more}"


def label_of(summary: ProbeSummary, model: ModelSummary) -> str:
    """The name of a model in tables."""
    return visible(model.model if len(summary.endpoints) < 2 else f"{model.endpoint}: {model.model}")


def same_models(summary: ProbeSummary) -> dict[str, list[ModelSummary]]:
    """The models that several endpoints serve, best first; ids are compared by their last part, in any case."""
    served: dict[str, list[ModelSummary]] = {}
    for model in summary.models:
        served.setdefault(model.model.rpartition("/")[2].casefold(), []).append(model)
    shared: dict[str, list[ModelSummary]] = {}
    for models in served.values():
        if len({model.endpoint for model in models}) == len(models) > 1:
            shared[min((model.model for model in models), key=lambda name: (len(name), name))] = models
            continue
        by_id: dict[str, list[ModelSummary]] = {}  # an endpoint serves two of the name: only equal ids are the same
        for model in models:
            by_id.setdefault(model.model, []).append(model)
        shared |= {name: alike for name, alike in by_id.items() if len({one.endpoint for one in alike}) > 1}
    return shared


def endpoint_of(summary: ProbeSummary, case: str) -> EndpointSpec:
    """The endpoint of a case; a key begins with its endpoint's name. A manifest that was changed may name none."""
    named = (line for line in summary.endpoints if case.startswith(f"{line.name}/"))
    return next(named, next(iter(summary.endpoints), EndpointSpec(name="")))


def reproduce(summary: ProbeSummary, example: Example, body_file: str | None = None) -> str:
    """The curl line that sends an example again; empty if its request was not kept."""
    if example.body is None:
        return ""
    spec = endpoint_of(summary, example.case)
    exchange = Exchange(request=Request(body=example.body), url=example.url)
    line = curl_line(exchange, spec, body_file=body_file)
    # If a token is needed, the line before fetches it, so that both can be pasted together.
    return visible(line if (token := token_line(spec)) is None else f"{token}; {line}")


def in_order(summary: ProbeSummary, order: str) -> ProbeSummary:
    """The summary with its models sorted; `score` is the ranking itself."""
    key = _KEYS.get(order)
    if key is None:
        return summary
    return msgspec.structs.replace(summary, models=tuple(sorted(summary.models, key=key)))


def total_seconds(model: ModelSummary) -> float | None:
    """The median of the call plus that of the answer; None if one was not measured."""
    call, answer = model.seconds("call"), model.seconds("answer")
    return None if call is None or answer is None else call + answer


def _by_time(time_of: Callable[[ModelSummary], float | None]) -> Callable[[ModelSummary], tuple[bool, float]]:
    def key(model: ModelSummary) -> tuple[bool, float]:
        time = time_of(model)
        return time is None, time or 0.0

    return key


def _by_name(model: ModelSummary) -> tuple[str, str]:
    return model.model.lower(), model.endpoint


_KEYS: Mapping[str, Callable[[ModelSummary], tuple[object, ...]]] = {
    "name": _by_name,
    "call-time": _by_time(lambda model: model.seconds("call")),
    "response-time": _by_time(lambda model: model.seconds("answer")),
    "total-time": _by_time(total_seconds),
}


EXAMPLES = "examples"
_CODE = re.compile(r"\w[\w.-]{0,99}", re.ASCII)


def write_examples(folder: Path, summary: ProbeSummary) -> Mapping[str, str]:
    """Write one request body per finding; returns the file of each code."""
    files: dict[str, str] = {}
    refuse_link(folder / EXAMPLES)
    for cause in summary.causes:
        # The code comes from the run, which may come from a stranger: `../x` is a path, and names no file.
        if cause.example.body is None or not _CODE.fullmatch(cause.code):
            continue
        path = folder / EXAMPLES / f"{cause.code}.json"
        refuse_link(path)
        body = msgspec.json.format(msgspec.json.encode(cause.example.body), indent=2)
        write_whole(path, [body, b"\n"])
        files[cause.code] = str(path)
    return files
