from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from punctual.aws import clients


@pytest.fixture(autouse=True)
def _own_client(monkeypatch: pytest.MonkeyPatch) -> None:
    clients.s3.cache_clear()
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("region", ["us-east-1", "eu-south-2"])
def test_a_link_to_a_result_names_the_region(region: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The global endpoint redirects such a link to the Region of the bucket, or does not know it."""
    for name, value in (("DEFAULT_REGION", region), ("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b")):
        monkeypatch.setenv(f"AWS_{name}", value)
    link = clients.s3().generate_presigned_url("get_object", Params={"Bucket": "results", "Key": "one"})
    clients.s3.cache_clear()
    assert urlsplit(link).hostname == (
        "results.s3.amazonaws.com" if region == "us-east-1" else f"results.s3.{region}.amazonaws.com"
    )
