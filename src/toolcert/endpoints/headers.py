"""The user's extra headers with their variables filled in; what came from a variable is a secret."""

from __future__ import annotations

import os
from collections.abc import Mapping

from toolcert.core.errors import ConfigurationError
from toolcert.core.secrets import Eraser, Secret
from toolcert.core.targets import EndpointSpec
from toolcert.settings.headers import expand, has_variable


def filled_headers(spec: EndpointSpec, eraser: Eraser, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The headers to send; each value taken from the environment is erased from all that is kept."""
    return {name: _filled(name, value, eraser, environment) for name, value in spec.headers.items()}


def _filled(name: str, value: str, eraser: Eraser, environment: Mapping[str, str]) -> str:
    if not has_variable(value):
        return value
    try:
        filled = expand(value, environment)
    except KeyError as missing:
        raise ConfigurationError(f"header {name} takes its value from {missing.args[0]}, which is not set.") from None
    eraser.add(Secret(filled, source=f"header {name}"))
    eraser.add(Secret(filled.rpartition(" ")[2], source=f"header {name}"))  # "Bearer TOKEN" is echoed as TOKEN
    return filled
