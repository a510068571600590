-- What triggers did as calls and results come and go, the program does in the same change: it counts them, and completes
-- the audit record of a call that ends. A program of before would leave both undone, and may not run beside this step.
DROP TRIGGER idempotency_begun;
DROP TRIGGER idempotency_ended;
DROP TRIGGER idempotency_forgotten;
DROP TRIGGER idempotency_begun_earlier;
DROP TRIGGER idempotency_total_begun;
DROP TRIGGER idempotency_total_ended;
DROP TRIGGER idempotency_total_forgotten;
DROP TRIGGER audit_completed;
DROP TRIGGER results_stored;
DROP TRIGGER results_swept;

-- The confirmation that a part of a call waits for is found by the call, the newest first.
DROP INDEX confirmations_pending;
CREATE INDEX confirmations_pending ON confirmations (user_id, outer_request_id, position) WHERE state = 'pending';
