-- The newest step of a task's entries: a response of its model, none of which can come after a later one.
ALTER TABLE tasks ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
UPDATE tasks SET step = coalesce((SELECT max(step) FROM entries WHERE entries.task = tasks.id), 0);

-- What a person approved and nobody has carried out yet, by its task.
CREATE INDEX confirmations_approved ON confirmations (task_id) WHERE state = 'approved';
