-- What the client of a call says it is. Empty if it says nothing.
ALTER TABLE idempotency ADD COLUMN client TEXT NOT NULL DEFAULT '';
