-- Arguments and results of calls that are recorded for people who look at them, sealed. Instants are milliseconds since the
-- Unix epoch.
CREATE TABLE recordings (
    call_id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    sealed BYTEA NOT NULL,
    bytes BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX recordings_by_end ON recordings (expires_at);
-- Holds all that the bound of a user is counted by.
CREATE INDEX recordings_by_user ON recordings (user_id, expires_at, bytes);
