"""The user's extra headers with their variables filled in; what came from a variable is a secret."""

from __future__ import annotations

import os
from collections.abc import Mapping

from toolcert.core.errors import ConfigurationError
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec
from toolcert.settings.headers import expand, variables_in
from toolcert.settings.keys import refuse_strange_characters


def filled_headers(spec: EndpointSpec, eraser: Eraser, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The headers to send; each value taken from the environment is erased from all that is kept."""
    return {name: _filled(name, value, eraser, environment) for name, value in spec.headers.items()}


def _filled(name: str, value: str, eraser: Eraser, environment: Mapping[str, str]) -> str:
    variables = variables_in(value)
    if not variables:
        return value
    try:
        filled = expand(value, environment)
    except KeyError as missing:
        raise ConfigurationError(f"header {name} takes its value from {missing.args[0]}, which is not set.") from None
    for variable in variables:
        refuse_strange_characters(environment[variable], variable)
    for secret in (filled, *(environment[variable] for variable in variables)):
        eraser.add(Secret(secret, source=f"header {name}"))
        eraser.add(Secret(secret.rpartition(" ")[2], source=f"header {name}"))  # "Bearer TOKEN" is echoed as TOKEN
    return filled
