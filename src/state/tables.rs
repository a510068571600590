//! The tables of the platform, and their migrations.

use toolwire_db::Migrations;

/// The tables of the platform. Its first migration also creates tables that domains have adopted since.
const PLATFORM: &[&str] = &[
    "cool_downs",
    "idempotency",
    "idempotency_usage",
    "idempotency_total",
    "results",
    "results_usage",
    "probe",
    "reservations",
    "hold_offs",
    "confirmations",
    "confirmation_events",
    "confirmation_sequence",
    "confirmation_positions",
    "definitions",
    "tasks",
    "entries",
    "entry_parts",
    "waits",
    "open_calls",
    "mutations",
    "confirmation_usage",
    "confirmation_total",
    "webhooks",
    "outbox",
    "audit",
    "audit_usage",
    "audit_total",
    "blobs",
    "workspaces",
    "documents",
    "versions",
    "postings",
    "turns",
    "memories",
    "jobs",
    "job_events",
    "timeline_usage",
    "cancellations",
    "accepted_tools",
    "kept_results",
    "kept_results_usage",
    "kept_results_total",
    "recordings",
    "equal_writes",
    "refusals",
    "blob_uploads",
    "blob_chunks",
    "held_sessions",
];

/// Their migrations, for either database.
pub(crate) fn of_platform() -> Migrations {
    Migrations::of_platform(PLATFORM, sqlx::migrate!("./migrations"), sqlx::migrate!("./migrations/postgres"))
}
