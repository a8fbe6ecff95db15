"""Where watsonx.ai is served and who issues its tokens, by region."""

from __future__ import annotations

from difflib import get_close_matches

from toolcert.core.errors import ConfigurationError
from toolcert.core.values import Value

_CLOUD_IAM = "https://iam.cloud.ibm.com"
_AWS_IAM = "https://account-iam.platform.saas.ibm.com"


class Region(Value):
    """One region: its API, its token service, and which of the two token forms that speaks."""

    url: str
    iam_url: str = _CLOUD_IAM
    saas: bool = False
    """AWS and government regions: JSON in, `token` out, at another path."""
    token_path: str = "/identity/token"  # noqa: S105 - an address, not a password


def _cloud(name: str) -> Region:
    return Region(url=f"https://{name}.ml.cloud.ibm.com")


def _aws(name: str) -> Region:
    url = f"https://{name}.aws.wxai.ibm.com"
    return Region(url=url, iam_url=_AWS_IAM, saas=True, token_path="/api/2.0/apikeys/token")  # noqa: S106 - an address


REGIONS: dict[str, Region] = {
    **{name: _cloud(name) for name in ("us-south", "eu-de", "eu-gb", "jp-tok", "au-syd", "ca-tor")},
    **{name: _aws(name) for name in ("us-east-1", "ap-south-1")},
    "us-gov": Region(
        url="https://wxai.ibmforusgov.com",
        iam_url="https://dai.ibmforusgov.com",
        saas=True,
        token_path="/api/rest/mcsp/apikeys/token",  # noqa: S106 - an address, not a password
    ),
}
DEFAULT_REGION = "us-south"


def region_named(name: str) -> Region:
    """The region of this name."""
    region = REGIONS.get(name)
    if region is None:
        close = get_close_matches(name, REGIONS, n=1)
        remedy = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(REGIONS)}; or give --base-url."
        raise ConfigurationError(f"there is no watsonx.ai region {name!r}.", remedy=remedy)
    return region


def region_of(base_url: str) -> Region:
    """The region an explicit address belongs to; elsewhere tokens come from IBM Cloud, unless told otherwise."""
    known = (region for region in REGIONS.values() if region.url == base_url.rstrip("/"))
    return next(known, Region(url=base_url))
