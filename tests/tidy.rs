//! The house rules that a compiler does not check. Needs nothing but the tree.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Ask why at 300 lines; tests within the file do not count.
const MAX_LINES: usize = 300;

/// Files that may be longer, each with its reason.
const LONGER: &[(&str, usize, &str)] =
    &[("domains/research/open.rs", 340, "to be split with the settings of sources")];

/// Who may import whom: a module imports from its own row and the rows below.
const HOUSE: &[&[&str]] = &[
    &["domains"],
    &["cli"],
    &["app"],
    &["domain"],
    &["faces"],
    &["pipeline"],
    &["registry"],
    &["tool"],
    &["upstream"],
    &["config", "store"],
    &["context"],
    &["contract"],
    &["clock", "files", "telemetry"],
];

/// Imports that are still upward; the list only shrinks.
const UPWARD: &[&str] = &[
    "cli/wiring.rs imports domains",
    "faces/grpc/brokerage_service.rs imports domains",
    "faces/grpc/research_service.rs imports domains",
    "faces/grpc/screener_credentials.rs imports domains",
];

struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// The path below `src/`, with `/`.
    fn name(&self) -> String {
        let below = self.path.strip_prefix(root().join("src")).expect("below src");
        below.to_string_lossy().replace('\\', "/")
    }

    /// The top-level module it belongs to.
    fn module(&self) -> String {
        self.name().split(['/', '.']).next().expect("not empty").to_owned()
    }

    fn without_tests(&self) -> &str {
        self.text.split("#[cfg(test)]").next().expect("not empty")
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut open = vec![root().join("src")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(Source { text: fs::read_to_string(&path).expect("readable"), path });
            }
        }
    }
    found
}

#[track_caller]
fn assert_none(what: &str, offenders: &[String]) {
    assert!(offenders.is_empty(), "{what}:\n  {}", offenders.join("\n  "));
}

fn row_of(module: &str) -> Option<usize> {
    HOUSE.iter().position(|row| row.contains(&module))
}

#[test]
fn every_file_begins_by_saying_what_it_is() {
    let silent = sources().into_iter().filter(|source| !source.text.starts_with("//! "));
    assert_none("files that do not begin with //!", &silent.map(|s| s.name()).collect::<Vec<_>>());
}

#[test]
fn no_file_is_a_mod_rs() {
    let found = sources().into_iter().filter(|source| source.path.ends_with("mod.rs"));
    assert_none("name the file after its module", &found.map(|s| s.name()).collect::<Vec<_>>());
}

#[test]
fn no_file_is_too_long() {
    let mut offenders = Vec::new();
    for source in sources() {
        let lines = source.without_tests().lines().count();
        let allowed = LONGER.iter().find(|(name, ..)| *name == source.name());
        if lines > allowed.map_or(MAX_LINES, |(_, lines, _)| *lines) {
            offenders.push(format!("{}: {lines} lines", source.name()));
        }
    }
    assert_none("files to split, or to list with a reason", &offenders);
}

#[test]
fn every_module_has_its_place_in_the_house() {
    let lost = sources().into_iter().map(|source| source.module());
    let lost = lost.filter(|module| !["lib", "main"].contains(&module.as_str()) && row_of(module).is_none());
    assert_none("modules without a row in HOUSE", &lost.collect::<Vec<_>>());
}

#[test]
fn imports_go_only_downwards() {
    let mut offenders = Vec::new();
    for source in sources() {
        let Some(row) = row_of(&source.module()) else { continue };
        for imported in imports(source.without_tests()) {
            let import = format!("{} imports {imported}", source.name());
            if row_of(&imported).is_some_and(|other| other < row) && !UPWARD.contains(&import.as_str()) {
                offenders.push(import);
            }
        }
    }
    assert_none("upward imports", &offenders);
}

/// The top-level modules that a text names as `crate::module` or within `use crate::{…}`.
fn imports(text: &str) -> Vec<String> {
    let code: String =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for after in code.split("crate::").skip(1) {
        match after.strip_prefix('{') {
            Some(group) => found.extend(top_names(group)),
            None => found.push(word(after)),
        }
    }
    found
}

/// The first word of each entry of a `{…}` group.
fn top_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut entry = String::new();
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(word(&std::mem::take(&mut entry))),
            _ => {}
        }
        if c != ',' || depth > 0 {
            entry.push(c);
        }
    }
    names.push(word(&entry));
    names
}

fn word(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn the_reader_of_imports_sees_groups_and_paths() {
    let text = "use crate::{clock, context::{A, B}, faces::grpc};\nlet x = crate::app::y();";
    assert_eq!(imports(text), ["clock", "context", "faces", "app"]);
}
