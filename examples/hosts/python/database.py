"""A database behind tools: reads, an idempotent write, and a delete that a person approves."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated, Literal

from toolwire import Bind, Conflict, NotFound, Param, serve, tool

DATABASE = "notes.db"
State = Literal["open", "done"]
# The server fills it in, and no caller can send it.
User = Annotated[str, Bind("user.id")]


@dataclass
class Note:
    id: int
    text: str
    state: State


def run(statement: str, *values: object) -> list[Note]:
    with closing(sqlite3.connect(DATABASE)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, user, text, state)")
        return [Note(*row) for row in connection.execute(statement, values)]


@tool
def list_notes(
    user: User, state: State = "open", limit: Annotated[int, Param(minimum=1, maximum=100)] = 20
) -> list[Note]:
    """Lists the user's notes, newest first. Use this before another tool needs the number of a note.

    Args:
        state: Which notes.
        limit: How many at most.
    """
    chosen = "SELECT id, text, state FROM notes WHERE user = ? AND state = ? ORDER BY id DESC LIMIT ?"
    return run(chosen, user, state, limit)


@tool(write=True, consequence="low")
def add_note(text: Annotated[str, Param(min_length=1, max_length=500)], user: User) -> Note:
    """Writes down a note of the user's."""
    return run("INSERT INTO notes (user, text, state) VALUES (?, ?, 'open') RETURNING id, text, state", user, text)[0]


@tool(write=True, consequence="low", idempotent=True)
def finish_note(note: int, user: User) -> Note:
    """Marks a note as done."""
    done = run("UPDATE notes SET state = 'done' WHERE id = ? AND user = ? RETURNING id, text, state", note, user)
    return done[0] if done else NotFound(f"no note {note}: list_notes has their numbers").throw()


@tool(category="delete", confirm=True)
def delete_note(note: int, user: User) -> Note:
    """Deletes a note that is done. It cannot be had back."""
    gone = run("DELETE FROM notes WHERE id = ? AND user = ? AND state = 'done' RETURNING id, text, state", note, user)
    return gone[0] if gone else Conflict(f"note {note} is not there, or not done yet").throw()


if __name__ == "__main__":
    serve()
