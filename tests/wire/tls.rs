//! TLS on the wire: what the server speaks, what the command line says of it, how a certificate is replaced, and who
//! clients are by certificates of their own.

mod collector;
mod command_line;
mod server;
mod workloads;
