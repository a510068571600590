//! The real program from the outside: its commands, its log, its counters, traces and audit, and what it is after a
//! kill.

mod audit_logs;
mod bounds;
mod call_lines;
mod cli;
mod crash;
mod equal_writes;
mod exports;
mod first_impression;
mod followers;
mod generate;
mod identity;
mod jobs;
mod kills;
mod login;
mod metrics;
mod network;
mod operation;
mod reload;
mod replicas;
mod traces;
mod turns;
