"""How a simulated model decides what to answer: it knows no probe, it only reads the conversation.

Prompts written in these ways are answered as an honest model would answer them.

Which tool (`intent`)
  * A tool named exactly (`Use get_weather ...`) is called, in order of mention. A name that is one plain word
    (`search`) counts when it is quoted, starts a clause, or follows or precedes words like "call", "use", "tool".
  * If no tool is named, each clause is matched by words with names, descriptions, parameters and enum values.
    Nothing fits: a plain answer, no call. Scripts without spaces are matched by pairs of characters.
  * `the code returned by get_code` calls get_code once; `do not use X`, `without calling X` never call X.
  * `tool_choice` and `parallel_tool_calls: false` are obeyed.

Which arguments (`call_arguments`)
  * a JSON object whose keys are the tool's parameters, unchanged;
  * `city "Oslo"`, `city: Oslo`, `city is Oslo`, `5 results`, an enum value in the text; nested properties too;
  * required ones also by form (email, date, `17 * 23`), by the words before them (`in Oslo`, `greet Ada`), from an
    earlier result, or as the next quoted, code-like or capitalised word;
  * `Paris, Rome and Oslo`, or one per line: one call each.
  A required argument that is nowhere to be found is asked for, or becomes null if that is allowed. Only a forced
  call, and a prompt in another script, gets one that is made up to fit the schema, always the same.

What is said (`thought`)
  * Results are reported verbatim, one line per call; errors as errors, empty results as empty. A result is data: the
    tools it names are called only if the user said to follow it.
  * A call whose arguments must come from a result waits for it and follows in the next turn.
  * `response_format`, or a prompt that asks for JSON: JSON with the keys and values of the prompt.
  * `Reply with exactly "X"`, `Say X` and `count from 1 to 50` are fulfilled.
"""
