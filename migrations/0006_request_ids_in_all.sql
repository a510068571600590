-- What is remembered of all users' calls with a request_id, counted as it changes.
CREATE TABLE idempotency_total (
    only  INTEGER PRIMARY KEY CHECK (only = 0),
    bytes INTEGER NOT NULL
) STRICT;
INSERT INTO idempotency_total (only, bytes) SELECT 0, coalesce(SUM(bytes), 0) FROM idempotency;
CREATE TRIGGER idempotency_total_begun AFTER INSERT ON idempotency BEGIN
    UPDATE idempotency_total SET bytes = bytes + new.bytes;
END;
CREATE TRIGGER idempotency_total_ended AFTER UPDATE OF bytes ON idempotency BEGIN
    UPDATE idempotency_total SET bytes = bytes + new.bytes - old.bytes;
END;
CREATE TRIGGER idempotency_total_forgotten AFTER DELETE ON idempotency BEGIN
    UPDATE idempotency_total SET bytes = bytes - old.bytes;
END;
