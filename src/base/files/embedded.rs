//! Files embedded in the program: what each domain embeds, and all of it together as one tree.
//!
//! A file has the same path here as in a data directory, so that digests and errors are the same for both.

use std::{collections::BTreeMap, fmt, sync::Arc};

use include_dir::Dir;

/// Embedded files by their path. Cheap to clone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Embedded(Arc<BTreeMap<String, &'static [u8]>>);

/// Two domains embed a file of the same path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the domain {one} and the domain {other} both have the data file {path}: give one of them another name"
)]
pub struct PathTaken {
    path: String,
    one: String,
    other: String,
}

impl Embedded {
    /// All files of a folder, such as `include_dir!("$CARGO_MANIFEST_DIR/data/<domain>")`, below a directory of the
    /// given name.
    pub fn folder(name: &str, folder: &'static Dir<'static>) -> Self {
        let mut files = BTreeMap::new();
        collect(folder, &mut |path, content| {
            files.insert(format!("{name}/{path}"), content);
        });
        Self(Arc::new(files))
    }

    /// The manifests of some tools, below `tools/`: `<name>.json` of the folder. A tool without one is not offered.
    pub fn manifests<'a>(folder: &'static Dir<'static>, tools: impl IntoIterator<Item = &'a str>) -> Self {
        let named = tools.into_iter().filter_map(|tool| {
            let file = format!("{tool}.json");
            Some((format!("tools/{file}"), folder.get_file(&file)?.contents()))
        });
        Self(Arc::new(named.collect()))
    }

    /// The files of both. Where both have a path, the file of `other` is kept.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        let mut files = Arc::unwrap_or_clone(self.0);
        files.extend(other.0.iter().map(|(path, content)| (path.clone(), *content)));
        Self(Arc::new(files))
    }

    /// Merges what several domains embed, each named. A path that two of them have is an error.
    pub fn of_all<'a>(domains: impl IntoIterator<Item = (&'a str, &'a Self)>) -> Result<Self, PathTaken> {
        let mut files = BTreeMap::new();
        let mut owners = BTreeMap::new();
        for (owner, embedded) in domains {
            for (path, content) in embedded.0.iter() {
                if let Some(one) = owners.insert(path.as_str(), owner) {
                    let (path, one, other) = (path.clone(), one.to_owned(), owner.to_owned());
                    return Err(PathTaken { path, one, other });
                }
                files.insert(path.clone(), *content);
            }
        }
        Ok(Self(Arc::new(files)))
    }

    #[cfg(test)]
    pub(super) fn of<'a, C: AsRef<[u8]> + ?Sized + 'static>(
        files: impl IntoIterator<Item = (&'a str, &'static C)>,
    ) -> Self {
        let files = files.into_iter().map(|(path, content)| (path.to_owned(), content.as_ref()));
        Self(Arc::new(files.collect()))
    }

    /// The paths of all files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn get(&self, path: &str) -> Option<&'static [u8]> {
        self.0.get(path).copied()
    }

    pub(super) fn has_directory(&self, path: &str) -> bool {
        self.within(path).next().is_some()
    }

    /// The names of the files in a directory, without those of directories in it.
    pub(super) fn names(&self, directory: &str) -> Vec<String> {
        let names = self.within(directory).filter(|(name, _)| !name.contains('/'));
        names.map(|(name, _)| name.to_owned()).collect()
    }

    /// The files below a directory, by their path in the tree.
    pub(super) fn below(&self, directory: &str) -> Vec<(String, Vec<u8>)> {
        self.within(directory)
            .map(|(name, content)| (format!("{directory}/{name}"), content.to_vec()))
            .collect()
    }

    /// The files below a directory, by their path from there.
    fn within<'a>(&'a self, directory: &str) -> impl Iterator<Item = (&'a str, &'static [u8])> {
        let prefix = format!("{directory}/");
        // Paths that share a prefix stand together in their order.
        let files = self.0.range(prefix.clone()..);
        files.map_while(move |(path, content)| Some((path.strip_prefix(&prefix)?, *content)))
    }
}

fn collect(folder: &'static Dir<'static>, insert: &mut impl FnMut(String, &'static [u8])) {
    for file in folder.files() {
        let names: Vec<_> = file.path().iter().map(|name| name.to_string_lossy()).collect();
        insert(names.join("/"), file.contents());
    }
    folder.dirs().for_each(|inner| collect(inner, insert));
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embedded({} files)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files that contain their path.
    fn of(paths: &[&'static str]) -> Embedded {
        Embedded::of(paths.iter().map(|path| (*path, path.as_bytes())))
    }

    #[test]
    fn a_directory_has_its_own_files_and_not_those_of_a_longer_name() {
        let files = of(&["a/x.json", "a/b/y.json", "a-b/z.json", "ab/z.json"]);
        assert_eq!(files.names("a"), ["x.json"]);
        assert_eq!(files.names("a/b"), ["y.json"]);
        assert!(files.has_directory("a/b") && !files.has_directory("a/x.json") && !files.has_directory("c"));
    }

    #[test]
    fn a_path_that_two_domains_have_is_refused_and_both_are_named() {
        let (one, other) = (of(&["a/x", "tools/t.json"]), of(&["b/x", "tools/t.json"]));
        let error = Embedded::of_all([("one", &one), ("other", &other)]).unwrap_err().to_string();
        assert!(
            error.starts_with("the domain one and the domain other both have the data file tools/t.json")
        );
        let apart = Embedded::of_all([("one", &one), ("more", &of(&["c/x"]))]).unwrap();
        assert_eq!(apart.paths().collect::<Vec<_>>(), ["a/x", "c/x", "tools/t.json"]);
    }
}
