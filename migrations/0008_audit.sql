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

-- Who did what: a row for each write and each decision on a confirmation, never with arguments. That of a write is made in
-- the change that records the write as begun, and completed with its end. `user_id` did it; it is a call of `caller`.
CREATE TABLE audit (
    sequence          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind              TEXT NOT NULL CHECK (kind IN ('write', 'decision')),
    at                INTEGER NOT NULL,
    ended_at          INTEGER,
    user_id           TEXT NOT NULL,
    known_by          TEXT NOT NULL,
    peer              TEXT,
    face              TEXT NOT NULL,
    caller            TEXT NOT NULL,
    tool              TEXT NOT NULL,
    definition_digest BLOB NOT NULL,
    arguments_digest  BLOB NOT NULL,
    verdict           TEXT NOT NULL CHECK (verdict IN ('allowed', 'approved', 'denied')),
    code              TEXT NOT NULL DEFAULT '',
    call_id           TEXT NOT NULL,
    request_id        TEXT NOT NULL,
    trace_id          TEXT NOT NULL,
    task_id           TEXT NOT NULL,
    confirmation_id   TEXT NOT NULL,
    approver          TEXT NOT NULL,
    on_behalf_of      TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX audit_by_user ON audit (user_id, sequence);
CREATE INDEX audit_by_caller ON audit (caller, sequence) WHERE caller <> user_id;
CREATE INDEX audit_by_call ON audit (call_id);

-- How many each user has, and how many there are.
CREATE TABLE audit_usage (
    user_id TEXT PRIMARY KEY,
    records INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_total (
    only    INTEGER PRIMARY KEY CHECK (only = 0),
    records INTEGER NOT NULL
) STRICT;
INSERT INTO audit_total (only, records) VALUES (0, 0);
CREATE TRIGGER audit_noted AFTER INSERT ON audit BEGIN
    INSERT INTO audit_usage (user_id, records) VALUES (new.user_id, 1)
        ON CONFLICT (user_id) DO UPDATE SET records = records + 1;
    UPDATE audit_total SET records = records + 1;
END;
CREATE TRIGGER audit_forgotten AFTER DELETE ON audit BEGIN
    UPDATE audit_usage SET records = records - 1 WHERE user_id = old.user_id;
    DELETE FROM audit_usage WHERE user_id = old.user_id AND records = 0;
    UPDATE audit_total SET records = records - 1;
END;
-- Where there are too many of one user, or of all, the earliest are forgotten, two for each new one.
CREATE TRIGGER audit_trimmed AFTER INSERT ON audit
    WHEN (SELECT records FROM audit_usage WHERE user_id = new.user_id) >= 200000 BEGIN
    DELETE FROM audit WHERE sequence IN
        (SELECT sequence FROM audit WHERE user_id = new.user_id ORDER BY sequence LIMIT 2);
END;
CREATE TRIGGER audit_trimmed_in_all AFTER INSERT ON audit WHEN (SELECT records FROM audit_total) >= 2000000 BEGIN
    DELETE FROM audit WHERE sequence IN (SELECT sequence FROM audit ORDER BY sequence LIMIT 2);
END;

-- What is known of a call with a request_id beside how it ended. Null of calls that were recorded before.
ALTER TABLE idempotency ADD COLUMN call_id TEXT;
ALTER TABLE idempotency ADD COLUMN parent_call_id TEXT;
ALTER TABLE idempotency ADD COLUMN definition_digest BLOB;
ALTER TABLE idempotency ADD COLUMN face TEXT;
ALTER TABLE idempotency ADD COLUMN task_id TEXT;
ALTER TABLE idempotency ADD COLUMN session_id TEXT;
ALTER TABLE idempotency ADD COLUMN trace_id TEXT;
ALTER TABLE idempotency ADD COLUMN deadline INTEGER;
ALTER TABLE idempotency ADD COLUMN ended_at INTEGER;
-- `OK`, the code of an error, or the reason of a refusal.
ALTER TABLE idempotency ADD COLUMN code TEXT;
-- The audit record of the write that is under way.
ALTER TABLE idempotency ADD COLUMN audit INTEGER;
CREATE TRIGGER audit_completed AFTER UPDATE OF code ON idempotency WHEN new.audit IS NOT NULL BEGIN
    UPDATE audit SET ended_at = new.ended_at, code = coalesce(new.code, '')
        WHERE sequence = new.audit AND ended_at IS NULL;
END;
-- Call ids are in order of time.
CREATE INDEX idempotency_by_call ON idempotency (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX idempotency_of_user_by_call ON idempotency (user_id, call_id) WHERE call_id IS NOT NULL;

-- What webhooks are told: `webhooks` is what the serving process was configured with, by which a change of a confirmation
-- finds whom to tell, whichever process makes it. A message is in the outbox from the change on, until it is delivered.
CREATE TABLE webhooks (
    url       TEXT PRIMARY KEY,
    requested INTEGER NOT NULL,
    decided   INTEGER NOT NULL,
    expired   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
    id         TEXT PRIMARY KEY,
    url        TEXT NOT NULL,
    event      TEXT NOT NULL,
    sequence   INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX outbox_by_due ON outbox (url, due_at);
CREATE TRIGGER outbox_filled AFTER INSERT ON confirmation_events
    WHEN new.state IN ('pending', 'approved', 'denied', 'expired') BEGIN
    INSERT INTO outbox (id, url, event, sequence, at, expires_at, due_at)
        SELECT 'msg_' || lower(hex(randomblob(16))), url,
            CASE new.state WHEN 'pending' THEN 'requested' WHEN 'expired' THEN 'expired' ELSE 'decided' END,
            new.sequence, new.at, new.expires_at, new.at
        FROM webhooks
        WHERE CASE new.state WHEN 'pending' THEN requested WHEN 'expired' THEN expired ELSE decided END;
END;
