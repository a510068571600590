-- Results that were too large for a model, whole, so that it can read on. Instants are milliseconds since the Unix epoch.
CREATE TABLE kept_results (
    user_id    TEXT NOT NULL,
    call_id    TEXT NOT NULL,
    tool       TEXT NOT NULL,
    -- The data as JSON text, and its size.
    text       TEXT NOT NULL,
    tokens     INTEGER NOT NULL,
    -- JSON. An `untrusted_nonce` says that people outside wrote a part of the data.
    provenance TEXT NOT NULL,
    bytes      INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, call_id)
) STRICT;
CREATE INDEX kept_results_by_end ON kept_results (expires_at);
CREATE INDEX kept_results_by_user ON kept_results (user_id, expires_at);

-- The rows and bytes of each user, and the bytes of all users.
CREATE TABLE kept_results_usage (
    user_id TEXT PRIMARY KEY,
    records INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE kept_results_total (
    only  INTEGER PRIMARY KEY CHECK (only = 0),
    bytes INTEGER NOT NULL
) STRICT;
INSERT INTO kept_results_total (only, bytes) VALUES (0, 0);
