-- Confirmations that ended without a decision, or without being used, are in the audit too. A column cannot get another
-- check, so there is another column.
ALTER TABLE audit ADD COLUMN new_verdict TEXT NOT NULL DEFAULT 'allowed'
    CHECK (new_verdict IN ('allowed', 'approved', 'denied', 'expired', 'withdrawn', 'voided'));
UPDATE audit SET new_verdict = verdict;
ALTER TABLE audit DROP COLUMN verdict;
ALTER TABLE audit RENAME COLUMN new_verdict TO verdict;

-- How many tokens the two long texts of an entry have, and how many bytes the beginning and the end that are shown of a long
-- result. Null of entries from before, and where nobody counted: they are counted when they are shown.
ALTER TABLE entries ADD COLUMN input_tokens INTEGER;
ALTER TABLE entries ADD COLUMN result_tokens INTEGER;
ALTER TABLE entries ADD COLUMN result_first INTEGER;
ALTER TABLE entries ADD COLUMN result_last INTEGER;

-- Notes that agents asked to be remembered, by the entries that have them: for all tasks of a tree, or of a user. They go
-- with their tree.
CREATE TABLE memories (
    id        INTEGER PRIMARY KEY,
    user_id   TEXT NOT NULL,
    root      TEXT NOT NULL,
    task      TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    scope     TEXT NOT NULL CHECK (scope IN ('tree', 'user')),
    untrusted INTEGER NOT NULL
) STRICT;
CREATE INDEX memories_of_trees ON memories (root, scope, id);
CREATE INDEX memories_of_users ON memories (user_id, id) WHERE scope = 'user';
