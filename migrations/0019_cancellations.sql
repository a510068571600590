-- Requests to cancel what another process of the same state carries out. `subject` says what `subject_id` names: a `call`, a
-- `request` (all calls of that request_id), a `turn`, a `session` or a `job` of the user. `replica` is the process that asks,
-- which has looked at what it carries out itself. `answers` counts the processes that have read it, and `done` is set by one
-- that has cancelled what is meant. Instants are milliseconds since the Unix epoch.
CREATE TABLE cancellations (
    id         TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL,
    subject    TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    replica    TEXT NOT NULL,
    asked_at   INTEGER NOT NULL,
    answers    INTEGER NOT NULL DEFAULT 0,
    done       INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX cancellations_by_age ON cancellations (asked_at);
