-- The definitions that confirmations are bound to, as encoded `toolwire.v1.ToolDefinition`: what a person compares with
-- the present one. Instants are milliseconds since the Unix epoch.
CREATE TABLE definitions (
    digest BYTEA PRIMARY KEY,
    encoded BYTEA NOT NULL,
    -- When a confirmation of it was last requested, within half an hour.
    asked_at BIGINT NOT NULL
);
