//! The bundled domains: their sources and tools against the specifications, over embedded data or a stub.

mod answers;
mod brokerage;
mod columns;
mod embedded;
mod orchestration;
mod research;
