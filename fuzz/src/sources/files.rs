//! Files that sources read from a data directory.

use std::{fs, path::Path};

use tempfile::TempDir;
use toolwire::{
    base::files::Tree,
    domains::{
        brokerage::source::{Brokerage, import},
        research::sources::universe::Universe,
    },
};

/// A user's accounts.
pub(super) fn master(text: &str) -> String {
    open(&[("brokerage/user_master.json", text)])
}

/// A text on a topic. Its own first word is what is asked for.
pub(super) fn fact(text: &str) -> String {
    open(&[("brokerage/user_master.json", "{}"), ("brokerage/facts/rebalancing.md", text)])
}

/// One of the files that are merged into one.
pub(super) fn legacy(text: &str) -> String {
    let directory = directory(&[("account.json", text), ("quotes.json", text)]);
    drop(import::merge(directory.path()));
    String::new()
}

/// The known stocks.
pub(super) fn universe(text: &str) -> String {
    let read = Universe::parse(text);
    if let Ok(universe) = &read {
        for stock in universe.stocks() {
            drop((universe.find_named(&stock.name), universe.find_named(&stock.symbol)));
        }
    }
    String::new()
}

fn open(files: &[(&str, &str)]) -> String {
    let directory = directory(files);
    let tree = Tree::Disk(directory.path().to_owned());
    let Ok(brokerage) = Brokerage::open(tree, "demo".parse().expect("a name")) else { return String::new() };
    let data = brokerage.current();
    let topic = files.last().and_then(|(_, text)| text.split_whitespace().next()).unwrap_or_default();
    drop(data.facts().find(topic));
    // Files are the operator's own, so that what they hold is not looked at.
    String::new()
}

fn directory(files: &[(&str, &str)]) -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a directory");
        fs::write(path, text).expect("written");
    }
    directory
}
