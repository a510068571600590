//! The files of one kind in one directory, each as last seen and last good.
//!
//! A file that is removed is gone with its content: a removed user is not served any more.

use std::collections::BTreeMap;

use super::watched_file::{Change, Parse, WatchedFile};
use toolwire_base::files::{Problem, Tree};

/// The files of a directory.
#[derive(Debug)]
pub(super) struct Folder<T> {
    directory: &'static str,
    extension: &'static str,
    parse: Parse<T>,
    files: BTreeMap<String, WatchedFile<T>>,
    problem: Option<Problem>,
}

impl<T> Folder<T> {
    pub(super) fn new(directory: &'static str, extension: &'static str, parse: Parse<T>) -> Self {
        Self { directory, extension, parse, files: BTreeMap::new(), problem: None }
    }

    /// Looks at the directory and at each of its files, and calls `on_look` with the change of each file.
    pub(super) fn look(&mut self, tree: &Tree, on_look: fn(Change, &WatchedFile<T>)) {
        match tree.list(self.directory, self.extension) {
            Ok(paths) => self.track(paths),
            Err(error) => {
                self.problem = Some(Problem::new(self.directory, "unreadable", error.to_string()));
            }
        }
        for file in self.files.values_mut() {
            let change = file.look(tree);
            on_look(change, file);
        }
    }

    /// The files, in the order of their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = &WatchedFile<T>> {
        self.files.values()
    }

    /// What is wrong with the directory and its files now.
    pub(super) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problem.iter().chain(self.files().flat_map(WatchedFile::problems))
    }

    fn track(&mut self, sorted_paths: Vec<String>) {
        self.problem = None;
        self.files.retain(|path, _| sorted_paths.binary_search(path).is_ok());
        for path in sorted_paths {
            let parse = self.parse;
            self.files.entry(path).or_insert_with_key(|path| WatchedFile::new(path, parse));
        }
    }
}
