//! Compiles the platform's packages.

fn main() -> toolwire_build::Result {
    toolwire_build::compile_platform("protos")
}
