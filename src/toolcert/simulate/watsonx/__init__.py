"""A simulated watsonx.ai: tokens, model specs, chat, streams, deployments and the gateway, over TLS."""
