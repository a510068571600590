-- Calls with a request_id are remembered as long as what they do needs: a read for minutes, anything else for a day. Each
-- user's share is counted in bytes of the file, all columns and indexes of a record included.
ALTER TABLE idempotency ADD COLUMN reads INTEGER NOT NULL DEFAULT 0;
ALTER TABLE idempotency ADD COLUMN expires_at INTEGER NOT NULL DEFAULT 0;
UPDATE idempotency SET
    expires_at = begun_at + 86400000,
    bytes = 192 + 3 * (length(user_id) + length(tool) + length(request_id))
        + coalesce(length(CAST(kept AS BLOB)), 0) + coalesce(length(data), 0);

-- A process of the program before this step, still running beside it, does not know of these columns.
CREATE TRIGGER idempotency_begun_earlier AFTER INSERT ON idempotency WHEN new.expires_at = 0 BEGIN
    UPDATE idempotency SET expires_at = new.begun_at + 86400000
        WHERE user_id = new.user_id AND tool = new.tool AND request_id = new.request_id;
END;

DROP INDEX idempotency_by_age;
CREATE INDEX idempotency_by_end ON idempotency (expires_at);
CREATE INDEX idempotency_by_user ON idempotency (user_id, reads, expires_at);
