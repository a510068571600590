-- Refusals of authentication and authorization: a row for those that are alike in all but time, once a minute. Instants are
-- milliseconds since the Unix epoch.
CREATE TABLE refusals (
    sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    count BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    -- Empty where nobody was identified.
    user_id TEXT COLLATE "C" NOT NULL,
    known_by TEXT COLLATE "C" NOT NULL,
    peer TEXT COLLATE "C",
    face TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL
);
CREATE INDEX refusals_by_user ON refusals (user_id, sequence);
