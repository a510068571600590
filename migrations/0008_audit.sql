-- What is kept of confirmations takes a bounded part of the file. Instants are milliseconds since the Unix epoch.

-- What a confirmation takes, its changes and indexes included. Once its arguments are forgotten, it takes little.
ALTER TABLE confirmations ADD COLUMN bytes INTEGER NOT NULL GENERATED ALWAYS AS (
    1024 + 4 * (length(user_id) + length(tool)) + length(CAST(shown AS BLOB))
        + coalesce(length(CAST(arguments AS BLOB)), 0)
        + 2 * length(CAST(reason AS BLOB)) + coalesce(length(CAST(on_behalf_of AS BLOB)), 0)
) VIRTUAL;
CREATE INDEX confirmations_with_arguments ON confirmations (ended_at)
    WHERE ended_at IS NOT NULL AND arguments IS NOT NULL;
CREATE INDEX confirmations_of_user_with_arguments ON confirmations (user_id, ended_at)
    WHERE ended_at IS NOT NULL AND arguments IS NOT NULL;

-- Those of each user, and of all, counted as they change.
CREATE TABLE confirmation_usage (
    user_id TEXT PRIMARY KEY,
    records INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO confirmation_usage (user_id, records, bytes)
    SELECT user_id, count(*), SUM(bytes) FROM confirmations GROUP BY user_id;
CREATE TABLE confirmation_total (
    only  INTEGER PRIMARY KEY CHECK (only = 0),
    bytes INTEGER NOT NULL
) STRICT;
INSERT INTO confirmation_total (only, bytes) SELECT 0, coalesce(SUM(bytes), 0) FROM confirmations;
CREATE TRIGGER confirmation_asked AFTER INSERT ON confirmations BEGIN
    INSERT INTO confirmation_usage (user_id, records, bytes) VALUES (new.user_id, 1, new.bytes)
        ON CONFLICT (user_id) DO UPDATE SET records = records + 1, bytes = bytes + excluded.bytes;
    UPDATE confirmation_total SET bytes = bytes + new.bytes;
END;
CREATE TRIGGER confirmation_changed AFTER UPDATE OF arguments, reason, on_behalf_of ON confirmations BEGIN
    UPDATE confirmation_usage SET bytes = bytes + new.bytes - old.bytes WHERE user_id = new.user_id;
    UPDATE confirmation_total SET bytes = bytes + new.bytes - old.bytes;
END;
CREATE TRIGGER confirmation_forgotten AFTER DELETE ON confirmations BEGIN
    UPDATE confirmation_usage SET records = records - 1, bytes = bytes - old.bytes WHERE user_id = old.user_id;
    DELETE FROM confirmation_usage WHERE user_id = old.user_id AND records = 0;
    UPDATE confirmation_total SET bytes = bytes - old.bytes;
END;
