"""The list of models names the model."""

from __future__ import annotations

from toolcert.core.errors import ListingError, NothingMeasuredError
from toolcert.probes.base import Conversation, ProbeResult, ScriptedProbe, failed, not_measured, passed
from toolcert.probes.registry import probe


@probe
class ModelListing(ScriptedProbe):
    """Lists the endpoint's models and looks for the one being tested."""

    name = "model_listing"
    group = "server"
    title = "Lists its models"
    meaning = "Clients can find out what is served, and under which id."
    order = 10

    async def run(self, talk: Conversation) -> ProbeResult:
        try:
            models = await talk.models()
        except ListingError as error:
            return failed(f"gives no usable list of models: {error.message}")
        except NothingMeasuredError as error:
            return not_measured(error.message)
        ids = [model.id for model in models]
        if len(set(ids)) < len(ids):
            return failed("lists a model twice", listed=len(ids))
        if talk.model not in ids:
            return failed("does not list the model it serves", listed=len(ids))
        return passed(listed=len(ids))
