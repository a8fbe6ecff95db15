"""One definition of every option, toolcert.toml, the environment, and which of them wins."""

from toolcert.settings.config import Config, load_config
from toolcert.settings.option import Option
from toolcert.settings.options import OPTIONS
from toolcert.settings.precedence import Resolved, Settings, Source, resolve

__all__ = ["OPTIONS", "Config", "Option", "Resolved", "Settings", "Source", "load_config", "resolve"]
