"""As whom a program has its tools at a server: what the editions of a program know of each other (`_reload`)."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

from toolwire._target import Target

# The provider of a host without credentials that states no name.
LOCAL = "local"


@dataclasses.dataclass(frozen=True)
class Registration:
    """A provider at a server, by what a host says in its greeting."""

    target: Target
    # As it is stated. Empty: that of the token, or `local`.
    provider: str
    # The process. To the server a withdrawal is of the same one, so that it takes no name over from another program.
    instance: str
    program: str

    @property
    def name(self) -> str:
        """The provider, for people."""
        return self.provider or ("the provider of its token" if self.target.has_token else LOCAL)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Registration:
        return cls(**{**fields, "target": Target(**fields["target"])})


class Succession(Protocol):
    """The editions of a program, for the host of one of them."""

    def ask_replaced(self, target: Target, provider: str) -> list[Registration]:
        """The registrations of earlier editions under other names than the one given, whose tools are to go. Blocks."""

    def note_joined(self, registration: Registration) -> None:
        """The server has the tools of this edition."""
