-- Work in the background, and what each job has said. Instants are milliseconds since the Unix epoch.

-- `digest` tells whether a repeat asks for the same. `next` is the sequence of the next event. `replica` is the process
-- that carries it out. `error` is JSON, empty without one; `result` is JSON, empty without one.
CREATE TABLE jobs (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    TEXT NOT NULL,
    job_id     BLOB NOT NULL,
    digest     BLOB NOT NULL,
    kind       TEXT NOT NULL,
    state      TEXT NOT NULL,
    percent    INTEGER NOT NULL,
    step       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    deadline   INTEGER NOT NULL,
    ended_at   INTEGER,
    next       INTEGER NOT NULL,
    replica    TEXT NOT NULL,
    error      TEXT NOT NULL,
    result     TEXT NOT NULL,
    UNIQUE (user_id, job_id)
) STRICT;
-- One a user runs at a time.
CREATE UNIQUE INDEX jobs_running ON jobs (user_id) WHERE state = 'running';
CREATE INDEX jobs_of_user ON jobs (user_id, position);
CREATE INDEX jobs_by_age ON jobs (ended_at);

CREATE TABLE job_events (
    job      INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    percent  INTEGER NOT NULL,
    step     TEXT NOT NULL,
    message  TEXT NOT NULL,
    call_id  TEXT NOT NULL,
    is_last  INTEGER NOT NULL,
    PRIMARY KEY (job, sequence)
) STRICT, WITHOUT ROWID;
