-- Writes whose outcome their user has not received: each lends its request_id to an equal call without one, so that a
-- client which lost the answer does not write twice. Equal are writes of one user with the same tool, definition,
-- arguments and task. The row is inserted before the write begins and deleted once its outcome was delivered.
-- `expires_at` is when the row can no longer matter; until when it lends follows from the call and its confirmation.
-- Instants are milliseconds since the Unix epoch.
CREATE TABLE equal_writes (
    user_id           TEXT NOT NULL,
    tool              TEXT NOT NULL,
    arguments_digest  BLOB NOT NULL,
    definition_digest BLOB NOT NULL,
    task_id           TEXT NOT NULL,
    request_id        TEXT NOT NULL,
    created_at        INTEGER NOT NULL,
    expires_at        INTEGER NOT NULL,
    PRIMARY KEY (user_id, tool, arguments_digest, definition_digest, task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX equal_writes_by_end ON equal_writes (expires_at);

-- A call that waits for a person is found by the call that asked, whichever attempt carries it out.
CREATE INDEX confirmations_by_outer_call ON confirmations (outer_call_id);
