//! For build scripts: compiles `.proto` files without protoc, to Rust types with their descriptors, to services, and to
//! descriptor sets with comments.
//!
//! Internal to Toolwire, but for [`compile_domain`], which the build script of a team's own domain calls too. The
//! module that includes a package's types declares beside it the static `POOL` of its descriptors.

#![allow(clippy::print_stdout, reason = "build scripts talk to cargo on standard output")]

mod lean;

use std::{
    collections::BTreeSet,
    env,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
};

use protox::prost_reflect::{
    DescriptorPool, FieldDescriptor, MessageDescriptor,
    prost_types::{FileDescriptorSet, field_descriptor_proto::Type},
};

/// A result whose error cargo prints.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The platform's own package, which those of the agent, of tasks, of workspaces and of domains import.
const PLATFORM: &str = "toolwire.v1";

/// Messages and texts that are made once and sent often, and messages whose number is checked before they are decoded.
/// In Rust these fields of a package's messages are their bytes, which on the wire is the same.
const ENCODED: [(&str, &str, &str); 6] = [
    (PLATFORM, "DescribeForPlannerResponse", "guidance"),
    (PLATFORM, "DescribeForPlannerResponse", "tools"),
    (PLATFORM, "GetToolResponse", "tool"),
    (PLATFORM, "ListToolsResponse", "tool"),
    (PLATFORM, "WatchToolsResponse", "tool"),
    ("toolwire.host.v1", "Hello", "offers"),
];

/// Messages that are another one under a second name: they have the same fields under the same numbers. The module of
/// the contract's types declares the name.
const SAME: [(&str, &str, &str); 1] = [(PLATFORM, "CallToolRequest", "InvokeToolRequest")];

/// Compiles the platform's packages, each folder below `root/toolwire` by itself, and tells dependents where they are
/// (`DEP_TOOLWIRE_CONTRACT_PROTO`). For `toolwire-contract` alone.
pub fn compile_platform(root: &str) -> Result {
    println!("cargo::rerun-if-changed={root}");
    println!("cargo::metadata=PROTO={}", env::current_dir()?.join(root).display());
    for folder in sorted(&Path::new(root).join("toolwire"))? {
        compile(&Pass { contract: "crate", roots: vec![root.into()], files: files(root, &folder)? })?;
    }
    Ok(())
}

/// Compiles the `.proto` files below a folder of the crate, which may import `toolwire/v1/*.proto`. They belong to one
/// package, `acme.parking.v1` for example, whose descriptor set is `$OUT_DIR/acme.parking.binpb`.
///
/// The crate depends on `toolwire`, or, within Toolwire, on `toolwire-contract`.
///
/// ```no_run
/// fn main() -> toolwire_build::Result {
///     toolwire_build::compile_domain("proto")
/// }
/// ```
pub fn compile_domain(root: &str) -> Result {
    println!("cargo::rerun-if-changed={root}");
    let (contract, imported) = match (env::var("DEP_TOOLWIRE_PROTO"), env::var("DEP_TOOLWIRE_CONTRACT_PROTO"))
    {
        (Ok(imported), _) => ("::toolwire::contract", imported),
        (_, Ok(imported)) => ("::toolwire_contract", imported),
        _ => return Err("the crate must depend on toolwire, whose contract its messages import".into()),
    };
    let files = files(root, Path::new(root))?;
    compile(&Pass { contract, roots: vec![root.into(), imported.into()], files })
}

/// What is compiled together.
struct Pass {
    /// The Rust path of the contract.
    contract: &'static str,
    /// Where imports begin.
    roots: Vec<PathBuf>,
    /// The files, below the first root.
    files: Vec<PathBuf>,
}

impl Pass {
    fn has(&self, file: &str) -> bool {
        self.files.iter().any(|own| own == Path::new(file))
    }

    /// The one package of the files.
    fn package(&self, pool: &DescriptorPool) -> Result<String> {
        let own = pool.files().filter(|file| self.has(file.name()));
        let packages: BTreeSet<_> = own.map(|file| file.package_name().to_owned()).collect();
        match packages.first() {
            Some(package) if packages.len() == 1 => Ok(package.clone()),
            _ => Err(format!(
                "files of one package are expected below {}, found {packages:?}",
                self.roots[0].display()
            )
            .into()),
        }
    }
}

fn compile(pass: &Pass) -> Result {
    let mut compiler = protox::Compiler::new(&pass.roots)?;
    compiler.include_imports(true).include_source_info(true).open_files(&pass.files)?;
    let pool = compiler.descriptor_pool();
    let package = pass.package(&pool)?;
    let (name, _version) =
        package.rsplit_once('.').ok_or("a package ends with its version, such as `.v1`")?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // The encoded form keeps the options that the typed one does not know.
    let set = lean::lean(&compiler.encode_file_descriptor_set())?;
    fs::write(out.join(format!("{name}.binpb")), set)?;

    let mut config = tonic_prost_build::Config::new();
    let mut set = compiler.file_descriptor_set();
    for file in set.file.iter_mut().filter(|file| !pass.has(file.name())) {
        // The types of what is imported are elsewhere; a service would be written again.
        file.service.clear();
    }
    let fields: Vec<_> = ENCODED.into_iter().filter(|(of, ..)| *of == package).collect();
    config.bytes(fields.iter().map(|(of, message, field)| format!(".{of}.{message}.{field}")));
    for (_, message, field) in fields {
        encoded(&mut set, message, field)?;
    }
    if package != PLATFORM {
        config.extern_path(format!(".{PLATFORM}"), format!("{}::proto::v1", pass.contract));
    }
    for (_, second, first) in SAME.into_iter().filter(|(of, ..)| *of == package) {
        check_same(&pool, &package, second, first)?;
        config.extern_path(format!(".{package}.{second}"), format!("{}::proto::v1::{first}", pass.contract));
    }
    let messages = messages(&pool, pass);
    for message in &messages {
        reflect(message, &mut config);
    }
    let redacted: Vec<_> =
        messages.iter().filter(|message| message.fields().any(|it| is_redacted(&it))).collect();
    config.skip_debug(redacted.iter().map(|message| format!(".{}", message.full_name())));
    tonic_prost_build::configure()
        .build_transport(false)
        // What brings messages into the buffers of streams.
        .codec_path(format!("{}::codec::Codec", pass.contract))
        .compile_fds_with_config(set, config)?;
    redacted.into_iter().try_for_each(|message| add_debug(message, pass.contract, &out))
}

/// Makes the Rust type of a field of messages bytes.
fn encoded(set: &mut FileDescriptorSet, message: &str, field: &str) -> Result {
    let messages = set.file.iter_mut().flat_map(|file| &mut file.message_type);
    let mut fields = messages.filter(|it| it.name() == message).flat_map(|it| &mut it.field);
    let field = fields.find(|it| it.name() == field).ok_or(format!("{message} has no field {field}"))?;
    field.type_name = None;
    field.set_type(Type::Bytes);
    Ok(())
}

/// Refuses two messages whose fields differ in more than their comments.
fn check_same(pool: &DescriptorPool, package: &str, second: &str, first: &str) -> Result {
    let fields = |name: &str| -> Result<_> {
        let message = pool.get_message_by_name(&format!("{package}.{name}"));
        let message = message.ok_or(format!("{package} has no message {name}"))?.descriptor_proto().clone();
        Ok((message.field, message.oneof_decl, message.nested_type))
    };
    if fields(second)? == fields(first)? {
        return Ok(());
    }
    Err(format!("{second} and {first} are one type in Rust: give both the same fields").into())
}

/// The messages that are types of their own.
fn messages(pool: &DescriptorPool, pass: &Pass) -> Vec<MessageDescriptor> {
    let is_own = |message: &MessageDescriptor| pass.has(message.parent_file().name());
    pool.all_messages().filter(|message| is_own(message) && !message.is_map_entry()).collect()
}

/// Ties a message to its descriptor, in the pool beside the module of its package.
fn reflect(message: &MessageDescriptor, config: &mut tonic_prost_build::Config) {
    let mut pool = "super::POOL".to_owned();
    let mut parent = message.parent_message();
    while let Some(outer) = parent {
        pool.insert_str(0, "super::");
        parent = outer.parent_message();
    }
    let name = message.full_name();
    config.message_attribute(name, "#[derive(::prost_reflect::ReflectMessage)]");
    config.message_attribute(
        name,
        format!(r#"#[prost_reflect(descriptor_pool = "{pool}", message_name = "{name}")]"#),
    );
}

/// Whether the proto says `[debug_redact = true]`.
fn is_redacted(field: &FieldDescriptor) -> bool {
    field.options().get_field_by_name("debug_redact").and_then(|value| value.as_bool()).unwrap_or(false)
}

/// Shows a message that holds secrets without them.
fn add_debug(message: &MessageDescriptor, contract: &str, out: &Path) -> Result {
    let name = message.name();
    if message.parent_message().is_some() || message.oneofs().any(|oneof| !oneof.is_synthetic()) {
        return Err(format!(
            "{}: debug_redact is for messages at the top, without oneofs",
            message.full_name()
        )
        .into());
    }
    let code = format!(
        "impl ::core::fmt::Debug for {name} {{\n    \
         fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {{\n        \
         {contract}::redaction::fmt(self, f)\n    }}\n}}\n"
    );
    let path = out.join(format!("{}.rs", message.package_name()));
    Ok(fs::write(&path, fs::read_to_string(&path)? + &code)?)
}

/// The `.proto` files below a folder, as paths below the root.
fn files(root: &str, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(Path::new(root), folder, &mut files)?;
    Ok(files)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result {
    for path in sorted(folder)? {
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path.strip_prefix(root)?.to_owned());
        }
    }
    Ok(())
}

/// What is in a folder, in an order that is the same everywhere.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use protox::prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};

    use super::*;

    #[test]
    fn messages_that_are_one_type_have_the_same_fields() {
        let message = |name: &str, field: &str, number| DescriptorProto {
            name: Some(name.to_owned()),
            field: vec![FieldDescriptorProto {
                name: Some(field.to_owned()),
                number: Some(number),
                r#type: Some(Type::String.into()),
                ..FieldDescriptorProto::default()
            }],
            ..DescriptorProto::default()
        };
        let file = FileDescriptorProto {
            name: Some("toys.proto".to_owned()),
            package: Some("toys".to_owned()),
            message_type: vec![
                message("One", "a", 1),
                message("Same", "a", 1),
                message("Renamed", "b", 1),
                message("Renumbered", "a", 2),
            ],
            ..FileDescriptorProto::default()
        };
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_proto(file).unwrap();
        assert!(check_same(&pool, "toys", "Same", "One").is_ok());
        for other in ["Renamed", "Renumbered", "Missing"] {
            assert!(check_same(&pool, "toys", other, "One").is_err(), "{other}");
        }
    }
}
