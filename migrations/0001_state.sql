-- Everything that outlives the process. Instants are milliseconds since the Unix epoch.

-- Calls with a request_id. `kept` is null until the call has ended.
CREATE TABLE idempotency (
    user_id    TEXT NOT NULL,
    tool       TEXT NOT NULL,
    request_id TEXT NOT NULL,
    digest     BLOB NOT NULL,
    begun_at   INTEGER NOT NULL,
    fetched_at INTEGER,
    kept       TEXT,
    data       BLOB,
    bytes      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, tool, request_id)
) STRICT;
CREATE INDEX idempotency_by_age ON idempotency (begun_at);

-- What is remembered of each user: counting it anew would cost every call with a request_id the more, the more there are.
CREATE TABLE idempotency_usage (
    user_id TEXT PRIMARY KEY,
    records INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER idempotency_begun AFTER INSERT ON idempotency BEGIN
    INSERT INTO idempotency_usage (user_id, records, bytes) VALUES (new.user_id, 1, new.bytes)
        ON CONFLICT (user_id) DO UPDATE SET records = records + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER idempotency_ended AFTER UPDATE OF bytes ON idempotency BEGIN
    UPDATE idempotency_usage SET bytes = bytes + new.bytes - old.bytes WHERE user_id = new.user_id;
END;
CREATE TRIGGER idempotency_forgotten AFTER DELETE ON idempotency BEGIN
    UPDATE idempotency_usage SET records = records - 1, bytes = bytes - old.bytes WHERE user_id = old.user_id;
    DELETE FROM idempotency_usage WHERE user_id = old.user_id AND records = 0;
END;

-- Sources that are left alone. An empty user_id stands for all users.
CREATE TABLE cool_downs (
    source  TEXT NOT NULL,
    user_id TEXT NOT NULL,
    code    TEXT NOT NULL,
    reason  TEXT NOT NULL,
    until   INTEGER NOT NULL,
    PRIMARY KEY (source, user_id)
) STRICT, WITHOUT ROWID;

-- The persistent tier of the cache.
CREATE TABLE results (
    key            BLOB PRIMARY KEY,
    output_message TEXT,
    kept           TEXT NOT NULL,
    data           BLOB NOT NULL,
    bytes          INTEGER NOT NULL,
    stored_at      INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX results_by_age ON results (stored_at);
CREATE INDEX results_by_end ON results (expires_at);
CREATE TABLE results_usage (
    only  INTEGER PRIMARY KEY CHECK (only = 0),
    bytes INTEGER NOT NULL
) STRICT;
INSERT INTO results_usage (only, bytes) VALUES (0, 0);
CREATE TRIGGER results_stored AFTER INSERT ON results BEGIN
    UPDATE results_usage SET bytes = bytes + new.bytes;
END;
CREATE TRIGGER results_swept AFTER DELETE ON results BEGIN
    UPDATE results_usage SET bytes = bytes - old.bytes;
END;

-- Copies of screens, and when each user's were last scraped.
CREATE TABLE screens (
    user_id    TEXT NOT NULL,
    screen_id  TEXT NOT NULL,
    name       TEXT NOT NULL,
    scraped_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, screen_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE screened_stocks (
    user_id       TEXT NOT NULL,
    screen_id     TEXT NOT NULL,
    position      INTEGER NOT NULL,
    symbol        TEXT NOT NULL,
    name          TEXT NOT NULL,
    cmp           REAL NOT NULL,
    pe            REAL,
    market_cap_cr REAL NOT NULL,
    roe           REAL,
    PRIMARY KEY (user_id, screen_id, position),
    FOREIGN KEY (user_id, screen_id) REFERENCES screens ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE scrapes (
    user_id    TEXT PRIMARY KEY,
    claimed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE watchlist (
    user_id    TEXT NOT NULL,
    symbol     TEXT NOT NULL,
    name       TEXT,
    source     TEXT NOT NULL CHECK (source IN ('user', 'screener')),
    note       TEXT,
    added_at   INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    cmp        REAL,
    PRIMARY KEY (user_id, symbol)
) STRICT, WITHOUT ROWID;
