-- A watch-list holds what its user picked, and nothing else: stocks of screens are those of `screened_stocks`, which knows
-- their prices too. So who picked a stock and what it last cost are no longer its columns.
DELETE FROM watchlist WHERE source <> 'user';
ALTER TABLE watchlist DROP COLUMN source;
ALTER TABLE watchlist DROP COLUMN cmp;

-- The newest price of each stock of a user's screens: SQLite takes the row in which the maximum stands.
CREATE VIEW screened_prices AS
    SELECT user_id, symbol, s.name AS name, cmp, MAX(scraped_at) AS screened_at
    FROM screened_stocks s JOIN screens USING (user_id, screen_id)
    GROUP BY user_id, symbol;

-- The logins that Screener.in refused, and until when they are not tried again. `login` is a short digest: enough to tell
-- another password from the refused one, too little to find that one by.
CREATE TABLE refused_logins (
    user_id TEXT NOT NULL,
    login   TEXT NOT NULL,
    until   INTEGER NOT NULL,
    PRIMARY KEY (user_id, login)
) STRICT, WITHOUT ROWID;
