-- Refusals of authentication and authorization: a row for those that are alike in all but time, once a minute. Instants are
-- milliseconds since the Unix epoch.
CREATE TABLE refusals (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    -- Empty where nobody was identified.
    user_id  TEXT NOT NULL,
    known_by TEXT NOT NULL,
    peer     TEXT,
    face     TEXT NOT NULL,
    target   TEXT NOT NULL
) STRICT;
CREATE INDEX refusals_by_user ON refusals (user_id, sequence);
