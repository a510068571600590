-- Arguments and results of calls that are recorded for people who look at them, sealed. Instants are milliseconds since the
-- Unix epoch.
CREATE TABLE recordings (
    call_id    TEXT PRIMARY KEY,
    user_id    TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    bytes      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX recordings_by_end ON recordings (expires_at);
-- Holds all that the bound of a user is counted by.
CREATE INDEX recordings_by_user ON recordings (user_id, expires_at, bytes);
