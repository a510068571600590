//! Compiles `proto/` to types with their descriptors, and to a descriptor set with comments.

use std::{env, error::Error, fs, path::PathBuf};

/// The package, and a file that imports all its others.
const PACKAGE: &str = "acme.parking.v1";
const FILE: &str = "acme/parking/v1/parking.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    // Where Toolwire's own contract is: its build script says so to those who depend on it.
    let toolwire = env::var("DEP_TOOLWIRE_PROTO")?;
    let mut compiler = protox::Compiler::new(["proto", &toolwire])?;
    compiler.include_imports(true).include_source_info(true).open_file(FILE)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("acme.parking.binpb"), compiler.encode_file_descriptor_set())?;

    let mut config = tonic_prost_build::Config::new();
    config.extern_path(".toolwire.v1", "::toolwire::contract::proto::v1");
    for message in compiler.descriptor_pool().all_messages().filter(|it| it.package_name() == PACKAGE) {
        let name = message.full_name();
        config.message_attribute(name, "#[derive(::prost_reflect::ReflectMessage)]");
        let reflect =
            format!(r#"#[prost_reflect(descriptor_pool = "super::POOL", message_name = "{name}")]"#);
        config.message_attribute(name, reflect);
    }
    let mut set = compiler.file_descriptor_set();
    for file in set.file.iter_mut().filter(|file| file.package() != PACKAGE) {
        file.service.clear();
    }
    tonic_prost_build::configure().build_transport(false).compile_fds_with_config(set, config)?;
    Ok(())
}
