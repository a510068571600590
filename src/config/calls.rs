//! Settings of what is recorded of calls for people who look at them: `[calls]`, and of single tools
//! `[calls.tools.TOOL]`.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::{
    differences::differences,
    raw_value::RawValue,
    reader::Reader,
    sealing_keys,
    settings::settings,
    value::{Value, quote},
};

settings! {
    /// What is recorded of calls: `[calls]`.
    #[derive(Clone, Debug)]
    pub struct Calls in "calls" then check {
        /// What is recorded of each call, for 24 h.
        record: RecordLevel = RecordLevel::None, "TOOLWIRE_CALLS_RECORD";
        /// The keys that seal what is recorded: each at least 32 bytes. The first seals, all open. Required unless
        /// nothing is recorded. In the variable with commas, in the file a list.
        keys: Vec<SecretString> = Vec::new(), "TOOLWIRE_CALLS_KEYS", as Reader::values;
    }
    and {
        /// What is recorded of the calls of single tools, by their names. Default `record`.
        tools: ToolRecordLevels = ToolRecordLevels::read;
    }
}

/// What is recorded of the calls of single tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRecordLevels(pub BTreeMap<String, RecordLevel>);

/// What is recorded of a call, least first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RecordLevel {
    #[default]
    None,
    /// Its arguments, but for the values of sensitive ones.
    Arguments,
    /// These, and its result.
    All,
}

impl Calls {
    /// What is recorded of the calls of a tool, unless its manifest says less.
    pub fn of_tool(&self, tool: &str) -> RecordLevel {
        self.tools.0.get(tool).copied().unwrap_or(self.record)
    }

    /// Whether anything is recorded of any call.
    pub fn records(&self) -> bool {
        self.record != RecordLevel::None || self.tools.0.values().any(|it| *it != RecordLevel::None)
    }

    /// What differs from other settings, in words for the log.
    pub fn changes(&self, before: &Self) -> Vec<String> {
        let texts = |it: &Self| it.keys.iter().map(|key| key.expose_secret().to_owned()).collect::<Vec<_>>();
        let record = (self.record != before.record).then(|| {
            let [before, now]: [&str; 2] = [before.record.into(), self.record.into()];
            format!("calls.record changed from {before} to {now}")
        });
        let keys = (texts(self) != texts(before)).then(|| "calls.keys changed".to_owned());
        let tools = differences("calls.tools", &self.tools.0, &before.tools.0);
        record.into_iter().chain(keys).chain(tools).collect()
    }

    fn check(self, reader: &mut Reader) -> Self {
        sealing_keys::check(reader, "calls.keys", &self.keys);
        if self.keys.is_empty() && self.records() {
            let what = "must hold a key, since calls are recorded: such as `openssl rand -base64 32` prints";
            reader.problem("calls.keys", what);
        }
        self
    }
}

impl ToolRecordLevels {
    fn read(reader: &mut Reader) -> Self {
        let mut all = BTreeMap::new();
        for (tool, mut entry) in reader.tables("calls.tools") {
            let record = entry.required::<RecordLevel>("record");
            if reader.end(entry)
                && let Some(record) = record
            {
                let shown = [("record", record.to_toml())];
                reader.show_entry(&format!("[calls.tools.{}]", quote(&tool)), &shown);
                all.insert(tool, record);
            }
        }
        Self(all)
    }
}

impl Value for RecordLevel {
    fn read(found: &RawValue) -> Result<Self, String> {
        let record = if let RawValue::Text(text) = found { text.parse().ok() } else { None };
        record.ok_or_else(|| found.instead_of(&format!("one of {}", Self::VARIANTS.join(", "))))
    }

    fn to_toml(&self) -> String {
        quote(self.into_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, testing::load_text};

    const KEY: &str = "a-key-of-more-than-thirty-two-bytes-0";

    #[test]
    fn a_tool_may_be_recorded_in_another_way() {
        let file = format!(
            "[calls]\nrecord = 'arguments'\nkeys = ['{KEY}']\n[calls.tools.shop_refund]\nrecord = 'all'"
        );
        let calls = load_text(&file, &[], Flags::default(), &[]).unwrap().config.calls;
        assert_eq!(
            (calls.of_tool("shop_refund"), calls.of_tool("get_quotes")),
            (RecordLevel::All, RecordLevel::Arguments)
        );
        assert!(!format!("{calls:?}").contains(KEY));
    }

    #[test]
    fn changes_are_told_without_a_key() {
        let load = |file: &str| load_text(file, &[], Flags::default(), &[]).unwrap().config.calls;
        let before = load(&format!("[calls]\nkeys = ['{KEY}']\n[calls.tools.old]\nrecord = 'all'"));
        let file = format!(
            "[calls]\nrecord = 'all'\nkeys = ['1{KEY}', '{KEY}']\n[calls.tools.new]\nrecord = 'none'"
        );
        let changes = load(&file).changes(&before);
        assert_eq!(
            changes,
            [
                "calls.record changed from none to all",
                "calls.keys changed",
                "calls.tools added: new",
                "calls.tools removed: old"
            ]
        );
        assert!(before.changes(&before).is_empty());
    }

    #[test]
    fn what_is_recorded_is_sealed() {
        for (file, problem) in [
            ("[calls]\nrecord = 'all'", "calls.keys: must hold a key"),
            ("[calls.tools.shop_refund]\nrecord = 'all'", "calls.keys: must hold a key"),
            ("[calls]\nkeys = ['short']", "calls.keys: must hold keys of at least 32 bytes"),
            ("[calls]\nrecord = 'some'", "one of none, arguments, all"),
            ("[calls.tools.shop_refund]\nrecrd = 'all'", "record is missing"),
            ("[calls.tools.shop_refund]\nrecord = 1", "one of none, arguments, all"),
            ("[calls]\nkeys = ['xxxxxxxxxxxxxxxx', '']", "calls.keys: must hold keys of at least 32 bytes"),
        ] {
            let error = load_text(file, &[], Flags::default(), &[]).unwrap_err().to_string();
            assert!(error.contains(problem), "{file}: {error}");
        }
    }
}
