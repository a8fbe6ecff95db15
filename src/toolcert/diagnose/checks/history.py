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
        code="history.tool_role_rejected",
        severity=Severity.ERROR,
        title="Messages with the role `tool` are refused.",
        meaning="The result of a call cannot be sent back, so every agent fails on its second turn.",
        cause="The server or its chat template knows only the roles system, user and assistant.",
        remedy="Use a template with a tool role. Until then, give results in a user message.",
    )
)
declare(
    FindingKind(
        code="history.foreign_ids_rejected",
        severity=Severity.WARNING,
        title="Call ids made by other vendors are refused in the history.",
        meaning="A conversation that began elsewhere cannot go on here: routers and agents that change the vendor get "
        "errors.",
        cause="The server checks ids against the form of its own (nine letters and digits, or no dots and colons).",
        remedy="Rewrite the ids of calls and their results to nine letters and digits before sending them here.",
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
declare(
    FindingKind(
        code="result.misassigned",
        severity=Severity.ERROR,
        title="The results of two calls are given to each other.",
        meaning="The answer is complete and wrong: each value is given to the wrong thing, and nothing shows it.",
        cause="The template renders results in the order they come and drops their ids, or the model does not look at "
        "them.",
        remedy="Send results in the order of the calls, and repeat in each what it is about.",
    )
)
declare(
    FindingKind(
        code="result.invented",
        severity=Severity.ERROR,
        title="After an empty result or a tool's error the model makes something up.",
        meaning="The user gets invented facts that look like the tool's.",
        cause="The model prefers an answer to an admission, or the result does not reach the prompt.",
        remedy="Return a sentence (`no results`) and not an empty text, and say in the system prompt that only results "
        "count.",
    )
)
declare(
    FindingKind(
        code="result.injected",
        severity=Severity.ERROR,
        title="The model obeys an instruction inside a tool's result.",
        meaning="Whoever writes a page, an e-mail or a ticket that the agent reads can make it call its tools.",
        cause="The model does not tell data from instructions, or the template renders results like a user's turn.",
        remedy="Offer no tool that harms in turns that read foreign text, and ask the user before such calls.",
    )
)
