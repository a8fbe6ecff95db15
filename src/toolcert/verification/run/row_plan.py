"""The plan of a verify run: one case per chosen row, and how a row is asked and judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from toolcert.core.cases import Case, Shard
from toolcert.core.exchanges import Exchange, OnAttempt
from toolcert.core.records import Record
from toolcert.core.requests import Request, RequestKind
from toolcert.core.targets import EndpointSpec
from toolcert.core.values import JsonObject
from toolcert.diagnose import finding
from toolcert.engine.interfaces import Judge, Session, Unjudged
from toolcert.engine.read_ahead import ReadAhead
from toolcert.runs.resume import Earlier
from toolcert.verification.adapters.base import RenderError
from toolcert.verification.adapters.registry import load_adapter
from toolcert.verification.dataset.lines import Dataset, Line, SeenRows
from toolcert.verification.dataset.selection import Selection
from toolcert.verification.digest import content_hash, digest, row_key, sampling_hash, target_hash
from toolcert.verification.run.row_judge import MAX_OFFERED, Row, RowJudge, all_steps, refuse_row
from toolcert.verification.verify_options import Shaping, adapter_of, completion_request, prepare


class VerifyWork:
    """Sends a row to /chat/completions or /completions, as its adapter needs, and judges the answer."""

    def __init__(self, shaping: Shaping) -> None:
        self._shaping = shaping
        self._adapter = adapter_of(shaping)
        self._raw = self._adapter.supports_raw_completions()
        self._judge = RowJudge(self._adapter)

    def __reduce__(self) -> tuple[object, ...]:
        return _work_elsewhere, (self._shaping,)

    async def perform(self, case: Case, session: Session, on_attempt: OnAttempt) -> Record | Judge:
        """Ask one row."""
        row = Row.of_case(case)
        if case.body is None:
            return refuse_row(row)
        try:
            request = self._request(case.body)
        except RenderError as error:
            return refuse_row(row, finding("dataset.not_rendered", str(error)))
        exchange = await session.ask(request, on_attempt=on_attempt)
        asked = _as_asked(exchange, request, case.body) if self._raw else exchange
        judge = self._steps(row, asked)
        # A fault is judged at once: it may be a reason to send nothing more.
        return judge if asked.fault is None else all_steps(judge)

    def _steps(self, row: Row, asked: Exchange) -> Judge:
        try:
            return (yield from self._judge.steps(row, asked))
        except Exception as error:
            raise Unjudged([asked]) from error

    def _request(self, body: JsonObject) -> Request:
        return completion_request(body, self._adapter) if self._raw else Request(body=body)


def _work_elsewhere(shaping: Shaping) -> VerifyWork:
    """The same work in another process, on another machine: an adapter of the user's own is loaded there as well."""
    if shaping.adapter is not None and ":" in shaping.adapter:
        load_adapter(shaping.adapter)
    return VerifyWork(shaping)


def _as_asked(exchange: Exchange, rendered: Request, body: JsonObject) -> Exchange:
    """The exchange of a rendered prompt with the row as its request: the row's tools judge it."""
    asked = Request(body=body, kind=RequestKind.COMPLETIONS)
    return msgspec.structs.replace(exchange, request=asked, sent=exchange.sent or rendered.body)


class Deal:
    """The chosen rows that fall to a shard, found before the first is asked."""

    def __init__(self) -> None:
        self._own = bytearray(1)
        """One byte for each line of the dataset; lines are counted from 1."""
        self.rows = self.of_all = 0

    def add(self, line: int, *, own: bool) -> None:
        """Note a chosen row, and whether it falls to the shard."""
        self.of_all += 1
        if own:
            self._own.extend(bytes(line + 1 - len(self._own)))
            self._own[line] = 1
            self.rows += 1

    def __contains__(self, line: int) -> bool:
        return line < len(self._own) and self._own[line] == 1


class VerifyPlan:
    """Cases in the order of the file, without the rows that an earlier run in the folder has an answer to."""

    def __init__(
        self,
        dataset: Dataset,
        spec: EndpointSpec,
        shaping: Shaping,
        *,
        selection: Selection | None = None,
        earlier: Earlier | None = None,
        only_known: bool = False,
        deal: Deal | None = None,
    ) -> None:
        """With `only_known` only rows of the earlier run are asked, with a `deal` only those of a shard."""
        self.dataset = dataset
        self.selection = selection or Selection()
        self.target = target_of(spec, shaping)
        self.earlier = Earlier() if earlier is None else earlier
        self._only_known = only_known
        self._spec = spec
        self._shaping = shaping
        self._adapter = adapter_of(shaping)
        self._seen = SeenRows()
        self._deal = deal

    @cached_property
    def total(self) -> int | None:
        """How many rows are chosen, where that is known before they are read."""
        return self.selection.total(self.dataset) if self._deal is None else self._deal.rows

    @property
    def adapter_name(self) -> str:
        return type(self._adapter).__name__

    def sources(self) -> Mapping[str, Iterator[Case]]:
        """The rows that are to be asked, for the one endpoint there is."""
        return {self._spec.name: ReadAhead(self.cases())}

    def after(self, record: Record) -> Iterable[Case]:  # noqa: ARG002 - no row waits for another
        """Nothing: rows do not depend on each other."""
        return ()

    def cases(self) -> Iterator[Case]:
        """Every chosen row that is still to be asked."""
        for line in self.lines():
            case = self._case(line)
            if self.earlier.asks(case.key, line.index, only_known=self._only_known):
                yield case

    def dealt(self, shard: Shard) -> Deal:
        """The rows of a shard. They are dealt by what is asked, so that rows that ask the same fall to the same one."""
        deal = Deal()
        for line in self.selection.lines(self.dataset):
            deal.add(line.index, own=shard.takes(self._identify(line, self._prepared(line))[0]))
        return deal

    def lines(self) -> Iterator[Line]:
        """The chosen rows, those included that need not be asked."""
        deal = self._deal
        if deal is None:
            return self.selection.lines(self.dataset)
        # To the end of the file, whatever the selection: its digest shows which shards belong to one dataset.
        lines = self.dataset.source.lines()
        return (self.dataset.read(number, text) for number, text in lines if number in deal)

    def _prepared(self, line: Line) -> JsonObject | None:
        return None if line.body is None else prepare(line.body, self._shaping, self._adapter)

    def _case(self, line: Line) -> Case:
        body = self._prepared(line)
        key, extra = self._identify(line, body)
        occurrence, first = self._seen.occurrence(key, line.index)
        problems = line.findings
        if occurrence > 1:
            key = f"{key}~{occurrence}"
        if occurrence > 1 and body is not None:  # that an unreadable line is repeated is no news
            problems = (*problems, finding("dataset.duplicate", f"asks the same as line {first}"))
        if problems:
            extra["problems"] = problems
        return Case(
            key=key,
            endpoint=self._spec.name,
            model=self._shaping.model,
            index=line.index,
            body=body,
            extra=extra,
        )

    def _identify(self, line: Line, body: JsonObject | None) -> tuple[str, JsonObject]:
        """The key of a row, and the facts that its judgement needs."""
        if line.body is None or body is None:
            return f"{self.target}-{digest(line.text)}", {}
        content = content_hash(line.body, line.toolset.digest)
        untouched = body["messages"] is line.body["messages"] and body.get("tools") is line.body.get("tools")
        key = row_key(self.target, content if untouched else content_hash(body), body)
        names = line.toolset.names[:MAX_OFFERED]
        extra: JsonObject = {"content": content, "sampling": sampling_hash(body), "offered": names}
        if line.notes.tags:
            extra["tags"] = line.notes.tags
        if line.notes.id is not None:
            extra["id"] = line.notes.id
        if line.notes.expected is not None:
            extra["expected"] = msgspec.to_builtins(line.notes.expected)
        return key, extra


def target_of(spec: EndpointSpec, shaping: Shaping) -> str:
    """The start of all keys of a run; another endpoint, model or setting gives another."""
    return target_hash(spec, msgspec.to_builtins(shaping))
