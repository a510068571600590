//! What a parameter may be where the configuration says so, and not the manifest.

use serde_json::Value;

use super::manifest::Manifest;

/// The words that a parameter of a tool may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub tool: &'static str,
    pub parameter: &'static str,
    pub words: Vec<String>,
}

impl Choice {
    /// Makes the words the `enum` of the parameter. A manifest that has one offers what it says and no more.
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
