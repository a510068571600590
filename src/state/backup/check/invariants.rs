//! Invariants between rows: for each, a query that returns at most ten violations, and a description. Trees that are
//! being deleted are exempt, since they are deleted in parts. Positions of PostgreSQL's sequences may have gaps.

use crate::dialect::GAPS_OF_CHANGES;

/// A group of invariants.
pub(super) struct Invariants {
    /// The description of the group.
    pub(super) description: &'static str,
    /// Queries that return the names of violating rows, each with a description of the violation.
    pub(super) violations: &'static [(&'static str, &'static str)],
}

pub(super) const INVARIANTS: &[Invariants] = &[CONFIRMATIONS, TASKS, WAITS, DOCUMENTS, WORKSPACES, SEARCH];

/// Change events have no gap between the first and the last retained one, and the last one matches the counter. A
/// confirmation's state is that of its last change, if that is retained, and a confirmation is used for one write only.
const CONFIRMATIONS: Invariants = Invariants {
    description: "the sequence of confirmations' changes",
    violations: &[
        (GAPS_OF_CHANGES, "have a gap"),
        (
            "SELECT 'confirmation ' || c.id FROM confirmations c JOIN confirmation_events e ON e.sequence = c.sequence \
             WHERE e.confirmation_id <> c.id OR e.state <> c.state LIMIT 10",
            "does not stand as its last change says",
        ),
        (
            "SELECT 'confirmation ' || id FROM confirmations WHERE state IN ('pending', 'approved') \
             AND sequence NOT IN (SELECT sequence FROM confirmation_events) LIMIT 10",
            "is open, and its last change is not there",
        ),
        (
            "SELECT 'confirmation ' || confirmation_id FROM audit WHERE kind = 'write' AND confirmation_id <> '' \
             GROUP BY confirmation_id HAVING count(*) > 1 LIMIT 10",
            "was used more than once",
        ),
    ],
};

/// A task belongs to the tree of its parent, and other rows belong to a task.
const TASKS: Invariants = Invariants {
    description: "trees of tasks",
    violations: &[
        (
            "SELECT 'task ' || c.id FROM tasks c LEFT JOIN tasks p ON p.id = c.parent WHERE c.parent IS NOT NULL \
             AND (p.id IS NULL OR p.root <> c.root OR p.user_id <> c.user_id OR p.depth + 1 <> c.depth) LIMIT 10",
            "is not of the tree of its parent",
        ),
        (
            "SELECT 'task ' || id FROM tasks WHERE (parent IS NULL) <> (root = id) LIMIT 10",
            "is a root within a tree",
        ),
        (
            "SELECT 'position ' || position FROM tasks WHERE position > 0 GROUP BY user_id, position HAVING count(*) > 1 LIMIT 10",
            "is that of several tasks",
        ),
        (
            "SELECT DISTINCT kind || ' of task ' || task FROM (SELECT 'an entry' AS kind, task FROM entries \
             UNION ALL SELECT 'a text', task FROM entry_parts UNION ALL SELECT 'a wait', task FROM waits \
             UNION ALL SELECT 'an open call', task FROM open_calls) AS of_tasks \
             WHERE task NOT IN (SELECT id FROM tasks) LIMIT 10",
            "belongs to no task",
        ),
        (
            "SELECT 'entry ' || a.seq || ' of task ' || a.task FROM entries a JOIN tasks t ON t.id = a.task \
             LEFT JOIN entries e ON e.task = a.task AND e.seq = a.answers WHERE t.deleted = 0 AND a.answers IS NOT NULL \
             AND (e.seq IS NULL OR e.seq >= a.seq OR e.kind <> 'tool_call') LIMIT 10",
            "answers what was not asked",
        ),
    ],
};

/// An end answers its waiters in the same transaction. So what a task waits for is open, and every open child has a
/// parent that waits for it.
const WAITS: Invariants = Invariants {
    description: "what tasks wait for",
    violations: &[
        (
            "SELECT 'task ' || w.task || ' waits for the task ' || w.thing || ', which' FROM waits w \
             JOIN tasks p ON p.id = w.task AND p.deleted = 0 LEFT JOIN tasks c ON c.id = w.thing \
             WHERE w.kind IN ('child', 'question') AND (c.id IS NULL OR c.parent IS DISTINCT FROM w.task) LIMIT 10",
            "does not work for it",
        ),
        (
            "SELECT 'task ' || w.task || ' waits for the task ' || w.thing || ', which' FROM waits w \
             JOIN tasks p ON p.id = w.task AND p.deleted = 0 JOIN tasks c ON c.id = w.thing \
             WHERE w.kind IN ('child', 'question') AND c.ended_at IS NOT NULL LIMIT 10",
            "has ended",
        ),
        (
            "SELECT 'task ' || c.id FROM tasks c WHERE c.parent IS NOT NULL AND c.ended_at IS NULL AND c.deleted = 0 \
             AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.task = c.parent AND w.thing = c.id) LIMIT 10",
            "is open, and its parent does not wait for it",
        ),
        (
            "SELECT 'task ' || w.task || ' waits for ' || w.thing || ', which' FROM waits w \
             JOIN tasks p ON p.id = w.task AND p.deleted = 0 LEFT JOIN confirmations c ON c.id = w.thing \
             WHERE w.kind = 'confirmation' AND c.state IS DISTINCT FROM 'pending' LIMIT 10",
            "is not to be decided",
        ),
        (
            "SELECT 'task ' || task FROM waits WHERE task NOT IN (SELECT id FROM tasks WHERE deleted = 1) \
             GROUP BY task, kind, thing HAVING count(*) > 1 LIMIT 10",
            "waits twice for the same",
        ),
        (
            "SELECT 'call ' || o.call_id || ' of task ' || o.task FROM open_calls o JOIN tasks t ON t.id = o.task \
             WHERE t.ended_at IS NOT NULL AND t.deleted = 0 LIMIT 10",
            "is open after the end of its task",
        ),
    ],
};

/// A document equals its last version; versions are numbered from 1 without a gap.
const DOCUMENTS: Invariants = Invariants {
    description: "documents and their versions",
    violations: &[
        (
            "SELECT 'document ' || d.path || ' of ' || d.root FROM documents d \
             WHERE d.root NOT IN (SELECT root FROM tasks WHERE deleted = 1) AND (SELECT min(version) <> 1 \
             OR max(version) <> count(*) OR count(*) <> d.version FROM versions WHERE document = d.id) LIMIT 10",
            "lacks versions",
        ),
        (
            "SELECT 'document ' || d.path || ' of ' || d.root FROM documents d JOIN versions v \
             ON v.document = d.id AND v.version = d.version WHERE d.digest IS DISTINCT FROM v.digest \
             OR d.size <> v.size OR d.deleted <> v.deleted OR d.untrusted <> v.untrusted LIMIT 10",
            "is not what its last version says",
        ),
        (
            "SELECT 'document ' || path || ' of ' || root FROM documents \
             WHERE root NOT IN (SELECT root FROM workspaces) LIMIT 10",
            "has no workspace",
        ),
        (
            "SELECT 'version ' || v.version || ' of document ' || d.path || ' of ' || d.root FROM versions v \
             JOIN documents d ON d.id = v.document LEFT JOIN blobs b ON b.digest = v.digest \
             WHERE v.digest IS NOT NULL AND b.size IS DISTINCT FROM v.size LIMIT 10",
            "has no bytes of its size",
        ),
        (
            "SELECT 'blob ' || lower(hex(b.digest)) FROM blobs b \
             WHERE b.uses <> (SELECT count(*) FROM versions v WHERE v.digest = b.digest) LIMIT 10",
            "is not counted as often as it is used",
        ),
    ],
};

/// Counters of a workspace equal a recount.
const WORKSPACES: Invariants = Invariants {
    description: "what workspaces count",
    violations: &[(
        "SELECT 'workspace ' || w.root FROM workspaces w WHERE w.root NOT IN (SELECT root FROM tasks WHERE deleted = 1) \
         AND (w.documents <> (SELECT count(*) FROM documents WHERE root = w.root) OR w.bytes <> \
         (SELECT coalesce(SUM(v.size), 0) FROM versions v JOIN documents d ON d.id = v.document WHERE d.root = w.root)) \
         LIMIT 10",
        "does not count its documents",
    )],
};

/// A document is in the index, at least by its path; a deleted one is not.
const SEARCH: Invariants = Invariants {
    description: "the index of words",
    violations: &[
        (
            "SELECT 'document ' || path || ' of ' || root FROM documents WHERE deleted = 0 \
             AND id NOT IN (SELECT document FROM postings) LIMIT 10",
            "cannot be found by its words",
        ),
        (
            "SELECT DISTINCT 'document number ' || p.document FROM postings p WHERE NOT EXISTS (SELECT 1 FROM documents d \
             JOIN workspaces w ON w.root = d.root WHERE d.id = p.document AND d.deleted = 0 AND w.id = p.tree) LIMIT 10",
            "is found, and is not there",
        ),
    ],
};
