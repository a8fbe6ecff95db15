"""One evaluation: a verify run of toolcert, written as results and summary of this tool."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from toolcert.api.endpoint import Endpoint, wait_for
from toolcert.api.verify import run_job, verify_job
from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, NothingMeasuredError
from toolcert.core.events import Handler
from toolcert.core.records import Record
from toolcert.core.text.number_text import plural
from toolcert.core.values import JsonObject, Value
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.reader import is_run, read_manifest
from toolcert.verification.adapters import ModelAdapter as ToolcertAdapter
from toolcert.verification.adapters import register_adapter
from toolcert.verification.run.job import VerifyJob
from toolcert.verification.run.log import UNMEASURED
from toolcert.verification.verify_options import VerifyOptions, adapter_of
from vendor_verifier import config
from vendor_verifier.client import ApiClient, patience
from vendor_verifier.models import GenericModel, KimiModel, get_adapter
from vendor_verifier.results import EarlierResults, ResultsWriter, holds_answers, write_results


class Evaluation(Value):
    """What to evaluate; the names are those of the command's options."""

    file_path: str
    model: str
    base_url: str
    model_type: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    extra_body: JsonObject = {}
    concurrency: int = config.DEFAULT_CONCURRENCY
    output: str = config.DEFAULT_OUTPUT
    summary: str = config.DEFAULT_SUMMARY
    timeout: float = config.DEFAULT_TIMEOUT
    retries: int = config.DEFAULT_RETRIES
    incremental: bool = False
    use_raw_completions: bool = False
    tokenizer_model: str | None = None

    @property
    def folder(self) -> Path:
        """The run folder; it holds every reported row."""
        return Path(self.output + config.RUN_SUFFIX)

    def endpoint(self, api_key: str | None) -> Endpoint:
        """The endpoint with its timeout, retries and concurrency."""
        return Endpoint(
            self.base_url,
            api_key=api_key,
            key_env=config.API_KEY_VARIABLE,
            timeout=self.timeout,
            retries=self.retries,
            concurrency=self.concurrency,
        )

    def adapter(self) -> ToolcertAdapter:
        """The adapter of the model."""
        return get_adapter(
            self.model,
            self.model_type,
            use_raw_completions=self.use_raw_completions,
            tokenizer_model=self.tokenizer_model,
        )

    def options(self, adapter: ToolcertAdapter) -> VerifyOptions:
        """The same options for toolcert."""
        return VerifyOptions(
            model=self.model,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            extra_body=self.extra_body,
            model_type=_adapter_name(adapter),
            use_raw_completions=self.use_raw_completions or adapter.supports_raw_completions(),
            tokenizer_model=self.tokenizer_model or adapter.tokenizer_model,
            output=str(self.folder),
            fresh=not self.incremental,
        )


def _adapter_name(adapter: ToolcertAdapter) -> str:
    """The name of the adapter in toolcert; a user's adapter is registered there."""
    for name, known in (("generic", GenericModel), ("kimi", KimiModel)):
        if type(adapter) is known:
            return name
    made = type(adapter)

    class Ready(made):  # type: ignore[valid-type, misc]  # the base is known at run time only
        def __init__(self, **_: object) -> None:
            """Take over what the user's own `__init__` has made."""
            self.__dict__.update(vars(adapter))

    Ready.__name__ = made.__name__
    register_adapter(made.__name__, Ready)
    return made.__name__


class Validator:
    """Runs one evaluation and writes its two files."""

    def __init__(
        self, evaluation: Evaluation, api_key: str | None = None, adapter: ToolcertAdapter | None = None
    ) -> None:
        self.evaluation = evaluation
        self.adapter = adapter or evaluation.adapter()
        self._endpoint = evaluation.endpoint(api_key)
        self._output, self._folder = Path(evaluation.output), evaluation.folder
        self.interrupted = False
        self.broken = 0
        """Rows whose answer began and broke off."""
        self.notices: tuple[str, ...] = ()
        """What became of earlier results, in words."""

    def run(self, handlers: Sequence[Handler] = ()) -> JsonObject:
        """Run it and return the summary; both files are written even if the run was interrupted or failed."""
        return wait_for(self.run_async(handlers))

    async def run_async(self, handlers: Sequence[Handler] = ()) -> JsonObject:
        """The same inside a running event loop."""
        evaluation = self.evaluation
        with verify_job(evaluation.file_path, self._endpoint, evaluation.options(self.adapter)) as job:
            if evaluation.incremental:
                job.again = _is_failed_row
                if (summary := self._nothing_left(job)) is not None:
                    return summary
                self._go_on(job)
            keep = is_run(self._folder) and not job.fresh
            growing = ResultsWriter(self._output, adapter_of(job.shaping), evaluation.extra_body, keep=keep)
            try:
                with closing(growing):
                    policy = patience(evaluation.retries)
                    result = await run_job(job, self._endpoint.key, [growing, *handlers], policy)
            except NothingMeasuredError as error:
                self._write_failures()
                error.remedy = " ".join([error.remedy, *self.notices]).strip()
                raise
        self.interrupted = result.interrupted
        if result.summary.nothing_measured:
            return self._write_failures()
        self.notices += result.notices
        return self._write(self._folder)

    def _nothing_left(self, job: VerifyJob) -> JsonObject | None:
        """The summary, if every row has its answer already; no file is changed then."""
        summary = Path(self.evaluation.summary)
        if not is_run(self._folder):
            earlier = self._earlier() if self._output.is_file() and summary.is_file() else None
            complete = earlier is not None and earlier.is_complete(job)
            return msgspec.json.decode(summary.read_bytes(), type=JsonObject) if complete else None
        manifest = read_manifest(self._folder)
        if manifest.finished_at is None or manifest.interrupted or job.holds_another_run(self._folder):
            return None
        to_ask = next(job.plan(job.earlier(self._folder)).cases(), None)
        # The digest is known once the last line was read: with the same one no line has moved.
        same = manifest.dataset is not None and job.dataset.source.digest == manifest.dataset.digest
        return self._write(self._folder) if to_ask is None and same else None

    def _go_on(self, job: VerifyJob) -> None:
        """Prepare --incremental: every row without an answer is asked, also one the server has refused for good."""
        if job.holds_another_run(self._folder):
            # The text knows no refusal: rows of another endpoint, model or body are simply asked again.
            job.start_afresh()
            what = "was made with another endpoint, model or request; every row is asked again."
            self.notices += (f"{self._output} {what}",)
            if holds_answers(self._output):
                self.notices += (f"The results as they were are kept as {keep_beside(self._output)}.",)
        elif not is_run(self._folder) and self._output.is_file():
            self._take_over(job)

    def _take_over(self, job: VerifyJob) -> None:
        """Continue results whose run folder is missing; what is not continued is kept beside them."""
        earlier = self._earlier()
        taken = earlier.enter_into(self._folder, job) if earlier is not None and earlier.answers else 0
        if earlier is None or earlier.from_elsewhere or taken < earlier.answers:
            self.notices += (f"The results as they were are kept as {keep_beside(self._output)}.",)
        if taken and earlier is not None:
            where = "; they do not say which endpoint gave them" if earlier.from_elsewhere else ""
            self.notices += (f"{plural(taken, 'answer')} of {self._output} kept{where}.",)
            write_results(self._folder, self._output, self.evaluation.extra_body)

    def _earlier(self) -> EarlierResults | None:
        """The answers in the results file; None for a file that is something else."""
        try:
            return EarlierResults(self._output)
        except InputError:
            return None

    def _write(self, folder: Path) -> JsonObject:
        totals = write_results(folder, self._output, self.evaluation.extra_body)
        self.broken = totals.broken
        summary = totals.summary()
        text = msgspec.json.format(msgspec.json.encode(summary), indent=4) + b"\n"
        place = Path(self.evaluation.summary)
        if not (place.is_file() and place.read_bytes() == text):
            write_whole(place, [text])
        return summary

    def _write_failures(self) -> JsonObject:
        """Write the files of a run without any answer; results with answers are not replaced."""
        unmeasured = self._folder / UNMEASURED
        failed = unmeasured if is_run(unmeasured) else self._folder
        if not holds_answers(self._output):
            return self._write(failed)
        beside = self._output.with_name(self._output.name + config.FAILED_SUFFIX)
        self.notices += (f"{self._output} has answers and stays as it was; what failed now is in {beside}.",)
        totals = write_results(failed, beside, self.evaluation.extra_body)
        self.broken = totals.broken
        return totals.summary()


def _is_failed_row(head: Record) -> bool:
    """Whether an answered row has the status `failed` here: a refusal, or an answer that is not a chat completion."""
    unreadable = head.outcome is Outcome.FAILED and head.row is not None and head.row.called is None
    return unreadable or head.outcome is Outcome.UNSUPPORTED


def keep_beside(path: Path) -> Path:
    """Copy a file to the first free number; no earlier copy is overwritten."""
    number = 1
    while (kept := path.with_name(f"{path.name}{config.BACKUP_SUFFIX}.{number}")).exists():
        number += 1
    with output_errors(kept):
        shutil.copyfile(path, kept)
    return kept


class ToolCallsValidator:
    """The same evaluation under its older name and with its older parts: a client, and two files."""

    def __init__(
        self,
        client: ApiClient,
        output_file: str = config.DEFAULT_OUTPUT,
        summary_file: str = config.DEFAULT_SUMMARY,
        incremental: bool = False,
    ) -> None:
        self.client = client
        self.output_file = output_file
        self.summary_file = summary_file
        self.incremental = incremental
        self._summary: JsonObject = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.client.close()

    async def validate_file(self, file_path: str) -> None:
        """Ask every row of the file and write both files."""
        client = self.client
        evaluation = Evaluation(
            file_path=str(file_path),
            model=client.model,
            base_url=client.base_url,
            temperature=client.temperature,
            max_tokens=client.max_tokens,
            extra_body=client.extra_body,
            concurrency=client.concurrency,
            output=str(self.output_file),
            summary=str(self.summary_file),
            timeout=client.timeout,
            retries=client.max_retries,
            incremental=self.incremental,
        )
        self._summary = await Validator(evaluation, client.api_key, client.adapter).run_async()

    def compute_summary(self) -> JsonObject:
        """The content of the summary file."""
        return self._summary
