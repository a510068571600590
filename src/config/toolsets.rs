//! Toolsets: parts of the tools under a name, `[toolsets.NAME]`, to which a request narrows what it lists and calls.
//! They are set in the file only.
//!
//! Not here: rights, which a toolset does not give.

use std::{collections::BTreeMap, sync::Arc};

use super::{ToolPattern, differences::differences, fields::Fields, reader::Reader, value::Value};
use toolwire_tool::context::ToolsetName;

/// The toolsets, in order of name. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolsets(Arc<[Toolset]>);

/// A part of the tools: `[toolsets.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolset {
    pub name: ToolsetName,
    /// What people call it. Default none.
    pub title: Option<String>,
    /// Instructions to a model, before the guidance on its tools. Default none.
    pub instructions: Option<String>,
    /// Its tools, by names or patterns. Default none; `tools` or `tags` is required.
    pub tools: Vec<ToolPattern>,
    /// Every tool that has one of these tags is its too. Default none.
    pub tags: Vec<String>,
}

impl Toolsets {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let mut toolsets = Vec::new();
        for (name, mut entry) in reader.tables("toolsets") {
            let toolset = Toolset::read(&name, &mut entry);
            if reader.end(entry)
                && let Some(toolset) = toolset
            {
                reader.show_entry(&format!("[toolsets.{name}]"), &toolset.to_pairs());
                toolsets.push(toolset);
            }
        }
        Self(toolsets.into())
    }

    pub fn get(&self, name: &ToolsetName) -> Option<&Toolset> {
        self.0.iter().find(|toolset| toolset.name == *name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Toolset> {
        self.0.iter()
    }

    /// What these are that `before` were not, and the reverse, in words.
    pub fn changes_since(&self, before: &Self) -> Vec<String> {
        let by_name = |toolsets: &Self| -> BTreeMap<_, _> {
            toolsets.iter().map(|it| (it.name.to_string(), it.clone())).collect()
        };
        differences("toolset", &by_name(self), &by_name(before))
    }
}

impl Toolset {
    fn read(name: &str, entry: &mut Fields) -> Option<Self> {
        let name = name.parse::<ToolsetName>().map_err(|error| entry.problem(format!("{error}"))).ok();
        let (title, instructions) = (entry.optional("title"), entry.optional("instructions"));
        let (tools, tags) = (entry.optional("tools"), entry.optional("tags"));
        let (tools, tags): (Vec<_>, Vec<_>) = (tools.unwrap_or_default(), tags.unwrap_or_default());
        if tools.is_empty() && tags.is_empty() && entry.is_fine() {
            entry.problem("tools or tags must name at least one, such as tools = [\"shop_*\"]");
        }
        Some(Self { name: name?, title, instructions, tools, tags })
    }

    /// Whether a tool of this name and with these tags is one of the toolset's.
    pub fn has(&self, tool: &str, tags: &[String]) -> bool {
        self.tools.iter().any(|pattern| pattern.matches(tool))
            || self.tags.iter().any(|tag| tags.contains(tag))
    }

    fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let texts = [("title", &self.title), ("instructions", &self.instructions)];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?.to_toml())));
        texts.chain([("tools", self.tools.to_toml()), ("tags", self.tags.to_toml())]).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Flags, Loaded, testing::load_text};

    fn of(text: &str) -> Result<Loaded, String> {
        load_text(text, &[], Flags::default(), &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_toolset_has_the_tools_that_it_names_and_those_with_its_tags() {
        let text = "[toolsets.shop]\ntools = ['shop_*', 'refund']\ntags = ['orders']\ntitle = 'Shop'\n\
                    instructions = 'Be kind.'\n[toolsets.a-1]\ntags = ['x']\n";
        let loaded = of(text).unwrap();
        let toolsets = &loaded.config.toolsets;
        let get = |name: &str| toolsets.get(&name.parse().unwrap());
        let shop = get("shop").unwrap();
        let orders = ["orders".to_owned(), "other".to_owned()];
        assert!(shop.has("shop_list", &[]) && shop.has("refund", &[]) && shop.has("track", &orders));
        assert!(!shop.has("refund_all", &[]) && !shop.has("track", &orders[1..]));
        assert_eq!((shop.title.as_deref(), shop.instructions.as_deref()), (Some("Shop"), Some("Be kind.")));
        assert!(get("a-1").is_some() && get("shops").is_none());
        let printed = crate::print(&loaded);
        assert!(printed.contains("[toolsets.shop]\ntitle = \"Shop\"\n"), "{printed}");
    }

    #[test]
    fn what_differs_is_told_by_name() {
        let of = |text: &str| of(text).unwrap().config.toolsets;
        let before = of("[toolsets.a]\ntools = ['a']\n[toolsets.b]\ntools = ['b']\n");
        let after = of("\n[toolsets.c]\ntools = ['c']\n[toolsets.b]\ntools = ['b*']\n");
        assert_eq!(
            after.changes_since(&before),
            ["toolset removed: a", "toolset changed: b", "toolset added: c"]
        );
        assert_eq!(after.changes_since(&after), [""; 0]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (text, words) in [
            ("[toolsets.Shop]\ntools = ['a']\n", "the name of a toolset is of a-z"),
            ("[toolsets.'a/b']\ntools = ['a']\n", "the name of a toolset is of a-z"),
            ("[toolsets.shop]\n", "tools or tags must name at least one"),
            ("[toolsets.shop]\ntools = []\n", "tools or tags must name at least one"),
            ("[toolsets.shop]\ntools = ['a b']\n", "a pattern such as get_*"),
            ("[toolsets.shop]\ntags = 'orders'\n", "expected a list"),
            ("[toolsets.shop]\ntools = ['a']\ninstruction = 'x'\n", "instruction"),
            ("toolsets = 3\n", "expected tables [toolsets.NAME]"),
        ] {
            let error = of(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
