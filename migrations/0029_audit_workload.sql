-- The SPIFFE id that the peer of the user's connection proved. Empty if it proved none.
ALTER TABLE audit ADD COLUMN workload TEXT NOT NULL DEFAULT '';
