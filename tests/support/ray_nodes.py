"""Nodes of a Ray cluster on this machine: processes of their own, which can be killed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def ray_nodes(*environments: dict[str, str], cpus: int = 1) -> Iterator:
    """A cluster with a head that does no job, and a node for each environment."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "include_dashboard": False},
    )
    try:
        for env in environments:
            cluster.add_node(num_cpus=cpus, env_vars=env)
        yield cluster
    finally:
        cluster.shutdown()
