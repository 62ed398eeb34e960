"""What the Hub refuses, in the user's words; never with the token."""

from __future__ import annotations

from ...errors import InputError, TSTBenchError
from ...hub import environment_fault, is_repo_id, misunderstood


class PushError(TSTBenchError):
    """The Hub refused or cannot be reached; the message names the repository and what to do."""


def hub_token(token: str | None, what: str, *, needed: bool = True) -> str | None:
    """The given token, or else that of the environment or of ``hf auth login``.

    Raises:
        PushError: one is needed to write to ``what``, and there is none.
    """
    from huggingface_hub import get_token

    token = token or get_token()
    if needed and not token:
        raise PushError(
            "no Hub token: set HF_TOKEN or run `hf auth login`; the token needs write access to "
            f"{what}"
        )
    return token


_REMEDIES = {
    401: "the token is not valid: create one at https://huggingface.co/settings/tokens, then set "
    "HF_TOKEN or run `hf auth login`",
    402: "this needs a paid plan of the Hub: see https://huggingface.co/settings/billing",
    403: "the token has no write access: it needs the role `write` for this namespace, and you "
    "must be a member of the namespace",
    409: "the repository on the Hub is in a conflicting state: check it there, then run again",
    412: "somebody changed the repository in the meantime: run again",
    413: "a file is too large for the Hub",
    429: "too many requests: wait a few minutes, then run again; completed work is kept",
    507: "the storage quota of the namespace is used up: delete something or request more",
}


def check_namespace(name: str) -> None:
    """Check the name of an owner of repositories.

    Raises:
        InputError: the Hub has no such names.
    """
    if not is_repo_id(f"{name}/name"):
        raise InputError(
            f"{name[:40]!r} is not the name of a user or an organisation on the Hub: it has "
            "letters, digits, '.', '_' and '-' only, and not many"
        )


def explained(error: Exception, what: str, token: str | None) -> PushError | None:
    """The error for users, without the token; None if it is a bug in TSTBench."""
    from huggingface_hub import errors

    if isinstance(error, errors.HfHubHTTPError):
        status = getattr(error.response, "status_code", 0)
        said = getattr(error, "server_message", None) or str(error).split("\n")[0]
        remedy = _REMEDIES.get(status, "run again; if it persists, see the Hub's message")
        text = f"{what}: the Hub answered {status} ({said}): {remedy}"
    elif fault := environment_fault():
        text = f"{what}: {fault}"
    elif isinstance(error, FileNotFoundError) and error.filename:  # not the client's, without one
        text = f"{what}: {error.filename} is missing: run `tstbench hub build` again"
    elif isinstance(error, errors.HTTPError | OSError):  # whichever HTTP library the client has
        text = f"{what}: the Hub cannot be reached ({error}). Completed work is kept: run again"
    elif misunderstood(error):
        text = (
            f"{what}: the server's answer is not that of a Hub ({type(error).__name__}: {error}): "
            "check HF_ENDPOINT"
        )
    else:
        return None
    return PushError(text.replace(token, "***") if token else text)
