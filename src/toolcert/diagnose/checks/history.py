"""Findings about later turns: which histories a server takes, and whether results are used."""

from __future__ import annotations

from toolcert.core.findings import FindingKind, Severity
from toolcert.diagnose.checks.registry import declare

declare(
    FindingKind(
        code="history.null_content",
        severity=Severity.ERROR,
        title="An assistant turn with calls and no text is refused or breaks the prompt.",
        meaning="That is what every tool call looks like in the next request, so agents fail on their second turn.",
        cause="The chat template adds the text to a string without looking whether there is one, or validation insists "
        "on a string.",
        remedy='Send `""` or a space as content, whichever the server takes; update its template.',
        seen_in=("vllm #54337", "ollama #14181"),
    )
)
declare(
    FindingKind(
        code="history.malformed_500",
        severity=Severity.WARNING,
        title="Malformed arguments in the history give a server error.",
        meaning="After one broken call every further turn of the conversation fails, and clients that retry server "
        "errors do so in vain.",
        cause="The server parses earlier arguments for its template and does not catch the failure.",
        remedy="Do not keep broken calls in the history, or replace their arguments by `{}`.",
        seen_in=("llama.cpp #25510",),
    )
)
declare(
    FindingKind(
        code="history.wrong_id_accepted",
        severity=Severity.NOTE,
        title="A tool result with the id of no call is taken silently.",
        meaning="A mix-up of results in an agent will not be noticed here, and will be refused elsewhere.",
        cause="The server renders results in order and does not look at ids.",
        remedy="Check ids in the agent before sending.",
    )
)
declare(
    FindingKind(
        code="result.ignored",
        severity=Severity.ERROR,
        title="The answer does not use the tool's result.",
        meaning="The model calls the tool and then answers from memory: the user gets something made up.",
        cause="The result does not reach the prompt (a template without a tool role), or the model is too weak to use "
        "it.",
        remedy="Compare with the model's own vendor. If only this server ignores results, its template is at fault.",
        seen_in=("CLIProxyAPI #565",),
    )
)
declare(
    FindingKind(
        code="result.repeat_call",
        severity=Severity.ERROR,
        title="Given the result, the model makes the same call again.",
        meaning="The agent loops until its limit, and pays for each round.",
        cause="The result does not reach the prompt, or in a form that the model does not recognise as an answer.",
        remedy="Stop after the same call twice. On a server of your own, look at how tool results are rendered.",
        seen_in=("CLIProxyAPI #565",),
    )
)
declare(
    FindingKind(
        code="result.partial",
        severity=Severity.ERROR,
        title="Only some of several tool results are used.",
        meaning="The answer is right in part and silent or invented for the rest, which is hard to notice.",
        cause="The template keeps only the first or the last of several results, or merges them.",
        remedy="Ask for one call at a time where all results matter.",
    )
)
