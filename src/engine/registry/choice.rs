//! Values of parameters that the configuration determines, not the manifest.

use serde_json::Value;

use super::manifest::Manifest;

/// The values that a parameter of a tool accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub tool: &'static str,
    pub parameter: &'static str,
    pub words: Vec<String>,
}

impl Choice {
    /// Sets the `enum` of the parameter. A manifest with an `enum` of its own keeps it.
    pub(super) fn complete(&self, manifest: &mut Manifest) {
        if *manifest.name != *self.tool {
            return;
        }
        for declared in manifest.parameters.iter_mut().filter(|it| it.name == self.parameter) {
            let words = || self.words.iter().map(String::as_str).collect::<Value>();
            declared.keywords.entry("enum").or_insert_with(words);
        }
    }
}
