"""Strict records for what is read from a file or a request: unknown fields are refused."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """No unknown fields, no NaN, no changes after creation."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
