"""What a model is called: its id alone, or with its endpoint where a run has several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from toolcert.core.exchanges import Exchange
from toolcert.core.requests import Request
from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.curl import curl_line, token_line
from toolcert.probes.scorecard import Example, ModelSummary, ProbeSummary
from toolcert.reports.text import fit, visible
from toolcert.reports.verdicts import score_of, verdict_of

_MODEL, _NARROWEST, _WIDEST = 24, 15, 20
"""Columns of the models' names and of each endpoint; the narrowest holds `100 recommended`."""


def label_of(summary: ProbeSummary, model: ModelSummary) -> str:
    """The name of a model in tables."""
    return visible(model.model if len(summary.endpoints) < 2 else f"{model.endpoint}: {model.model}")


def endpoint_of(summary: ProbeSummary, case: str) -> EndpointSpec:
    """The endpoint of a case; a key begins with its endpoint's name."""
    return next((line for line in summary.endpoints if case.startswith(f"{line.name}/")), summary.endpoints[0])


def reproduce(summary: ProbeSummary, example: Example, body_file: str | None = None) -> str:
    """The curl line that sends an example again; empty where its request was not kept."""
    if example.body is None:
        return ""
    spec = endpoint_of(summary, example.case)
    exchange = Exchange(request=Request(body=example.body), url=example.url)
    line = curl_line(exchange, spec, body_file=body_file)
    # A token that is fetched first is fetched by the line before, so that the two can be pasted together.
    return visible(line if (token := token_line(spec)) is None else f"{token}; {line}")


def vendors_side_by_side(summary: ProbeSummary, width: int = 80) -> Iterator[Text]:
    """One line per model that several endpoints serve, one column per endpoint; blocks of as many as fit."""
    names = [line.name for line in summary.endpoints]
    by_model: dict[str, dict[str, ModelSummary]] = {}
    for model in summary.models:
        by_model.setdefault(model.model, {})[model.endpoint] = model
    shared = {name: row for name, row in by_model.items() if len(row) > 1}
    if not shared:
        return
    most = max(1, (width - _MODEL) // (_NARROWEST + 2))
    column = min(_WIDEST, (width - _MODEL) // min(most, len(names)) - 2)
    for first in range(0, len(names), most):
        block = names[first : first + most]
        yield Text(_line("SAME MODEL", block, column), "dim")
        for name, row in shared.items():
            yield Text(_line(name, [_standing(row.get(vendor)) for vendor in block], column))


def _line(first: str, cells: Sequence[str], column: int) -> str:
    return (fit(first, _MODEL) + "".join(f"  {fit(cell, column)}" for cell in cells)).rstrip()


def _standing(model: ModelSummary | None) -> str:
    if model is None:
        return "–"
    return f"{score_of(model)} {verdict_of(model)[1]}"
