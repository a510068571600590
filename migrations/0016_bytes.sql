-- The place of each task's last change among those of its user, so that nobody learns how much others do. Places of before
-- stay: a watch goes on from where it was.
CREATE TABLE task_positions (
    user_id TEXT PRIMARY KEY,
    last    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO task_positions (user_id, last)
    SELECT DISTINCT user_id, (SELECT last FROM task_position) FROM tasks;
DROP TABLE task_position;

-- What each user's timelines take, those of ended trees among them, until they are forgotten.
CREATE TABLE timeline_usage (
    user_id TEXT PRIMARY KEY,
    tasks   INTEGER NOT NULL,
    bytes   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO timeline_usage (user_id, tasks, bytes)
    SELECT user_id, count(*), SUM(bytes) FROM tasks GROUP BY user_id;
CREATE TRIGGER timeline_begun AFTER INSERT ON tasks BEGIN
    INSERT INTO timeline_usage (user_id, tasks, bytes) VALUES (new.user_id, 1, new.bytes)
        ON CONFLICT (user_id) DO UPDATE SET tasks = tasks + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER timeline_grown AFTER UPDATE OF bytes ON tasks WHEN new.bytes <> old.bytes BEGIN
    UPDATE timeline_usage SET bytes = bytes + new.bytes - old.bytes WHERE user_id = new.user_id;
END;
CREATE TRIGGER timeline_forgotten AFTER DELETE ON tasks BEGIN
    UPDATE timeline_usage SET tasks = tasks - 1, bytes = bytes - old.bytes WHERE user_id = old.user_id;
    DELETE FROM timeline_usage WHERE user_id = old.user_id AND tasks = 0;
END;

-- The process that carries a call out, so that others see when it is gone. Null of calls that were begun before.
ALTER TABLE idempotency ADD COLUMN replica TEXT;
