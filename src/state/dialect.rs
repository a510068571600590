//! The texts of statements in which the two databases differ (`toolwire_db::sql`).

/// The waits of a row of `tasks` as JSON, as a column of the statement that reads the task.
pub(crate) const WAITS: &str = "(SELECT /*sqlite*/ json_group_array(json_array(w.seq, w.kind, w.thing)) \
    /*postgres coalesce(json_agg(json_build_array(w.seq, w.kind, w.thing)), '[]')::text */ \
    FROM waits w WHERE w.task = tasks.id) AS waits";

/// The next position among the changes of confirmations of all users. On PostgreSQL it is announced to followers until
/// the transaction ends.
pub(crate) const NEXT_CHANGE: &str = "/*sqlite*/ UPDATE confirmation_sequence SET last = last + 1 RETURNING last \
    /*postgres SELECT next_confirmation_change() */";

/// The highest position of a committed change.
pub(crate) const LAST_CHANGE: &str = "/*sqlite*/ SELECT last FROM confirmation_sequence \
    /*postgres SELECT coalesce(max(sequence), 0) FROM confirmation_events */";

/// Stands before a position in parentheses, for the last one up to it that no open transaction may have.
pub(crate) const SETTLED: &str = "/*postgres settled_confirmation_change */";

/// A condition on a row of `confirmation_events` that may be deleted. The last one remains on PostgreSQL, which has no
/// other record of the last position; without its confirmation it is not listed.
pub(crate) const IS_NOT_LAST: &str =
    "/*postgres AND sequence < (SELECT max(sequence) FROM confirmation_events) */";

/// Ends a subquery that selects the rows to delete, so that it passes those that another transaction is deleting.
pub(crate) const SKIP_LOCKED: &str = "/*postgres FOR UPDATE SKIP LOCKED */";

/// Orders the texts of an aggregate as SQLite's primary key does.
pub(crate) const BY_DOCUMENT: &str = "/*postgres ORDER BY document */";

/// Writes more than a page, which PostgreSQL cannot compress to less: if this fits, so does the row of a call.
pub(crate) const PROBE: &str = "/*sqlite*/ INSERT OR REPLACE INTO probe (only, filler) VALUES (0, zeroblob(16384)) \
    /*postgres UPDATE probe SET filler = decode((SELECT string_agg(md5(random()::text), '') \
    FROM generate_series(1, 1024)), 'hex') */";

/// Stand before and after a statement that only SQLite executes.
pub(crate) const SQLITE_ONLY: &str = "/*sqlite*/ ";
pub(crate) const END_SQLITE_ONLY: &str = " /*postgres */";

/// Violations of an invariant of SQLite: PostgreSQL's sequence may have gaps.
pub(crate) const GAPS_OF_CHANGES: &str = "/*sqlite*/ SELECT 'confirmation_events' FROM (SELECT min(sequence) AS first, \
    max(sequence) AS last, count(*) AS many FROM confirmation_events) WHERE many > 0 AND (last - first + 1 <> many OR \
    last <> (SELECT last FROM confirmation_sequence)) /*postgres SELECT '' WHERE FALSE */";

/// Executed on a file only: PostgreSQL checks its pages and references itself.
pub(crate) const CHECK_PAGES: &str = "PRAGMA integrity_check(10)";
pub(crate) const CHECK_REFERENCES: &str = "PRAGMA foreign_key_check";
