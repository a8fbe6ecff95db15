"""A simulated watsonx.ai: tokens, model specs, chat, streams, deployments and the gateway, over TLS."""

from toolcert.simulate.watsonx.service import WatsonxVendor

__all__ = ["WatsonxVendor"]
