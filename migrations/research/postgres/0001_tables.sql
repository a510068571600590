-- The tables of research, as the steps of SQLite (`../`) leave them, which also say what they are for.
CREATE TABLE screens (
    user_id    TEXT COLLATE "C" NOT NULL,
    screen_id  TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    scraped_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, screen_id)
);
CREATE TABLE screened_stocks (
    user_id       TEXT COLLATE "C" NOT NULL,
    screen_id     TEXT COLLATE "C" NOT NULL,
    position      BIGINT NOT NULL,
    symbol        TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    cmp           DOUBLE PRECISION NOT NULL,
    pe            DOUBLE PRECISION,
    market_cap_cr DOUBLE PRECISION NOT NULL,
    roe           DOUBLE PRECISION,
    PRIMARY KEY (user_id, screen_id, position),
    FOREIGN KEY (user_id, screen_id) REFERENCES screens ON DELETE CASCADE
);
CREATE TABLE scrapes (
    user_id    TEXT COLLATE "C" PRIMARY KEY,
    claimed_at BIGINT NOT NULL,
    ends_by    BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE watchlist (
    user_id    TEXT COLLATE "C" NOT NULL,
    symbol     TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C",
    note       TEXT COLLATE "C",
    added_at   BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, symbol)
);
CREATE VIEW screened_prices AS
    SELECT DISTINCT ON (user_id, symbol) user_id, symbol, s.name AS name, cmp, scraped_at AS screened_at
    FROM screened_stocks s JOIN screens USING (user_id, screen_id)
    ORDER BY user_id, symbol, scraped_at DESC;
CREATE TABLE refused_logins (
    user_id TEXT COLLATE "C" NOT NULL,
    login   TEXT COLLATE "C" NOT NULL,
    until   BIGINT NOT NULL,
    PRIMARY KEY (user_id, login)
);
