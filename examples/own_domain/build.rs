//! Compiles `proto/` to types with their descriptors, and to a descriptor set with comments.

fn main() -> toolwire_build::Result {
    toolwire_build::compile_domain("proto")
}
