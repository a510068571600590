-- Each user's changes of confirmations are numbered by themselves too, so that nobody can count what others do. What was
-- told before keeps its position, and the next one follows.
CREATE TABLE confirmation_positions (
    user_id TEXT PRIMARY KEY,
    last    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO confirmation_positions (user_id, last)
    SELECT DISTINCT user_id, (SELECT last FROM confirmation_sequence) FROM confirmations;
ALTER TABLE confirmations ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE confirmations SET position = sequence;
CREATE INDEX confirmations_of_user_by_change ON confirmations (user_id, position);
ALTER TABLE confirmation_events ADD COLUMN user_id TEXT NOT NULL DEFAULT '';
ALTER TABLE confirmation_events ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE confirmation_events SET position = sequence,
    user_id = coalesce((SELECT user_id FROM confirmations WHERE id = confirmation_id), '');
CREATE INDEX confirmation_events_of_user ON confirmation_events (user_id, position);

-- The same of what is recorded: of who did it, and of whose call it was where that is somebody else.
ALTER TABLE audit ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit ADD COLUMN callers_position INTEGER NOT NULL DEFAULT 0;
UPDATE audit SET position = sequence, callers_position = sequence;
DROP INDEX audit_by_user;
CREATE INDEX audit_by_user ON audit (user_id, position);
DROP INDEX audit_by_caller;
CREATE INDEX audit_by_caller ON audit (caller, callers_position) WHERE caller <> user_id;
