//! Compiles the domain's package.

fn main() -> toolwire_build::Result {
    toolwire_build::compile_domain("protos")
}
