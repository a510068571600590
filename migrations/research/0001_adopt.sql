-- The tables of research. Files of Toolwire 0.1 have them already, from ../0001_state.sql, which makes them in new files
-- too and stays as it is: every existing file holds its checksum. So this step adopts what is there, and makes what is not.
-- Later steps are this folder's own. Instants are milliseconds since the Unix epoch.

-- Copies of screens, and when each user's were last scraped.
CREATE TABLE IF NOT EXISTS screens (
    user_id    TEXT NOT NULL,
    screen_id  TEXT NOT NULL,
    name       TEXT NOT NULL,
    scraped_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, screen_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS screened_stocks (
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
CREATE TABLE IF NOT EXISTS scrapes (
    user_id    TEXT PRIMARY KEY,
    claimed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS watchlist (
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
