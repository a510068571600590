//! Compiles the messages of the contract that requests are made of.

use std::error::Error;

const ROOT: &str = "protos";
const FILE: &str = "toolwire/v1/tool_service.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}/toolwire/v1");
    let mut compiler = protox::Compiler::new([ROOT])?;
    compiler.include_imports(true).open_file(FILE)?;
    let mut set = compiler.file_descriptor_set();
    for file in &mut set.file {
        file.service.clear();
    }
    tonic_prost_build::configure().build_transport(false).compile_fds(set)?;
    Ok(())
}
