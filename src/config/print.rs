//! Prints the effective configuration as TOML: each value with its origin, secrets hidden.

use std::fmt::Write;

use super::{
    Loaded,
    reader::{ReadSetting, TomlValue},
};

/// The configuration as TOML that, tokens aside, is understood as a file of settings again.
pub fn print(loaded: &Loaded) -> String {
    let mut text = String::new();
    settings(&mut text, &loaded.known.settings);
    for entry in &loaded.known.entries {
        push(&mut text, &format!("\n{entry}"));
    }
    for note in &loaded.known.notes {
        push(&mut text, &format!("\n# {}", note.replace('\n', "\n# ")));
    }
    text
}

fn settings(text: &mut String, settings: &[ReadSetting]) {
    let mut current = "";
    for ReadSetting { setting, origin, shown, .. } in settings {
        let (section, name) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
        if section != current {
            let gap = if text.is_empty() { "" } else { "\n" };
            push(text, &format!("{gap}[{section}]"));
            current = section;
        }
        let line = match shown {
            TomlValue::Value(value) => format!("{name} = {value}"),
            // TOML has no null.
            TomlValue::Unset(instead) => format!("# {name} = {instead}").trim_end().to_owned(),
        };
        let ways: Vec<_> = setting.flag.into_iter().chain([setting.variable.as_str()]).collect();
        push(text, &format!("{line:<36} # {origin} ({})", ways.join(", ")));
    }
}

fn push(text: &mut String, line: &str) {
    let _ = writeln!(text, "{line}");
}
