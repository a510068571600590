-- The turns of conversations, each as it ended or paused. A turn that runs has no row. Instants are milliseconds since
-- the Unix epoch.

-- `calls` is JSON: the calls that were planned. `reply` is the encoded end, a `Reply` or a `Paused` as `state` says; empty
-- for a cancelled turn. `standing` is JSON: what a paused turn goes on from; empty for all others.
CREATE TABLE turns (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    TEXT NOT NULL,
    turn_id    BLOB NOT NULL,
    session_id TEXT NOT NULL,
    account    TEXT NOT NULL,
    message    TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    answered   TEXT NOT NULL,
    calls      TEXT NOT NULL,
    tainted    INTEGER NOT NULL,
    reply      BLOB NOT NULL,
    standing   TEXT NOT NULL,
    UNIQUE (user_id, turn_id)
) STRICT;
CREATE INDEX turns_of_session ON turns (user_id, session_id, position);
CREATE INDEX turns_of_user ON turns (user_id, position);
CREATE INDEX turns_by_age ON turns (ended_at);
