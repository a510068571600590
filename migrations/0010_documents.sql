-- The documents that the tasks of a tree share. Every write makes a version; nothing is overwritten. Instants are
-- milliseconds since the Unix epoch.

-- Bytes by their SHA-256. Null `bytes`: in a file of the state directory. `uses` counts the rows that name them; the sweep
-- takes what nothing has named for a day.
CREATE TABLE blobs (
    digest     BLOB PRIMARY KEY,
    size       INTEGER NOT NULL,
    bytes      BLOB,
    uses       INTEGER NOT NULL,
    touched_at INTEGER NOT NULL
) STRICT;
CREATE INDEX blobs_unused ON blobs (touched_at) WHERE uses = 0;

-- What a tree has, counted as it changes. `id` is the short name of the tree in the index of words.
CREATE TABLE workspaces (
    id        INTEGER PRIMARY KEY,
    root      TEXT NOT NULL UNIQUE,
    user_id   TEXT NOT NULL,
    documents INTEGER NOT NULL DEFAULT 0,
    bytes     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX workspaces_by_user ON workspaces (user_id, bytes);

-- A document as it stands: its last version and what is said of it. `tags` begins, ends and is divided by line breaks.
CREATE TABLE documents (
    id               INTEGER PRIMARY KEY,
    root             TEXT NOT NULL,
    path             TEXT NOT NULL,
    version          INTEGER NOT NULL,
    etag             TEXT NOT NULL,
    previous_etag    TEXT NOT NULL,
    deleted          INTEGER NOT NULL,
    digest           BLOB,
    size             INTEGER NOT NULL,
    mime_type        TEXT NOT NULL,
    tokens           INTEGER NOT NULL,
    tokens_estimated INTEGER NOT NULL,
    summary          TEXT NOT NULL,
    untrusted        INTEGER NOT NULL,
    description      TEXT NOT NULL,
    tags             TEXT NOT NULL,
    created_by       TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_by       TEXT NOT NULL,
    updated_at       INTEGER NOT NULL,
    UNIQUE (root, path)
) STRICT;

CREATE TABLE versions (
    document         INTEGER NOT NULL REFERENCES documents (id),
    version          INTEGER NOT NULL,
    digest           BLOB,
    size             INTEGER NOT NULL,
    mime_type        TEXT NOT NULL,
    tokens           INTEGER NOT NULL,
    tokens_estimated INTEGER NOT NULL,
    summary          TEXT NOT NULL,
    untrusted        INTEGER NOT NULL,
    written_by       TEXT NOT NULL,
    written_at       INTEGER NOT NULL,
    why              TEXT NOT NULL,
    call_id          TEXT NOT NULL,
    deleted          INTEGER NOT NULL,
    PRIMARY KEY (document, version)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER versions_written AFTER INSERT ON versions WHEN new.digest IS NOT NULL BEGIN
    UPDATE blobs SET uses = uses + 1 WHERE digest = new.digest;
END;
CREATE TRIGGER versions_forgotten AFTER DELETE ON versions WHEN old.digest IS NOT NULL BEGIN
    UPDATE blobs SET uses = uses - 1 WHERE digest = old.digest;
END;

-- Words by which documents are found: the rowid is the document's. The words are stems, each after the short name of its
-- tree, so that a search touches the words of one tree only. `weights` has each stem once, after a step from 1 to 8 that
-- says how much the document is about it. The tokenizer splits at what is neither a letter, a digit nor `_`, and changes
-- nothing else of what we give it.
CREATE VIRTUAL TABLE texts USING fts5(
    path, said, summary, text, weights,
    content='', contentless_delete=1, tokenize="ascii tokenchars '_'"
);
