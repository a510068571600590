//! Compiles `proto/` without protoc: Rust types, services, and the descriptor set with its comments.

use std::{env, error::Error, fs, path::PathBuf};

const PROTOS: &[&str] = &[
    "toolwire/v1/tool_service.proto",
    "toolwire/brokerage/v1/brokerage_service.proto",
    "toolwire/diagnostics/v1/diagnostics.proto",
    "toolwire/research/v1/research_service.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    println!("cargo::rerun-if-changed=data");

    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_imports(true).include_source_info(true).open_files(PROTOS)?;

    let out_dir = PathBuf::from(env::var("OUT_DIR")?);
    // The encoded form keeps custom options, which `file_descriptor_set()` drops.
    fs::write(out_dir.join("toolwire.binpb"), compiler.encode_file_descriptor_set())?;

    let mut config = tonic_prost_build::Config::new();
    config.enable_type_names();
    // Holds a password: shown by hand, in `contract::proto`.
    config.skip_debug(["toolwire.research.v1.SetScreenerCredentialsRequest"]);
    tonic_prost_build::configure()
        .build_transport(false)
        .compile_fds_with_config(compiler.file_descriptor_set(), config)?;
    Ok(())
}
