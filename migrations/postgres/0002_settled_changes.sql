-- A follower of the changes of all confirmations goes on after a position, so it must not pass one that is committed
-- later. Until its transaction ends, a position is announced by a shared lock: on the sequence, and on a position below.
-- (The numbers of transactions do not tell: one that began later may take the lower position. `written` remains for
-- programs that were started before this step.)

CREATE FUNCTION next_confirmation_change() RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    below BIGINT;
BEGIN
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO below FROM confirmation_change;
    PERFORM pg_advisory_xact_lock_shared(
        'confirmation_change'::regclass::oid::bigint << 32 | (below & 4294967295)
    );
    RETURN nextval('confirmation_change');
END
$$;

-- The last position up to one of a committed change that no open transaction may have. A statement that begins after
-- this one sees the changes up to there. The lock has the lower half of a position, hence the distance modulo 2^32.
CREATE FUNCTION settled_confirmation_change(last BIGINT) RETURNS BIGINT LANGUAGE SQL VOLATILE AS $$
    SELECT last + coalesce(min(least(0, ((objid::bigint - last + 2147483648) & 4294967295) - 2147483648)), 0)
    FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND classid = 'confirmation_change'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;
