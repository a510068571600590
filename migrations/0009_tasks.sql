-- Trees of tasks and their timelines. Instants are milliseconds since the Unix epoch.

-- A task is the fold of its timeline, written in the same change as each entry; besides, who works on it (`lease_*`).
-- `documents`, `result_documents` and `labels` are JSON. `deleted`: nobody sees it any more, and its rows go.
CREATE TABLE tasks (
    number           INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    root             TEXT NOT NULL,
    parent           TEXT,
    user_id          TEXT NOT NULL,
    kind             TEXT NOT NULL,
    role             TEXT NOT NULL,
    request          TEXT NOT NULL,
    documents        TEXT NOT NULL,
    state            TEXT NOT NULL,
    reason           TEXT,
    waiting_step     INTEGER NOT NULL,
    result           TEXT,
    result_documents TEXT NOT NULL,
    message          TEXT NOT NULL,
    cause            TEXT,
    depth            INTEGER NOT NULL,
    next             INTEGER NOT NULL,
    bytes            INTEGER NOT NULL,
    tainted          INTEGER NOT NULL,
    lease_holder     TEXT NOT NULL,
    lease_token      INTEGER NOT NULL,
    lease_until      INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    ended_at         INTEGER,
    deadline         INTEGER NOT NULL,
    labels           TEXT NOT NULL,
    master           TEXT,
    master_next      INTEGER NOT NULL,
    position         INTEGER NOT NULL,
    deleted          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tasks_by_root ON tasks (root);
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_change ON tasks (user_id, position);
CREATE INDEX tasks_open_trees ON tasks (user_id) WHERE parent IS NULL AND ended_at IS NULL;
CREATE INDEX tasks_by_deadline ON tasks (deadline) WHERE ended_at IS NULL;
CREATE INDEX tasks_ended_trees ON tasks (ended_at) WHERE parent IS NULL AND ended_at IS NOT NULL;
CREATE INDEX tasks_for_workers ON tasks (user_id, role, position) WHERE state IN ('pending', 'running');
CREATE INDEX tasks_deleted ON tasks (root) WHERE deleted = 1;

-- The place of each task's last change among those of all.
CREATE TABLE task_position (
    only INTEGER PRIMARY KEY CHECK (only = 0),
    last INTEGER NOT NULL
) STRICT;
INSERT INTO task_position (only, last) VALUES (0, 0);

-- `head` is the entry as JSON without its two long texts; one of more than 16 KiB stands in `entry_parts`. `answers` is the
-- entry that waited: the index makes a second answer impossible, even by mistake.
CREATE TABLE entries (
    id         INTEGER PRIMARY KEY,
    task       TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    step       INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    answers    INTEGER,
    request_id TEXT,
    call_id    TEXT,
    trace_id   TEXT,
    head       TEXT NOT NULL,
    input      TEXT,
    result     TEXT,
    UNIQUE (task, seq)
) STRICT;
CREATE UNIQUE INDEX entries_answer_once ON entries (task, answers) WHERE answers IS NOT NULL;
CREATE INDEX entries_by_request ON entries (task, request_id) WHERE request_id IS NOT NULL;
CREATE TABLE entry_parts (
    task TEXT NOT NULL,
    seq  INTEGER NOT NULL,
    part TEXT NOT NULL CHECK (part IN ('input', 'result')),
    text TEXT NOT NULL,
    PRIMARY KEY (task, seq, part)
) STRICT;

-- What tasks wait for.
CREATE TABLE waits (
    task  TEXT NOT NULL,
    seq   INTEGER NOT NULL,
    kind  TEXT NOT NULL,
    thing TEXT NOT NULL,
    PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX waits_by_thing ON waits (kind, thing);

-- Calls of tasks that began and have not ended. `answers` is the entry with which the call waited before. `replica` is the
-- process that carries it out; empty once that is gone.
CREATE TABLE open_calls (
    task         TEXT NOT NULL,
    request_id   TEXT NOT NULL,
    tool         TEXT NOT NULL,
    call_id      TEXT NOT NULL,
    trace_id     TEXT,
    tool_type    TEXT NOT NULL,
    category     TEXT NOT NULL,
    reads        INTEGER NOT NULL,
    step         INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    tool_call_id TEXT NOT NULL,
    input        TEXT NOT NULL,
    answers      INTEGER,
    replica      TEXT NOT NULL,
    begun_at     INTEGER NOT NULL,
    PRIMARY KEY (task, request_id, tool)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_calls_by_replica ON open_calls (replica);

-- Answers to changes with a request_id that are no calls.
CREATE TABLE mutations (
    user_id    TEXT NOT NULL,
    method     TEXT NOT NULL,
    request_id TEXT NOT NULL,
    digest     BLOB NOT NULL,
    answer     BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, method, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mutations_by_end ON mutations (expires_at);

CREATE INDEX confirmations_of_tasks ON confirmations (task_id) WHERE state IN ('pending', 'approved') AND task_id IS NOT NULL;

-- Of what the marks around texts from outside are made, which nobody who writes such texts may foresee.
CREATE TABLE task_secret (
    only   INTEGER PRIMARY KEY CHECK (only = 0),
    secret BLOB NOT NULL
) STRICT;
INSERT INTO task_secret (only, secret) VALUES (0, randomblob(32));
