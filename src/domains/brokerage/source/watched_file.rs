//! One file, as last seen and as last good.
//!
//! Looking at it costs one `stat` unless it has changed. A file that is broken or gone keeps its last good content.

use std::{fmt, sync::Arc, time::Duration};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use toolwire_base::{
    clock,
    files::{Problem, Stamp, Tree},
};

/// Two writes within this time may have the same stamp: some file systems count in seconds. Until it has passed, the
/// content decides.
const UNSETTLED: Duration = Duration::from_secs(2);

/// Reads a file's text.
pub(super) type Parse<T> = fn(path: &str, text: &str) -> Result<T, Vec<Problem>>;

/// A file, its last good content, and what is wrong with it now.
#[derive(Debug)]
pub(super) struct WatchedFile<T> {
    path: String,
    parse: Parse<T>,
    seen: Option<Fingerprint>,
    good: Option<(Content, Arc<T>)>,
    problems: Vec<Problem>,
}

/// What a file looked like when it was last read.
#[derive(Clone, Debug)]
struct Fingerprint {
    stamp: Stamp,
    is_settled: bool,
    content: Option<Content>,
}

/// Identifies the content of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Content([u8; 32]);

/// The change that another look at a file has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// It has good content, which is new.
    Renewed,
    /// It was broken and is good again.
    Fixed,
    /// It has become broken, or broken in another way.
    Broken,
}

impl<T> WatchedFile<T> {
    pub(super) fn new(path: impl Into<String>, parse: Parse<T>) -> Self {
        Self { path: path.into(), parse, seen: None, good: None, problems: Vec::new() }
    }

    /// Looks at the file, and reads it if it may have changed.
    pub(super) fn look(&mut self, tree: &Tree) -> Change {
        if !self.may_have_changed(tree) {
            return Change::None;
        }
        // The stamp comes before the content, so that a write in between is seen by the next look.
        let stamp = tree.stamp(&self.path);
        let text = match tree.read(&self.path) {
            Ok(text) => text,
            Err(error) => {
                self.seen = Some(Fingerprint { stamp, is_settled: is_settled(stamp), content: None });
                return self.mark_broken(vec![Problem::new(&self.path, "unreadable", error.to_string())]);
            }
        };
        let content = text.as_deref().map(Content::of);
        let before = self.seen.replace(Fingerprint { stamp, is_settled: is_settled(stamp), content });
        match text {
            Some(_) if before.is_some_and(|before| before.content == content) => Change::None,
            Some(text) => self.read(&text),
            None => self.mark_broken(vec![Problem::new(&self.path, "missing-file", "there is no such file")]),
        }
    }

    /// Whether the file may differ from what was last seen.
    pub(super) fn may_have_changed(&self, tree: &Tree) -> bool {
        match &self.seen {
            None => true,
            Some(_) if matches!(tree, Tree::Embedded(_)) => false,
            Some(seen) => !seen.is_settled || tree.stamp(&self.path) != seen.stamp,
        }
    }

    /// What a later look compares with: the path, and the stamp if it can be relied on.
    pub(super) fn stamp_entry(&self) -> (String, Option<Stamp>) {
        let seen = self.seen.as_ref().filter(|seen| seen.is_settled);
        (self.path.clone(), seen.map(|seen| seen.stamp))
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The last good content.
    pub(super) fn good(&self) -> Option<&Arc<T>> {
        self.good.as_ref().map(|(_, value)| value)
    }

    /// Identifies the last good content.
    pub(super) fn content(&self) -> Option<(&str, Content)> {
        self.good.as_ref().map(|(content, _)| (self.path.as_str(), *content))
    }

    /// Whether the file is broken now, so that the last good content is used in its place.
    pub(super) fn is_stale(&self) -> bool {
        self.good.is_some() && !self.problems.is_empty()
    }

    /// What is wrong with the file now.
    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn read(&mut self, text: &str) -> Change {
        match (self.parse)(&self.path, text) {
            Ok(value) => {
                let change = if self.problems.is_empty() { Change::Renewed } else { Change::Fixed };
                self.good = Some((Content::of(text), Arc::new(value)));
                self.problems.clear();
                change
            }
            Err(problems) => self.mark_broken(problems),
        }
    }

    fn mark_broken(&mut self, problems: Vec<Problem>) -> Change {
        let change = if self.problems == problems { Change::None } else { Change::Broken };
        self.problems = problems;
        change
    }
}

impl Content {
    fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Identifies several contents and where they stand.
    pub(super) fn of_all<'a>(files: impl Iterator<Item = (&'a str, Self)>) -> Self {
        let mut digest = Sha256::new();
        for (path, Self(content)) in files {
            digest.update(path.as_bytes());
            digest.update([0]);
            digest.update(content);
        }
        Self(digest.finalize().into())
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn is_settled(stamp: Stamp) -> bool {
    let age = stamp.map(|stamp| stamp.age(clock::wall()));
    !matches!(age, Some(Some(age)) if age < UNSETTLED)
}
