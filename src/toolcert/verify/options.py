"""How to verify, as the library takes it."""

from __future__ import annotations

import msgspec

from toolcert.core.errors import UsageError
from toolcert.core.values import JsonObject, Value
from toolcert.runs.encoding import Keep
from toolcert.verify.adapters.registry import load_adapter
from toolcert.verify.prepare import Shaping, StreamMode
from toolcert.verify.selection import Selection, parse_where


class VerifyOptions(Value):
    """How to verify; the names are those of the command's options."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    extra_body: JsonObject = {}
    stream: bool | None = None
    """None sends each row as it was recorded."""
    model_type: str | None = None
    adapter: str | None = None
    """`file.py:Class` of an adapter of your own."""
    use_raw_completions: bool = False
    tokenizer_model: str | None = None
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    where: tuple[str, ...] = ()
    output: str | None = None
    fresh: bool = False
    only_failed: bool = False
    max_requests: int | None = None
    keep: Keep = Keep.RAW
    fail_under: str = ""

    def __post_init__(self) -> None:
        if self.fresh and self.only_failed:
            raise UsageError("--fresh forgets the run whose failed rows --only-failed asks again; give one of them.")
        if self.only_failed and self.output is None:
            raise UsageError("--only-failed needs --output.", remedy="Name the folder of the earlier run.")

    def shaping(self) -> Shaping:
        """What is changed in every row."""
        stream = {None: StreamMode.AS_RECORDED, True: StreamMode.ON, False: StreamMode.OFF}[self.stream]
        return Shaping(
            model=self.model,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            stream=stream,
            extra_body=self.extra_body,
            adapter=load_adapter(self.adapter) if self.adapter else self.model_type,
            use_raw_completions=self.use_raw_completions,
            tokenizer_model=self.tokenizer_model,
        )

    def selection(self) -> Selection:
        """Which rows are asked."""
        chosen = parse_where(self.where)
        return msgspec.structs.replace(chosen, sample=self.sample, seed=self.seed, limit=self.limit)

    def parameters(self, shaping: Shaping) -> JsonObject:
        """What shapes the requests, for the manifest."""
        chosen = {
            "limit": self.limit,
            "sample": self.sample,
            "seed": self.seed if self.sample else None,
            "where": list(self.where) or None,
            "keep": str(self.keep),
        }
        shown: JsonObject = msgspec.to_builtins(shaping)
        return shown | {name: value for name, value in chosen.items() if value is not None}
