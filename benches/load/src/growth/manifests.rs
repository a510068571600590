//! As many manifests as are wanted: one tool that is called, and others that are only described.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::Result;

/// The tool that is called.
const CALLED: &str = "get_quotes";

/// Copies data and makes the manifests of so many tools.
pub fn write(base: &Path, to: &Path, count: usize) -> Result<()> {
    copy(base, to)?;
    fs::remove_dir_all(to.join("tools"))?;
    make(base, &to.join("tools"), count, "1.0.0")
}

/// Makes the manifests of so many tools in a directory.
pub fn make(base: &Path, to: &Path, count: usize, version: &str) -> Result<()> {
    let file = format!("{CALLED}.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(base.join("tools").join(&file))?)?;
    fs::create_dir_all(to)?;
    manifest["version"] = json!(version);
    fs::write(to.join(file), manifest.to_string())?;
    // Two tools may not have the same intents; and what is not executed has no source.
    let keys = manifest.as_object_mut().ok_or("no object")?;
    keys.retain(|key, _| !matches!(key.as_str(), "intents" | "source"));
    manifest["type"] = json!("non_function_tool");
    for number in 1..count {
        let name = format!("made_{number:05}");
        manifest["name"] = json!(name);
        manifest["title"] = json!(format!("Made {number}"));
        fs::write(to.join(name + ".json"), manifest.to_string())?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&from, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
