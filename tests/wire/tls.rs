//! TLS on the wire: what the server speaks, what the command line says of it, and how a certificate is replaced.

mod collector;
mod command_line;
mod server;
