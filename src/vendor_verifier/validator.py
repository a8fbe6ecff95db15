"""One evaluation: a verify run of toolcert, written as results and summary of this tool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from toolcert.api.endpoint import Endpoint, wait_for
from toolcert.api.verify import run_job, verify_job
from toolcert.core.cases import Outcome
from toolcert.core.errors import InputError, NothingMeasuredError
from toolcert.core.events import Handler
from toolcert.core.values import JsonObject, Value
from toolcert.http.retry import RetryPolicy
from toolcert.runs.files import output_errors, write_whole
from toolcert.runs.reader import is_run
from toolcert.verification.adapters import register_adapter
from toolcert.verification.older_results import read_older
from toolcert.verification.run.job import VerifyJob
from toolcert.verification.run.log import UNMEASURED
from toolcert.verification.verify_options import VerifyOptions
from vendor_verifier import config
from vendor_verifier.models import GenericModel, KimiModel, ModelAdapter, adapter_class
from vendor_verifier.results import SUCCESS, write_results


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

    def patience(self) -> RetryPolicy:
        """Retry every failure, timeouts included, as often as --retries says."""
        return RetryPolicy(retries=self.retries, timeout_retries=self.retries)

    def options(self) -> VerifyOptions:
        """The same options for toolcert."""
        return VerifyOptions(
            model=self.model,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            extra_body=self.extra_body,
            model_type=_adapter_name(adapter_class(self.model, self.model_type)),
            use_raw_completions=self.use_raw_completions,
            tokenizer_model=self.tokenizer_model,
            output=str(self.folder),
            fresh=not self.incremental,
        )


def _adapter_name(adapter: type[ModelAdapter]) -> str:
    """The name of the adapter in toolcert; a user's adapter is registered there."""
    for name, known in (("generic", GenericModel), ("kimi", KimiModel)):
        if adapter is known:
            return name
    register_adapter(adapter.__name__, adapter)
    return adapter.__name__


class Validator:
    """Runs one evaluation and writes its two files."""

    def __init__(self, evaluation: Evaluation, api_key: str | None = None) -> None:
        self.evaluation = evaluation
        self._endpoint = evaluation.endpoint(api_key)
        self.interrupted = False
        self.notices: tuple[str, ...] = ()
        """What became of earlier results, in words."""

    def run(self, handlers: Sequence[Handler] = ()) -> JsonObject:
        """Run it and return the summary; both files are written even if the run was interrupted or failed."""
        with verify_job(self.evaluation.file_path, self._endpoint, self.evaluation.options()) as job:
            if self.evaluation.incremental:
                self._go_on(job)
            try:
                result = wait_for(run_job(job, self._endpoint.key, handlers, self.evaluation.patience()))
            except NothingMeasuredError as error:
                self._write_failures()
                error.remedy = " ".join([error.remedy, *self.notices]).strip()
                raise
        self.interrupted = result.interrupted
        if result.summary.nothing_measured:
            return self._write_failures()
        self.notices += result.notices
        return self._write(self.evaluation.folder)

    def _go_on(self, job: VerifyJob) -> None:
        """Prepare --incremental: every row without an answer is asked, also one the server has refused for good."""
        output, folder = Path(self.evaluation.output), self.evaluation.folder
        job.again = frozenset({Outcome.UNSUPPORTED})
        if job.holds_another_run(folder):
            # The text knows no refusal: rows of another endpoint, model or body are simply asked again.
            job.start_afresh()
            self.notices += (f"{output} was made with another endpoint, model or request; every row is asked anew.",)
        elif not is_run(folder) and output.exists():
            with output_errors(output):
                kept = output.rename(output.with_name(output.name + ".before"))
            self.notices += (f"The older results do not say where they were asked; they are kept as {kept}.",)

    def _write(self, folder: Path) -> JsonObject:
        summary = write_results(folder, Path(self.evaluation.output), self.evaluation.extra_body)
        text = msgspec.json.format(msgspec.json.encode(summary), indent=4)
        write_whole(Path(self.evaluation.summary), [text, b"\n"])
        return summary

    def _write_failures(self) -> JsonObject:
        """Write the files of a run without any answer; results with answers are not replaced."""
        output, folder = Path(self.evaluation.output), self.evaluation.folder
        unmeasured = folder / UNMEASURED
        failed = unmeasured if is_run(unmeasured) else folder
        if not holds_answers(output):
            return self._write(failed)
        beside = output.with_name(output.name + config.FAILED_SUFFIX)
        self.notices += (f"{output} has answers and stays as it was; what failed now is in {beside}.",)
        return write_results(failed, beside, self.evaluation.extra_body)


def holds_answers(output: Path) -> bool:
    """Whether the results hold answers; a file that cannot be read counts as worth keeping."""
    try:
        return output.exists() and any(row.status == SUCCESS for row in read_older(output))
    except InputError:
        return True
