"""The frozen model that every part of a document is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Model(BaseModel):
    """Frozen base of everything in a document; fields this version does not know are kept and saved back."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _join_lines(cls, data: Any) -> Any:
        """Files write a text with line breaks as a list of lines."""
        if not isinstance(data, dict):
            return data
        texts = {
            name: "\n".join(value)
            for name, value in data.items()
            if isinstance(value, list)
            and (field := cls.model_fields.get(name)) is not None
            and field.annotation in (str, str | None)
            and all(isinstance(line, str) for line in value)
        }
        return {**data, **texts} if texts else data
