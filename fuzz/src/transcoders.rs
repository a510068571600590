//! The compiled forms of messages against the walk over their descriptors: the first line names a message, the rest is
//! one of it, encoded, or the JSON of arguments for it.
//!
//! Whatever the compiled form says, the walk says the same. What it leaves to the walk is not looked at.

use std::sync::{Arc, LazyLock};

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use serde_json::Value;
use toolwire::contract::{
    Payload,
    arguments::Arguments,
    payload::to_arguments,
    transcode::{Encoder, Omitted, Renderer},
};

use super::arguments::tools;

/// Fields of messages that are left out where they are absent.
const OMITTED: [&str; 4] = ["maker", "parts.count", "part.inner.share", "made"];

/// A message type and its compiled forms.
struct Compiled {
    message: MessageDescriptor,
    renderer: Arc<Renderer>,
    encoder: Encoder,
}

static MESSAGES: LazyLock<Vec<(String, Compiled)>> = LazyLock::new(|| {
    let executors = tools().iter().filter_map(|(_, tool)| tool.executor.as_ref());
    let messages = executors.filter_map(|executor| executor.schema().messages());
    let of_tools = messages.flat_map(|(input, output)| [input, output]);
    let toys = toys();
    let of_toys = ["Toy", "Asked", "Part", "Odd"]
        .map(|name| toys.get_message_by_name(&format!("toys.v1.{name}")).expect("toys.proto has it"));
    of_tools.chain(of_toys).map(|message| (message.full_name().to_owned(), Compiled::of(message))).collect()
});

impl Compiled {
    fn of(message: MessageDescriptor) -> Self {
        let renderer = Arc::new(Renderer::new(&message, Omitted::from(OMITTED.map(str::to_owned))));
        Self { renderer, encoder: Encoder::new(&message), message }
    }
}

struct Own;

impl FileResolver for Own {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match name {
            "toys.proto" => File::from_source(name, include_str!("toys.proto")),
            _ => Err(protox::Error::file_not_found(name)),
        }
    }
}

fn toys() -> DescriptorPool {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Own);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = protox::Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_file("toys.proto").expect("it compiles");
    DescriptorPool::decode(compiler.encode_file_descriptor_set().as_slice()).expect("protox wrote it")
}

/// Renders a message, and encodes the arguments that it stands for; or encodes arguments.
pub fn run(input: &[u8]) {
    let (compiled, bytes) = super::choice(input, &MESSAGES);
    // No message begins so: it would be a group.
    if bytes.starts_with(b"{") {
        if let Ok(arguments) = serde_json::from_slice(bytes) {
            assert_encoded_alike(&compiled.message, &compiled.encoder, &arguments);
        }
        return;
    }
    let text = compiled.renderer.text(&compiled.message, bytes);
    let Ok(message) = DynamicMessage::decode(compiled.message.clone(), bytes) else { return };
    if let Some(text) = text {
        let payload = Payload::from_bytes(bytes.to_vec(), compiled.message.clone());
        let walked = payload.with_renderer(&compiled.renderer).json().to_string();
        assert_eq!(parsed(&text), parsed(&walked));
        // But for maps, whose order nobody knows, the text is the same to the byte.
        let has_map = message.fields().any(|(field, _)| field.is_map());
        assert!(has_map || text == walked, "{text}\n{walked}");
    }
    assert_encoded_alike(&compiled.message, &compiled.encoder, &to_arguments(&message));
}

/// If the encoder takes arguments, the walk does so too, to the same message.
fn assert_encoded_alike(message: &MessageDescriptor, encoder: &Encoder, arguments: &Arguments) {
    let Some(bytes) = encoder.bytes(arguments) else { return };
    let compiled = DynamicMessage::decode(message.clone(), bytes.as_slice()).expect("a message");
    let walked = DynamicMessage::deserialize(message.clone(), Value::Object(arguments.clone()));
    let walked = walked.expect("what the encoder takes, the walk takes");
    assert_eq!(compiled.encode_to_vec(), walked.encode_to_vec());
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}
