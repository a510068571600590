//! Where templates are: in the data directory, and what of that is not there, embedded.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use toolwire_base::{
    clock,
    files::{Embedded, Problem, Stamp, Tree},
};
use toolwire_contract::near;

/// A file written so recently may be written again without its stamp telling.
const SETTLES_AFTER: Duration = Duration::from_secs(2);

/// The templates of one domain.
#[derive(Clone, Debug)]
pub struct Folder {
    pub domain: &'static str,
    pub embedded: Embedded,
    pub tools: BTreeSet<String>,
}

/// All files, and how they were at the last look.
#[derive(Debug)]
pub(super) struct Files {
    tree: Tree,
    folders: Vec<Folder>,
    seen: Option<BTreeMap<String, Stamp>>,
    /// What was wrong at the last look.
    pub(super) problems: Vec<Problem>,
}

#[derive(Debug)]
pub(super) struct Text {
    pub(super) tool: String,
    /// What it says, or why it cannot be read.
    pub(super) content: Result<String, String>,
    path: String,
}

impl Text {
    /// What is wrong with it.
    pub(super) fn problem(&self, rule: &'static str, what: String) -> Problem {
        Problem { tool: Some(self.tool.clone()), ..Problem::new(&self.path, rule, what) }
    }
}

impl Files {
    pub(super) fn new(tree: Tree, folders: Vec<Folder>) -> Self {
        Self { tree, folders, seen: None, problems: Vec::new() }
    }

    /// All templates, if they may be others than at the last look.
    pub(super) fn look(&mut self) -> Option<Vec<Text>> {
        let listed: BTreeMap<_, _> = self.folders.iter().flat_map(|folder| self.list(folder)).collect();
        if self.seen.as_ref() == Some(&listed) {
            return None;
        }
        let texts = self.folders.iter().flat_map(|folder| self.texts(folder)).collect();
        let now = clock::wall();
        let is_settled =
            |stamp: &Stamp| stamp.is_none_or(|stamp| stamp.age(now).is_some_and(|age| age >= SETTLES_AFTER));
        self.seen = listed.values().all(is_settled).then_some(listed);
        Some(texts)
    }

    /// The files on disk.
    fn list(&self, folder: &Folder) -> Vec<(String, Stamp)> {
        let paths = self.tree.list(&directory(folder), "md").unwrap_or_default().into_iter();
        paths.map(|path| (path.clone(), self.tree.stamp(&path))).collect()
    }

    fn texts(&self, folder: &Folder) -> Vec<Text> {
        let embedded = Tree::Embedded(folder.embedded.clone());
        let list = |tree: &Tree| tree.list(&directory(folder), "md").unwrap_or_default();
        let paths: BTreeSet<_> = list(&self.tree).into_iter().chain(list(&embedded)).collect();
        let read = |path: String| {
            let content = match self.tree.read(&path) {
                Ok(Some(content)) => Ok(content),
                Ok(None) => embedded.read(&path).ok().flatten().ok_or_else(|| "not UTF-8".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            let content = content.and_then(|content| check_known(folder, tool(&path)).map(|()| content));
            Text { tool: tool(&path).to_owned(), content, path }
        };
        paths.into_iter().map(read).collect()
    }
}

fn directory(folder: &Folder) -> String {
    format!("{}/answers", folder.domain)
}

fn tool(path: &str) -> &str {
    path.rsplit('/').next().and_then(|name| name.strip_suffix(".md")).unwrap_or_default()
}

/// Refuses a file that no tool is called after.
fn check_known(folder: &Folder, tool: &str) -> Result<(), String> {
    if folder.tools.contains(tool) {
        return Ok(());
    }
    let near = near::did_you_mean(tool, folder.tools.iter().map(String::as_str));
    Err(format!("{} has no tool {tool}{near}", folder.domain))
}
