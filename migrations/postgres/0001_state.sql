-- The tables of the state, as the steps of SQLite (`../`) leave them, which also say what they are for. Instants
-- are milliseconds since the Unix epoch. `COLLATE "C"` orders texts by their bytes, as SQLite does.

-- Functions of SQLite that statements use.
CREATE FUNCTION instr(text TEXT, part TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT strpos(text, part)::BIGINT $$;
CREATE FUNCTION substr(text TEXT, first BIGINT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.substr(text, first::INTEGER) $$;
CREATE FUNCTION substr(text TEXT, first BIGINT, length BIGINT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT pg_catalog.substr(text, first::INTEGER, length::INTEGER) $$;
CREATE FUNCTION hex(bytes BYTEA) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$ SELECT upper(encode(bytes, 'hex')) $$;
-- The members of an object, or the elements of an array.
CREATE FUNCTION json_each(document TEXT) RETURNS TABLE (key TEXT, value TEXT) LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$ BEGIN
    IF json_typeof(document::JSON) = 'object' THEN
        RETURN QUERY SELECT * FROM json_each_text(document::JSON);
    ELSE
        RETURN QUERY SELECT (number - 1)::TEXT, element
            FROM json_array_elements_text(document::JSON) WITH ORDINALITY AS elements (element, number);
    END IF;
    END $$;

CREATE TABLE idempotency (
    user_id TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    begun_at BIGINT NOT NULL,
    fetched_at BIGINT,
    kept TEXT COLLATE "C",
    data BYTEA,
    bytes BIGINT NOT NULL DEFAULT 0,
    reads BIGINT NOT NULL DEFAULT 0,
    expires_at BIGINT NOT NULL DEFAULT 0,
    state TEXT COLLATE "C" NOT NULL DEFAULT 'started' CHECK (state IN ('asked', 'started')),
    confirmation_id TEXT COLLATE "C",
    call_id TEXT COLLATE "C",
    parent_call_id TEXT COLLATE "C",
    definition_digest BYTEA,
    face TEXT COLLATE "C",
    task_id TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    trace_id TEXT COLLATE "C",
    deadline BIGINT,
    ended_at BIGINT,
    code TEXT COLLATE "C",
    audit BIGINT,
    replica TEXT COLLATE "C",
    PRIMARY KEY (user_id, tool, request_id)
);
CREATE TABLE idempotency_usage (
    user_id TEXT COLLATE "C" PRIMARY KEY,
    records BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);
CREATE TABLE cool_downs (
    source TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    code TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (source, user_id)
);
CREATE TABLE results (
    key BYTEA PRIMARY KEY,
    output_message TEXT COLLATE "C",
    kept TEXT COLLATE "C" NOT NULL,
    data BYTEA NOT NULL,
    bytes BIGINT NOT NULL,
    stored_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE results_usage (
    id BIGINT PRIMARY KEY CHECK (id = 0),
    bytes BIGINT NOT NULL
);
CREATE TABLE probe (
    id BIGINT PRIMARY KEY CHECK (id = 0),
    filler BYTEA NOT NULL
);
CREATE TABLE reservations (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
);
CREATE TABLE hold_offs (
    name TEXT COLLATE "C" PRIMARY KEY,
    reason TEXT COLLATE "C" NOT NULL,
    until BIGINT NOT NULL
);
CREATE TABLE confirmations (
    id TEXT COLLATE "C" PRIMARY KEY,
    state TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    arguments_digest BYTEA NOT NULL,
    definition_digest BYTEA NOT NULL,
    task_id TEXT COLLATE "C",
    outer_call_id TEXT COLLATE "C" NOT NULL,
    outer_request_id TEXT COLLATE "C" NOT NULL,
    shown TEXT COLLATE "C" NOT NULL,
    arguments TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT COLLATE "C",
    decided_via TEXT COLLATE "C",
    on_behalf_of TEXT COLLATE "C",
    reason TEXT COLLATE "C" NOT NULL DEFAULT '',
    used_at BIGINT,
    used_by TEXT COLLATE "C",
    ended_at BIGINT,
    sequence BIGINT NOT NULL,
    bytes BIGINT NOT NULL GENERATED ALWAYS AS (
        1024 + 4 * (length(user_id) + length(tool)) + octet_length(shown) + coalesce(octet_length(arguments), 0)
            + 2 * octet_length(reason) + coalesce(octet_length(on_behalf_of), 0)
    ) STORED,
    position BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE confirmation_events (
    sequence BIGINT PRIMARY KEY,
    confirmation_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    position BIGINT NOT NULL DEFAULT 0,
    written XID8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE TABLE confirmation_usage (
    user_id TEXT COLLATE "C" PRIMARY KEY,
    records BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);
CREATE TABLE audit (
    sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('write', 'decision')),
    at BIGINT NOT NULL,
    ended_at BIGINT,
    user_id TEXT COLLATE "C" NOT NULL,
    known_by TEXT COLLATE "C" NOT NULL,
    peer TEXT COLLATE "C",
    face TEXT COLLATE "C" NOT NULL,
    caller TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    definition_digest BYTEA NOT NULL,
    arguments_digest BYTEA NOT NULL,
    code TEXT COLLATE "C" NOT NULL DEFAULT '',
    call_id TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    confirmation_id TEXT COLLATE "C" NOT NULL,
    approver TEXT COLLATE "C" NOT NULL,
    on_behalf_of TEXT COLLATE "C" NOT NULL DEFAULT '',
    verdict TEXT COLLATE "C" NOT NULL DEFAULT 'allowed'
        CHECK (verdict IN ('allowed', 'approved', 'denied', 'expired', 'withdrawn', 'voided')),
    position BIGINT NOT NULL DEFAULT 0,
    callers_position BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE audit_usage (
    user_id TEXT COLLATE "C" PRIMARY KEY,
    records BIGINT NOT NULL
);
CREATE TABLE webhooks (
    url TEXT COLLATE "C" PRIMARY KEY,
    requested BIGINT NOT NULL,
    decided BIGINT NOT NULL,
    expired BIGINT NOT NULL
);
CREATE TABLE outbox (
    id TEXT COLLATE "C" PRIMARY KEY,
    url TEXT COLLATE "C" NOT NULL,
    event TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE tasks (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    root TEXT COLLATE "C" NOT NULL,
    parent TEXT COLLATE "C",
    user_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    request TEXT COLLATE "C" NOT NULL,
    documents TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    waiting_step BIGINT NOT NULL,
    result TEXT COLLATE "C",
    result_documents TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    cause TEXT COLLATE "C",
    depth BIGINT NOT NULL,
    next BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    tainted BIGINT NOT NULL,
    lease_holder TEXT COLLATE "C" NOT NULL,
    lease_token BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at BIGINT,
    deadline BIGINT NOT NULL,
    labels TEXT COLLATE "C" NOT NULL,
    master TEXT COLLATE "C",
    master_next BIGINT NOT NULL,
    position BIGINT NOT NULL,
    deleted BIGINT NOT NULL DEFAULT 0,
    step BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE entries (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    step BIGINT NOT NULL,
    position BIGINT NOT NULL,
    answers BIGINT,
    request_id TEXT COLLATE "C",
    call_id TEXT COLLATE "C",
    trace_id TEXT COLLATE "C",
    head TEXT COLLATE "C" NOT NULL,
    input TEXT COLLATE "C",
    result TEXT COLLATE "C",
    input_tokens BIGINT,
    result_tokens BIGINT,
    result_first BIGINT,
    result_last BIGINT,
    UNIQUE (task, seq)
);
CREATE TABLE entry_parts (
    task TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    part TEXT COLLATE "C" NOT NULL CHECK (part IN ('input', 'result')),
    text TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (task, seq, part)
);
CREATE TABLE waits (
    task TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    thing TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (task, seq)
);
CREATE TABLE open_calls (
    task TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    call_id TEXT COLLATE "C" NOT NULL,
    trace_id TEXT COLLATE "C",
    tool_type TEXT COLLATE "C" NOT NULL,
    category TEXT COLLATE "C" NOT NULL,
    reads BIGINT NOT NULL,
    step BIGINT NOT NULL,
    position BIGINT NOT NULL,
    tool_call_id TEXT COLLATE "C" NOT NULL,
    input TEXT COLLATE "C" NOT NULL,
    answers BIGINT,
    replica TEXT COLLATE "C" NOT NULL,
    begun_at BIGINT NOT NULL,
    PRIMARY KEY (task, request_id, tool)
);
CREATE TABLE mutations (
    user_id TEXT COLLATE "C" NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    answer BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, method, request_id)
);
CREATE TABLE task_secret (
    id BIGINT PRIMARY KEY CHECK (id = 0),
    secret BYTEA NOT NULL
);
CREATE TABLE workspaces (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    root TEXT COLLATE "C" NOT NULL UNIQUE,
    user_id TEXT COLLATE "C" NOT NULL,
    documents BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE documents (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    root TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    etag TEXT COLLATE "C" NOT NULL,
    previous_etag TEXT COLLATE "C" NOT NULL,
    deleted BIGINT NOT NULL,
    digest BYTEA,
    size BIGINT NOT NULL,
    mime_type TEXT COLLATE "C" NOT NULL,
    tokens BIGINT NOT NULL,
    tokens_estimated BIGINT NOT NULL,
    summary TEXT COLLATE "C" NOT NULL,
    untrusted BIGINT NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    tags TEXT COLLATE "C" NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_by TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (root, path)
);
CREATE TABLE versions (
    document BIGINT NOT NULL REFERENCES documents (id),
    version BIGINT NOT NULL,
    digest BYTEA,
    size BIGINT NOT NULL,
    mime_type TEXT COLLATE "C" NOT NULL,
    tokens BIGINT NOT NULL,
    tokens_estimated BIGINT NOT NULL,
    summary TEXT COLLATE "C" NOT NULL,
    untrusted BIGINT NOT NULL,
    written_by TEXT COLLATE "C" NOT NULL,
    written_at BIGINT NOT NULL,
    why TEXT COLLATE "C" NOT NULL,
    call_id TEXT COLLATE "C" NOT NULL,
    deleted BIGINT NOT NULL,
    PRIMARY KEY (document, version)
);
CREATE TABLE turns (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    turn_id BYTEA NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    answered TEXT COLLATE "C" NOT NULL,
    calls TEXT COLLATE "C" NOT NULL,
    tainted BIGINT NOT NULL,
    reply BYTEA NOT NULL,
    standing TEXT COLLATE "C" NOT NULL,
    UNIQUE (user_id, turn_id)
);
CREATE TABLE memories (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    root TEXT COLLATE "C" NOT NULL,
    task TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    scope TEXT COLLATE "C" NOT NULL CHECK (scope IN ('tree', 'user')),
    untrusted BIGINT NOT NULL
);
CREATE TABLE timeline_usage (
    user_id TEXT COLLATE "C" PRIMARY KEY,
    tasks BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    last BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE jobs (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    job_id BYTEA NOT NULL,
    digest BYTEA NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    percent BIGINT NOT NULL,
    step TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    deadline BIGINT NOT NULL,
    ended_at BIGINT,
    next BIGINT NOT NULL,
    replica TEXT COLLATE "C" NOT NULL,
    error TEXT COLLATE "C" NOT NULL,
    result TEXT COLLATE "C" NOT NULL,
    UNIQUE (user_id, job_id)
);
CREATE TABLE job_events (
    job BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    at BIGINT NOT NULL,
    percent BIGINT NOT NULL,
    step TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    call_id TEXT COLLATE "C" NOT NULL,
    is_last BIGINT NOT NULL,
    PRIMARY KEY (job, sequence)
);
CREATE TABLE cancellations (
    id TEXT COLLATE "C" PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    subject_id TEXT COLLATE "C" NOT NULL,
    replica TEXT COLLATE "C" NOT NULL,
    asked_at BIGINT NOT NULL,
    answers BIGINT NOT NULL DEFAULT 0,
    done BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE confirmation_positions (
    user_id TEXT COLLATE "C" PRIMARY KEY,
    last BIGINT NOT NULL
);
CREATE TABLE postings (
    tree BIGINT NOT NULL,
    block BIGINT NOT NULL,
    document BIGINT NOT NULL,
    stems TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tree, block, document)
);
CREATE TABLE equal_writes (
    user_id TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    arguments_digest BYTEA NOT NULL,
    definition_digest BYTEA NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, tool, arguments_digest, definition_digest, task_id)
);
CREATE TABLE accepted_tools (
    provider TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    accepted_at BIGINT NOT NULL,
    PRIMARY KEY (provider, name)
);
CREATE TABLE kept_results (
    user_id TEXT COLLATE "C" NOT NULL,
    call_id TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    tokens BIGINT NOT NULL,
    provenance TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, call_id)
);
CREATE TABLE kept_results_usage (
    user_id TEXT COLLATE "C" PRIMARY KEY,
    records BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);

CREATE INDEX results_by_age ON results (stored_at);
CREATE INDEX results_by_end ON results (expires_at);
CREATE INDEX idempotency_by_end ON idempotency (expires_at);
CREATE INDEX idempotency_by_user ON idempotency (user_id, reads, expires_at);
CREATE INDEX reservations_by_source ON reservations (source, at);
CREATE INDEX confirmations_by_call ON confirmations (user_id, tool, request_id);
CREATE INDEX confirmations_by_binding ON confirmations (user_id, tool, arguments_digest);
CREATE INDEX confirmations_open ON confirmations (expires_at) WHERE state IN ('pending', 'approved');
CREATE INDEX confirmations_by_change ON confirmations (sequence);
CREATE INDEX confirmations_by_end ON confirmations (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX confirmation_events_by_age ON confirmation_events (at);
CREATE INDEX confirmations_with_arguments ON confirmations (ended_at)
    WHERE ended_at IS NOT NULL AND arguments IS NOT NULL;
CREATE INDEX confirmations_of_user_with_arguments ON confirmations (user_id, ended_at)
    WHERE ended_at IS NOT NULL AND arguments IS NOT NULL;
CREATE INDEX audit_by_call ON audit (call_id);
CREATE INDEX idempotency_by_call ON idempotency (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX idempotency_of_user_by_call ON idempotency (user_id, call_id) WHERE call_id IS NOT NULL;
CREATE INDEX outbox_by_due ON outbox (url, due_at);
CREATE INDEX tasks_by_root ON tasks (root);
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_change ON tasks (user_id, position);
CREATE INDEX tasks_open_trees ON tasks (user_id) WHERE parent IS NULL AND ended_at IS NULL;
CREATE INDEX tasks_by_deadline ON tasks (deadline) WHERE ended_at IS NULL;
CREATE INDEX tasks_ended_trees ON tasks (ended_at) WHERE parent IS NULL AND ended_at IS NOT NULL;
CREATE INDEX tasks_for_workers ON tasks (user_id, role, position) WHERE state IN ('pending', 'running');
CREATE INDEX tasks_deleted ON tasks (root) WHERE deleted = 1;
CREATE UNIQUE INDEX entries_answer_once ON entries (task, answers) WHERE answers IS NOT NULL;
CREATE INDEX entries_by_request ON entries (task, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX waits_by_thing ON waits (kind, thing);
CREATE INDEX open_calls_by_replica ON open_calls (replica);
CREATE INDEX mutations_by_end ON mutations (expires_at);
CREATE INDEX confirmations_of_tasks ON confirmations (task_id)
    WHERE state IN ('pending', 'approved') AND task_id IS NOT NULL;
CREATE INDEX workspaces_by_user ON workspaces (user_id, bytes);
CREATE INDEX turns_of_session ON turns (user_id, session_id, position);
CREATE INDEX turns_of_user ON turns (user_id, position);
CREATE INDEX turns_by_age ON turns (ended_at);
CREATE INDEX memories_of_trees ON memories (root, scope, id);
CREATE INDEX memories_of_users ON memories (user_id, id) WHERE scope = 'user';
CREATE INDEX confirmations_approved ON confirmations (task_id) WHERE state = 'approved';
CREATE UNIQUE INDEX jobs_running ON jobs (user_id) WHERE state = 'running';
CREATE INDEX jobs_of_user ON jobs (user_id, position);
CREATE INDEX jobs_by_age ON jobs (ended_at);
CREATE INDEX cancellations_by_age ON cancellations (asked_at);
CREATE INDEX confirmations_of_user_by_change ON confirmations (user_id, position);
CREATE INDEX confirmation_events_of_user ON confirmation_events (user_id, position);
CREATE INDEX audit_by_user ON audit (user_id, position);
CREATE INDEX audit_by_caller ON audit (caller, callers_position) WHERE caller <> user_id;
CREATE INDEX confirmations_pending ON confirmations (user_id, outer_request_id, position) WHERE state = 'pending';
CREATE INDEX equal_writes_by_end ON equal_writes (expires_at);
CREATE INDEX confirmations_by_outer_call ON confirmations (outer_call_id);
CREATE INDEX kept_results_by_end ON kept_results (expires_at);
CREATE INDEX kept_results_by_user ON kept_results (user_id, expires_at);

-- Large blobs are in chunks of 256 KiB. A blob without an upload is in its row. An upload of no
-- blob is abandoned.
CREATE TABLE blob_uploads (
    upload   TEXT COLLATE "C" PRIMARY KEY,
    begun_at BIGINT NOT NULL
);
CREATE TABLE blob_chunks (
    upload TEXT COLLATE "C" NOT NULL REFERENCES blob_uploads ON DELETE CASCADE,
    number BIGINT NOT NULL,
    bytes  BYTEA NOT NULL,
    PRIMARY KEY (upload, number)
);
CREATE TABLE blobs (
    digest     BYTEA PRIMARY KEY,
    size       BIGINT NOT NULL,
    bytes      BYTEA,
    upload     TEXT COLLATE "C" REFERENCES blob_uploads,
    uses       BIGINT NOT NULL,
    touched_at BIGINT NOT NULL
);
CREATE INDEX blobs_unused ON blobs (touched_at) WHERE uses = 0;
CREATE INDEX blobs_by_upload ON blobs (upload) WHERE upload IS NOT NULL;
CREATE INDEX blob_uploads_by_age ON blob_uploads (begun_at);

-- The turn that has a session, and the process that runs it.
CREATE TABLE held_sessions (
    user_id    TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    turn_id    TEXT COLLATE "C" NOT NULL,
    replica    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, session_id)
);

-- Positions among the changes of all users. A counter in a row would let one user's transaction wait for another's.
CREATE SEQUENCE confirmation_change;

-- Totals over all users, for the same reason no rows either: the counts of users are summed up.
CREATE VIEW idempotency_total AS SELECT coalesce(sum(bytes), 0)::BIGINT AS bytes FROM idempotency_usage;
CREATE VIEW confirmation_total AS SELECT coalesce(sum(bytes), 0)::BIGINT AS bytes FROM confirmation_usage;
CREATE VIEW kept_results_total AS SELECT coalesce(sum(bytes), 0)::BIGINT AS bytes FROM kept_results_usage;
CREATE VIEW audit_total AS SELECT coalesce(sum(records), 0)::BIGINT AS records FROM audit_usage;

INSERT INTO results_usage (id, bytes) VALUES (0, 0);
INSERT INTO probe (id, filler) VALUES (0, '');
INSERT INTO task_secret (id, secret)
    VALUES (0, decode(replace(gen_random_uuid()::TEXT || gen_random_uuid()::TEXT, '-', ''), 'hex'));
