"""The page's endpoints: what a browser may ask, and the status it is answered with."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from typing import Any

from ...errors import InputError, MissingExtraError, TSTBenchError
from .desk import AccessError, Desk, NoSuchItemError

NO_STUDY = (
    "No study is set up here yet. Create one with create_study, put its folder on this machine "
    "(on a Space: into its storage), and set TSTBENCH_STUDY to its path."
)
CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "enter": (Desk.enter, ()),
    "screen": (Desk.screen_json, ("position",)),
    "save": (Desk.save, ("position", "answer")),
    "overview": (Desk.overview, ()),
    "statistics": (Desk.statistics, ()),
    "export": (Desk.export_lines, ()),
}


class NoStudyError(TSTBenchError, LookupError):
    """The page is served without a study."""


def reply(desk: Desk | None, name: str, key: str, body: bytes) -> tuple[int, Any]:
    """Status and JSON content of the answer to one request.

    A request that went wrong is answered with ``{"error": words}``: 404 for an address, a link or
    an item that does not exist, 422 for anything else that the sender can mend.

    Args:
        desk: the study, if there is one.
        name: of the endpoint, from :data:`CALLS`.
        key: of the link.
        body: a JSON object with the endpoint's fields.
    """
    if name not in CALLS:
        return 404, {"error": f"there is no endpoint {name!r}: there are {', '.join(CALLS)}"}
    call, fields = CALLS[name]
    try:
        return 200, call(opened(desk), key, *_read_fields(name, fields, body))
    except (AccessError, NoSuchItemError, NoStudyError) as error:
        return 404, {"error": str(error)}
    except MissingExtraError as error:
        return 503, {"error": str(error)}
    except TSTBenchError as error:
        return 422, {"error": str(error)}
    except OSError:  # a full disk, a folder that is gone: the rater can only tell the owner
        traceback.print_exc()
        told = "the server could not read or write its files: tell the study's owner, try later"
        return 500, {"error": told}


def opened(desk: Desk | None) -> Desk:
    """The desk.

    Raises:
        NoStudyError: the page is served without one.
    """
    if desk is None:
        raise NoStudyError(NO_STUDY)
    return desk


def _read_fields(name: str, fields: tuple[str, ...], body: bytes) -> list[Any]:
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise InputError(f"{name}: the request is not JSON") from None
    if not isinstance(given, dict) or given.keys() != set(fields):
        wanted = f"the fields {', '.join(fields)}" if fields else "no fields"
        raise InputError(f"{name}: send a JSON object with {wanted}")
    return [given[field] for field in fields]
