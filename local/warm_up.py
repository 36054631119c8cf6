"""Start instances of the functions before the first job needs them, as the setting `provisioned` does on AWS.

The emulator starts the instances of a function one after another, so a burst on a fresh stack would wait for each.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from local.aws import client

INSTANCES = {"planner": 1, "settler": 1, "worker": 10}
"""The functions between a submission and the end of a short execution, except the api, with the instances of each."""
NO_RECORDS = b'{"Records": []}'


def warm_up(endpoint: str, functions: Mapping[str, str]) -> None:
    """Invoke each instance with an empty batch. The invocations overlap, so that each has an instance of its own."""
    wanted = [functions[name] for name, instances in INSTANCES.items() for _ in range(instances)]
    lambda_ = client("lambda", endpoint)
    with ThreadPoolExecutor(len(wanted)) as pool:
        list(pool.map(lambda name: lambda_.invoke(FunctionName=name, Payload=NO_RECORDS), wanted))
