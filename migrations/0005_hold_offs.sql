-- Until when live sources, or parts of them (`<source>/<part>`), asked to be left alone, which the processes of one machine
-- share. Instants are milliseconds since the Unix epoch.
CREATE TABLE hold_offs (
    name   TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
