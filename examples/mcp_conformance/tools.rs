//! The tools that the suite calls and that Toolwire can have: manifests in `data/conformance/`, executed here.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures_util::future::BoxFuture;
use include_dir::{Dir, include_dir};
use serde_json::{Map, Value, json};

use toolwire::{
    base::files::Embedded,
    contract::{ErrorCode, Payload, Provenance, ToolError, arguments::Arguments},
    server::domain::{Domain, Opened},
    tool::{
        Executor, Reply, Shape,
        context::{Required, Services, ToolContext, Unfinished},
    },
};

static MANIFESTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/conformance");

/// The picture of one pixel, and the sound of no sample.
pub(crate) const PICTURE: &str = concat!(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/",
    "PchI7wAAAABJRU5ErkJggg==",
);
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const NAMES: [&str; 9] = [
    "test_audio_content",
    "test_embedded_resource",
    "test_error_handling",
    "test_image_content",
    "test_logging_tool",
    "test_multiple_content_types",
    "test_simple_text",
    "test_tool_with_progress",
    "test_trigger_tool_change",
];

pub(crate) fn domain() -> Domain {
    Domain {
        tools: NAMES.iter().map(|name| Arc::new(Fixture(name)) as Arc<dyn Executor>).collect(),
        data: Embedded::manifests(&MANIFESTS, NAMES),
        open: Box::new(|opening| {
            let directory = DataDirectory(opening.config.data.dir.clone());
            Ok(Opened { services: Services::default().with(Arc::new(directory)), ..Opened::default() })
        }),
        ..Domain::new("conformance")
    }
}

/// Where the manifests are read from, if not from this program.
struct DataDirectory(Option<PathBuf>);

struct Fixture(&'static str);

impl Executor for Fixture {
    fn name(&self) -> &str {
        self.0
    }

    fn schema(&self) -> Shape {
        // The manifest has the schemas.
        Shape::Json { input: Arc::new(json!({})), output: Arc::new(json!({})) }
    }

    fn services(&self) -> Required {
        Required::none().of::<DataDirectory>()
    }

    fn normalize(&self, _arguments: &mut Arguments, _services: &Services) {}

    fn state<'a>(
        &'a self,
        _arguments: &Arguments,
        _context: &'a ToolContext,
    ) -> Option<BoxFuture<'a, String>> {
        None
    }

    fn execute<'a>(
        &'a self,
        _arguments: Arguments,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Reply<Payload>, Unfinished>> {
        Box::pin(async move {
            let data = Payload::from_json(result(self.0, context).await?);
            Ok(Reply { data, provenance: Provenance::of("tool:conformance:v1", "") })
        })
    }
}

async fn result(tool: &str, context: &ToolContext) -> Result<Value, Unfinished> {
    Ok(match tool {
        "test_audio_content" => json!({"audio": SOUND}),
        "test_embedded_resource" => json!({"resource": "This is an embedded resource content."}),
        "test_error_handling" => {
            let text = "This tool intentionally returns an error for testing";
            return Err(ToolError::new(ErrorCode::Unknown, text).into());
        }
        "test_image_content" => json!({"image": PICTURE}),
        "test_logging_tool" => json!({"text": "Logging tool completed"}),
        "test_multiple_content_types" => {
            let document = r#"{"test":"data","value":123}"#;
            json!({"text": "Multiple content types test:", "image": PICTURE, "resource": document})
        }
        "test_tool_with_progress" => {
            for (fraction, message) in [(0.0, "Starting"), (0.5, "Halfway"), (1.0, "Complete")] {
                context.events.progress(Some(fraction), message);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            json!({"text": "Progress test completed"})
        }
        "test_trigger_tool_change" => {
            let DataDirectory(directory) = &*context.services.get::<DataDirectory>();
            let directory = directory.as_deref().ok_or_else(|| failed(&"needs --data"))?;
            edit(directory).map_err(|error| failed(&error))?;
            json!({"text": "Tool list change triggered"})
        }
        _ => json!({"text": "This is a simple text response for testing."}),
    })
}

fn failed(why: &impl ToString) -> ToolError {
    ToolError::new(ErrorCode::Unavailable, why.to_string())
}

/// Changes what one manifest says, as an operator would; the running server takes it over.
fn edit(data: &Path) -> io::Result<()> {
    let file = data.join("tools/test_simple_text.json");
    let mut manifest: Map<String, Value> = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let version = manifest["version"].as_str() == Some("1.0.0");
    manifest.insert("version".to_owned(), if version { "1.0.1" } else { "1.0.0" }.into());
    // In one step, so that no half of it is read.
    let edited = file.with_extension("edited");
    fs::write(&edited, serde_json::to_string_pretty(&manifest)?)?;
    fs::rename(edited, file)
}
