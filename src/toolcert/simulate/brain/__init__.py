"""How a simulated model thinks: it knows no probe, it reads the conversation as a careful model would.

What it understands (prompts written this way are answered as an honest model would answer them):

Which tool
  * A tool named exactly (`Use get_weather ...`, ``call `calculate` ``) is called, in order of mention. A tool whose
    name is one plain word (`search`) counts as named when quoted, followed by "tool" or "function", at the start of
    a clause, or preceded by call / use / using / invoke / run.
  * Where no tool is named, each clause is matched by words: the tool's name (`get_weather` ~ "weather"), its
    description, parameter names and enum values. Nothing fits: a plain answer, no call.
  * `the code returned by get_code`, `after get_code answers`: a reference. It calls get_code once, not twice.
  * `do not use X`, `without calling X`, `never use X`, `instead of X`: X is not called.
  * A second mention is a second call only if it brings its own, different argument values.

Which arguments (a parameter `city` is also found as "city", `loan_amount` as "loan amount")
  * a JSON object in the prompt whose keys are the tool's parameters is taken as the arguments, unchanged:
    `Call create_user with {"name": "Ada", "tags": ["x"]}`;
  * `city "Oslo"`, `city: Oslo`, `city = Oslo`, `city is Oslo`, `city Oslo` (capitalised, quoted or with a digit),
    `"Oslo" as city`, `5 results`; also for nested properties, and `tags ["a", "b"]`, `tags: a, b and c`;
  * an enum value that occurs in the text; emails, addresses, dates, times and arithmetic (`17 * 23`) by their form;
  * places after in / for / at / to / from / of, people after greet / for / to / named / called;
  * else the quoted strings, code-like words and numbers of the clause, in order;
  * else the value of the same key in an earlier tool result, or the only value the last result holds.
  Optional parameters are filled only from an explicit phrase or an enum value. Where a required one is nowhere to be
  found the model asks for it in words and does not call. A nullable one becomes null.

How many calls
  * `Greet Ada, Bob and Eve`, `for each of: A, B, C`, and bullet or numbered lists below a mention: one call per item.
  * `parallel_tool_calls: false`: one at a time.
  * A call whose arguments must come from a result waits for it (multi-step), and follows in the next turn. A tool
    result that names another offered tool is followed when the user said to follow, continue, or go on until done.

Afterwards
  * Results are reported verbatim, one line per call with its arguments, matched by `tool_call_id`. Strings inside a
    JSON result appear unescaped. An error result is reported as an error, an empty one as empty.
  * `tool_choice` none, required and a named function are obeyed; forced calls without a value in sight get one that
    fits the schema.
  * `response_format`, or a prompt that asks for JSON: `JSON with the keys name, age and city`, values taken from the
    prompt as above; a JSON object written in the prompt is returned as it stands.
  * `Reply with exactly "X"`, `Say X`, `count from 1 to 50`, and requests for long texts are fulfilled.
  * Prompts not in Latin script are matched by pairs of characters, and arguments that cannot be read are made up to
    fit the schema, always the same for the same conversation.
"""

from toolcert.simulate.brain.thought import Call, Thought, think

__all__ = ["Call", "Thought", "think"]
