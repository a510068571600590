-- What an operator has accepted of the tools that MCP servers list. `text` is all of it, as JSON; `digest` is that of the
-- text, whatever the order of its members. Instants are milliseconds since the Unix epoch.
CREATE TABLE accepted_tools (
    provider    TEXT NOT NULL,
    name        TEXT NOT NULL,
    digest      BLOB NOT NULL,
    text        TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    PRIMARY KEY (provider, name)
) STRICT;
