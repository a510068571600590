-- Decisions of persons on calls: asked for, decided, used at most once. Instants are milliseconds since the Unix epoch.

-- What was recorded before was begun, or has ended. `asked`: nothing was done; a person must approve it, or a call that it
-- made, first.
ALTER TABLE idempotency ADD COLUMN state TEXT NOT NULL DEFAULT 'started' CHECK (state IN ('asked', 'started'));
-- The confirmation that it needs. Null if it needs none of its own.
ALTER TABLE idempotency ADD COLUMN confirmation_id TEXT;

-- What is decided on never changes. `shown` is what a person is told beside the columns, as JSON; `arguments` are forgotten
-- some time after its end.
CREATE TABLE confirmations (
    id                TEXT PRIMARY KEY,
    state             TEXT NOT NULL,
    user_id           TEXT NOT NULL,
    tool              TEXT NOT NULL,
    request_id        TEXT NOT NULL,
    arguments_digest  BLOB NOT NULL,
    definition_digest BLOB NOT NULL,
    task_id           TEXT,
    outer_call_id     TEXT NOT NULL,
    outer_request_id  TEXT NOT NULL,
    shown             TEXT NOT NULL,
    arguments         TEXT,
    created_at        INTEGER NOT NULL,
    expires_at        INTEGER NOT NULL,
    decided_at        INTEGER,
    decided_by        TEXT,
    decided_via       TEXT,
    on_behalf_of      TEXT,
    reason            TEXT NOT NULL DEFAULT '',
    used_at           INTEGER,
    used_by           TEXT,
    ended_at          INTEGER,
    sequence          INTEGER NOT NULL
) STRICT;
CREATE INDEX confirmations_by_call ON confirmations (user_id, tool, request_id);
CREATE INDEX confirmations_by_binding ON confirmations (user_id, tool, arguments_digest);
CREATE INDEX confirmations_open ON confirmations (expires_at) WHERE state IN ('pending', 'approved');
CREATE INDEX confirmations_pending ON confirmations (user_id) WHERE state = 'pending';
CREATE INDEX confirmations_by_change ON confirmations (sequence);
CREATE INDEX confirmations_by_end ON confirmations (ended_at) WHERE ended_at IS NOT NULL;

-- Every change, in order, without a gap.
CREATE TABLE confirmation_events (
    sequence        INTEGER PRIMARY KEY,
    confirmation_id TEXT NOT NULL,
    state           TEXT NOT NULL,
    at              INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL,
    reason          TEXT NOT NULL
) STRICT;
CREATE INDEX confirmation_events_by_age ON confirmation_events (at);
CREATE TABLE confirmation_sequence (
    only INTEGER PRIMARY KEY CHECK (only = 0),
    last INTEGER NOT NULL
) STRICT;
INSERT INTO confirmation_sequence (only, last) VALUES (0, 0);
