-- The position of a user's last change of a task stands in the row that counts what the user's timelines take: every append
-- needs both, and the program writes them by one statement. Nothing counts behind its back any more. A program from before
-- finds no positions and appends nothing, rather than uncounted.
ALTER TABLE timeline_usage ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
INSERT INTO timeline_usage (user_id, tasks, bytes, last) SELECT user_id, 0, 0, last FROM task_positions WHERE true
    ON CONFLICT (user_id) DO UPDATE SET last = excluded.last;
DROP TABLE task_positions;
DROP TRIGGER timeline_begun;
DROP TRIGGER timeline_grown;
DROP TRIGGER timeline_forgotten;
