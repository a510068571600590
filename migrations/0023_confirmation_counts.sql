-- The program counts confirmations and audit records and fills the outbox itself, in the same change, where triggers did.
DROP TRIGGER confirmation_asked;
DROP TRIGGER confirmation_changed;
DROP TRIGGER confirmation_forgotten;
DROP TRIGGER audit_noted;
DROP TRIGGER audit_forgotten;
DROP TRIGGER audit_trimmed;
DROP TRIGGER audit_trimmed_in_all;
DROP TRIGGER outbox_filled;
