//! Which tools somebody looks for.

use crate::registry::{Category, Definition, ToolType};

/// Which tools somebody looks for. The default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those that have all of these tags.
    pub tags: Vec<String>,
    /// Those of this category.
    pub category: Option<Category>,
    /// Those that are carried out in this way.
    pub kind: Option<ToolType>,
    /// Those whose name, title, description, tags or utterances have every word of this text, whatever its case.
    pub text: String,
}

impl Filter {
    /// Those that have all of the given tags.
    pub fn tagged(tags: Vec<String>) -> Self {
        Self { tags, ..Self::default() }
    }

    /// Whether a tool is looked for.
    pub(super) fn passes(&self, definition: &Definition) -> bool {
        self.tags.iter().all(|tag| definition.tags.contains(tag))
            && self.category.is_none_or(|category| category == definition.category)
            && self.kind.is_none_or(|kind| kind == definition.kind)
            && (self.text.is_empty() || mentions(definition, &self.text))
    }
}

fn mentions(definition: &Definition, query: &str) -> bool {
    let Definition { name, title, description, tags, utterances, .. } = definition;
    let text = format!("{name}\n{title}\n{description}\n{}\n{}", tags.join("\n"), utterances.join("\n"));
    let text = text.to_lowercase();
    query.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
}
