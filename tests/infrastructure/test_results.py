"""The bucket for large results."""

from tests.infrastructure.deployed import Deployed


def test_results_are_private_and_encrypted(prod: Deployed) -> None:
    bucket = prod.one("AWS::S3::Bucket", "ResultsBucket")
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]


def test_results_are_transferred_over_tls_only(prod: Deployed) -> None:
    (policy,) = prod.all("AWS::S3::BucketPolicy").values()
    assert any(
        statement["Effect"] == "Deny" and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        for statement in policy["PolicyDocument"]["Statement"]
    )


def test_results_expire_together_with_their_executions(prod: Deployed) -> None:
    (rule,) = prod.one("AWS::S3::Bucket", "ResultsBucket")["LifecycleConfiguration"]["Rules"]
    assert rule["ExpirationInDays"] == int(prod.environment("worker")["RETENTION_DAYS"])
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}
    assert rule["Status"] == "Enabled"


def test_results_are_not_versioned(prod: Deployed) -> None:
    assert "VersioningConfiguration" not in prod.one("AWS::S3::Bucket", "ResultsBucket")
