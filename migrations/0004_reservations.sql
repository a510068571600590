-- Requests to live sources, made and to come, which the processes of one machine share. Instants are nanoseconds since the
-- Unix epoch: two requests may be less than a millisecond apart.
CREATE TABLE reservations (
    id      INTEGER PRIMARY KEY,
    source  TEXT NOT NULL,
    user_id TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT;
CREATE INDEX reservations_by_source ON reservations (source, at);
