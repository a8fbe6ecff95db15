"""Which secrets go to which host, and whether they belong there: files and runs may come from a stranger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from toolcert.core.targets import EndpointSpec
from toolcert.endpoints.api_url import AZURE_HOSTS
from toolcert.endpoints.presets import Preset, presets
from toolcert.settings.credentials import variables_in
from toolcert.settings.web_address import is_loopback


def addresses_of(spec: EndpointSpec) -> list[str]:
    """The addresses that get the key: the API, and the service that issues tokens for it."""
    return [address for address in (spec.base_url, str(spec.options.get("iam_url") or "")) if address]


def hosts_of(spec: EndpointSpec) -> list[str]:
    """The hosts of these addresses, with their ports."""
    return list(dict.fromkeys(map(_host, addresses_of(spec))))


def _host(address: str) -> str:
    """The host as its name is looked up, so that no user name in front of it and no look-alike letter hides it."""
    try:
        host = urlsplit(address).netloc.rpartition("@")[2]
        return host if host.isascii() else host.encode("idna").decode()
    except ValueError:  # no address, or no name of a host
        return ascii(address)


def variables_of(spec: EndpointSpec, key_source: str | None = None) -> list[str]:
    """The variables, or whatever else the key comes from, whose values go there: the key, and parts of headers."""
    key = key_source or spec.key_env
    headers = (variable for value in spec.headers.values() for variable in variables_in(value))
    return list(dict.fromkeys([*([key] if key else []), *headers]))


def misdirected(variables: Iterable[str], addresses: Iterable[str], environment: Mapping[str, str]) -> list[str]:
    """The variables that presets keep their keys in, and that would go to another host than the preset's own."""
    asked = list(addresses)
    return [
        variable
        for variable in variables
        if (owners := [preset for preset in presets().values() if variable in preset.key_env])
        and not all(any(_owns(preset, address, environment) for preset in owners) for address in asked)
    ]


def _owns(preset: Preset, address: str, environment: Mapping[str, str]) -> bool:
    """Whether an address is one of the preset's own; unencrypted only where the preset says so."""
    if preset.dialect == "azure" and (urlsplit(address).hostname or "").endswith(AZURE_HOSTS):
        return address.startswith("https:")
    return any(_same_place(own, address) for own in _own_addresses(preset, environment))


def _own_addresses(preset: Preset, environment: Mapping[str, str]) -> Iterator[str]:
    if preset.base_url:
        yield preset.base_url
    variable = preset.variables.get("base_url")
    if variable and environment.get(variable):  # the user's environment says where the service is
        yield environment[variable]
    if preset.dialect == "watsonx":
        from toolcert.endpoints.dialects.ibm_cloud import REGIONS

        for region in REGIONS.values():
            yield from (region.url, region.iam_url)


def _same_place(own: str, address: str) -> bool:
    if is_loopback(own):
        return is_loopback(address)
    one, other = urlsplit(own), urlsplit(address)
    return (one.scheme, one.hostname, one.port) == (other.scheme, other.hostname, other.port)
