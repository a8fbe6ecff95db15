"""Drives watsonx.ai with IBM's own SDK; runs in the SDK's environment and prints what it got as JSON.

python ibm_client.py URL CA_BUNDLE KEY PROJECT MODEL EMBEDDER
"""

import json
import sys

from ibm_watsonx_ai import APIClient, Credentials
from ibm_watsonx_ai.foundation_models import ModelInference
from ibm_watsonx_ai.wml_client_error import WMLClientError

URL, CA_BUNDLE, KEY, PROJECT, MODEL, EMBEDDER = sys.argv[1:]
MESSAGES = [{"role": "user", "content": "What is the weather in Paris?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
NAMED = {"type": "function", "function": {"name": "get_weather"}}


def connect(key):
    credentials = Credentials(url=URL, platform_url=URL, auth_url=f"{URL}/identity/token", api_key=key)
    return APIClient(credentials, project_id=PROJECT, verify=CA_BUNDLE, scope_validation=False)


def model(client, name):
    return ModelInference(model_id=name, api_client=client, project_id=PROJECT, validate=False, max_retries=0)


def calls(answer):
    choice = answer["choices"][0]
    return {
        "finish_reason": choice["finish_reason"],
        "calls": [
            [call["function"]["name"], json.loads(call["function"]["arguments"])]
            for call in choice["message"].get("tool_calls") or []
        ],
        "text": choice["message"].get("content"),
    }


def streamed(inference):
    pieces, reasons, name, arguments = [], [], "", ""
    for chunk in inference.chat_stream(messages=MESSAGES, tools=[WEATHER], tool_choice_option="auto"):
        for choice in chunk.get("choices", []):  # the last event, `close`, carries an empty object
            delta = choice["delta"]
            pieces.append(delta.get("content") or "")
            for call in delta.get("tool_calls") or []:
                name = name or call["function"].get("name", "")
                arguments += call["function"].get("arguments", "")
            if choice.get("finish_reason"):
                reasons.append(choice["finish_reason"])
    return {"calls": [[name, json.loads(arguments)]], "finish_reason": reasons[-1], "text": "".join(pieces)}


def refusal(function):
    try:
        function()
    except WMLClientError as error:
        return str(error)
    return None


client = connect(KEY)
specs = client.foundation_models.get_model_specs(limit=3, get_all=True)
inference = model(client, MODEL)
print(
    json.dumps(
        {
            "models": sorted(resource["model_id"] for resource in specs["resources"]),
            "chat": calls(inference.chat(messages=[{"role": "user", "content": "Say hello."}])),
            "auto": calls(inference.chat(messages=MESSAGES, tools=[WEATHER], tool_choice_option="auto")),
            "named": calls(inference.chat(messages=MESSAGES, tools=[WEATHER], tool_choice=NAMED)),
            "stream": streamed(inference),
            "wrong_key": refusal(lambda: connect("not-the-key")),
            "unknown_model": refusal(lambda: model(client, "ibm/nothing").chat(messages=MESSAGES)),
            "embedder": refusal(lambda: model(client, EMBEDDER).chat(messages=MESSAGES)),
        }
    )
)
