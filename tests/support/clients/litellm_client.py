"""Drives watsonx.ai with LiteLLM's own provider; runs in LiteLLM's environment and prints what it got as JSON.

python litellm_client.py URL KEY PROJECT MODEL      (SSL_CERT_FILE and WATSONX_IAM_URL in the environment)
"""

import json
import sys

import litellm

URL, KEY, PROJECT, MODEL = sys.argv[1:]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
NAMED = {"type": "function", "function": {"name": "get_weather"}}


def ask(model=MODEL, prompt="What is the weather in Paris?", **parameters):
    return litellm.completion(
        model=f"watsonx/{model}",
        messages=[{"role": "user", "content": prompt}],
        api_base=URL,
        api_key=KEY,
        project_id=PROJECT,
        num_retries=0,
        **parameters,
    )


def calls(answer):
    message = answer.choices[0].message
    found = [[call.function.name, json.loads(call.function.arguments)] for call in message.tool_calls or []]
    return {"finish_reason": answer.choices[0].finish_reason, "calls": found, "text": message.content}


def refusal(**parameters):
    try:
        ask(**parameters)
    except litellm.exceptions.NotFoundError as error:
        return str(error)
    return None


chunks = list(ask(tools=[WEATHER], tool_choice="auto", stream=True))
print(
    json.dumps(
        {
            "chat": calls(ask(prompt="Say hello.")),
            "auto": calls(ask(tools=[WEATHER], tool_choice="auto")),
            "named": calls(ask(tools=[WEATHER], tool_choice=NAMED)),
            "stream": calls(litellm.stream_chunk_builder(chunks)),
            "unknown_model": refusal(model="ibm/nothing"),
        }
    )
)
