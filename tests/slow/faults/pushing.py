"""``hub push`` under fire: to a double of the Hub that lives as long as a test."""

from __future__ import annotations

from collections.abc import Mapping

from hub_double import TOKEN, HubDouble

from .commands import HUB_BUILD, Command

PUSH = Command("hub push", ("hub", "push", "hub"), before=(HUB_BUILD.argv,))


def online(hub: HubDouble) -> Mapping[str, str]:
    """The variables by which the command finds the double, and may write to it."""
    switches = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
    return {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, **dict.fromkeys(switches, "")}


def published(hub: HubDouble) -> dict[str, object]:
    """What is on the Hub: files, history and tags of every repository."""
    return {
        f"{kind} {name}": (repo.files, tuple(repo.messages), sorted(repo.tags.items()))
        for (kind, name), repo in sorted(hub.repos.items())
    }


def forget(hub: HubDouble) -> None:
    """An empty Hub."""
    with hub.lock:
        hub.repos.clear()
        hub.large.clear()
