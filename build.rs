//! Compiles `proto/` without protoc: Rust types with their descriptors, services, and descriptor sets with comments.
//!
//! One pass for the platform's own package and one for each other folder of `proto/toolwire`, found by looking: a
//! folder more is a package more, and this file stays as it is. The module that includes a package's types declares
//! beside it the static `POOL` of its descriptors.

use std::{
    env,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
};

use protox::prost_reflect::{
    DescriptorPool, FieldDescriptor, MessageDescriptor,
    prost_types::{FileDescriptorSet, field_descriptor_proto::Type},
};

type Done<T = ()> = Result<T, Box<dyn Error>>;

/// Where imports begin.
const ROOT: &str = "proto";
/// The folder of packages, below the root.
const PACKAGES: &str = "toolwire";
/// The platform's own package, and where its types are.
const PLATFORM: (&str, &str) = (".toolwire.v1", "crate::contract::proto::v1");

/// What brings messages into the buffers of streams.
const CODEC: &str = "crate::contract::codec::Codec";

/// Messages and texts that are made once and sent often. In Rust these fields are their bytes, which on the wire is the
/// same.
const ENCODED: [(&str, &str); 5] = [
    ("DescribeForPlannerResponse", "guidance"),
    ("DescribeForPlannerResponse", "tools"),
    ("GetToolResponse", "tool"),
    ("ListToolsResponse", "tool"),
    ("WatchToolsResponse", "tool"),
];

fn main() -> Done {
    // What include_dir! and include_str! embed, the compiler itself watches.
    for path in [ROOT, "migrations"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::metadata=PROTO={}", env::current_dir()?.join(ROOT).display());
    for folder in sorted(&Path::new(ROOT).join(PACKAGES))? {
        compile(&Pass::of(&folder)?)?;
    }
    Ok(())
}

/// What is compiled together.
struct Pass {
    /// The name of its descriptor set, `toolwire` and the name of its domain.
    name: String,
    /// The files, below the root.
    files: Vec<PathBuf>,
    is_platform: bool,
}

impl Pass {
    /// The platform's folder is its version, such as `v1`; the others are domains, with a folder a version.
    fn of(folder: &Path) -> Done<Self> {
        let domain = folder.file_name().and_then(|name| name.to_str()).ok_or("a folder has a name")?;
        let mut files = Vec::new();
        collect(folder, &mut files)?;
        let is_platform = PLATFORM.0.ends_with(&format!(".{domain}"));
        let name = if is_platform { PACKAGES.to_owned() } else { format!("{PACKAGES}.{domain}") };
        Ok(Self { name, files, is_platform })
    }

    fn has(&self, file: &str) -> bool {
        self.files.iter().any(|own| own == Path::new(file))
    }
}

fn compile(pass: &Pass) -> Done {
    let mut compiler = protox::Compiler::new([ROOT])?;
    compiler.include_imports(true).include_source_info(true).open_files(&pass.files)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // The encoded form keeps the options that the typed one does not know.
    fs::write(out.join(format!("{}.binpb", pass.name)), compiler.encode_file_descriptor_set())?;

    let mut config = tonic_prost_build::Config::new();
    let mut set = compiler.file_descriptor_set();
    for file in set.file.iter_mut().filter(|file| !pass.has(file.name())) {
        // The types of what is imported are elsewhere; a service would be written again.
        file.service.clear();
    }
    if pass.is_platform {
        ENCODED.iter().try_for_each(|field| encoded(&mut set, *field))?;
        config.bytes(ENCODED.map(|(message, field)| format!("{}.{message}.{field}", PLATFORM.0)));
    }
    let pool = compiler.descriptor_pool();
    refuse_other_packages(&pool, pass)?;
    let messages = messages(&pool, pass);
    if !pass.is_platform {
        config.extern_path(PLATFORM.0, PLATFORM.1);
    }
    for message in &messages {
        reflect(message, &mut config);
    }
    let redacted: Vec<_> =
        messages.iter().filter(|message| message.fields().any(|it| is_redacted(&it))).collect();
    config.skip_debug(redacted.iter().map(|message| format!(".{}", message.full_name())));
    tonic_prost_build::configure()
        .build_transport(false)
        .codec_path(CODEC)
        .compile_fds_with_config(set, config)?;
    redacted.into_iter().try_for_each(|message| add_debug(message, &out))
}

/// Makes the Rust type of a field of messages bytes.
fn encoded(set: &mut FileDescriptorSet, (message, field): (&str, &str)) -> Done {
    let messages = set.file.iter_mut().flat_map(|file| &mut file.message_type);
    let mut fields = messages.filter(|it| it.name() == message).flat_map(|it| &mut it.field);
    let field = fields.find(|it| it.name() == field).ok_or(format!("{message} has no field {field}"))?;
    field.type_name = None;
    field.set_type(Type::Bytes);
    Ok(())
}

/// A file of another package would be compiled, and then found nowhere.
fn refuse_other_packages(pool: &DescriptorPool, pass: &Pass) -> Done {
    let expected = if pass.is_platform { PLATFORM.0[1..].to_owned() } else { format!("{}.v", pass.name) };
    match pool.files().find(|file| pass.has(file.name()) && !file.package_name().starts_with(&expected)) {
        Some(file) => Err(format!(
            "{ROOT}/{}: its package is {}, but its folder wants one that begins with {expected}",
            file.name(),
            file.package_name()
        )
        .into()),
        None => Ok(()),
    }
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
fn add_debug(message: &MessageDescriptor, out: &Path) -> Done {
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
         crate::contract::redacted::fmt(self, f)\n    }}\n}}\n"
    );
    let path = out.join(format!("{}.rs", message.package_name()));
    Ok(fs::write(&path, fs::read_to_string(&path)? + &code)?)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Done {
    for path in sorted(folder)? {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path.strip_prefix(ROOT)?.to_owned());
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
