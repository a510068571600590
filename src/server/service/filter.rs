//! Criteria of a search for tools.

use toolwire_engine::registry::{Category, Definition, ToolType};

/// Criteria of a search for tools. The default matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those that have all of these tags.
    pub tags: Vec<String>,
    /// Those of this category.
    pub category: Option<Category>,
    /// Those that are carried out in this way.
    pub kind: Option<ToolType>,
    /// Those whose name, title, description, tags or utterances have every one of these words, which are in lower case.
    pub words: Vec<String>,
}

impl Filter {
    /// Those that have all of the given tags.
    pub fn with_tags(tags: Vec<String>) -> Self {
        Self { tags, ..Self::default() }
    }

    /// The same, of those tools only that have every word of a text, whatever its case.
    #[must_use]
    pub fn with_words(self, text: &str) -> Self {
        Self { words: text.split_whitespace().map(str::to_lowercase).collect(), ..self }
    }

    /// Whether a tool is looked for.
    pub(super) fn passes(&self, definition: &Definition) -> bool {
        self.tags.iter().all(|tag| definition.tags.contains(tag))
            && self.category.is_none_or(|category| category == definition.category)
            && self.kind.is_none_or(|kind| kind == definition.kind)
            && self.words.iter().all(|word| definition.mentions(word))
    }
}
