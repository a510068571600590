//! The files of prompts: on disk, or else as they are built in, and when to read them again. Not here: what they say.

use std::{collections::BTreeSet, time::Duration};

use include_dir::{Dir, include_dir};
use strum::VariantArray as _;

use super::prompt::Prompt;
use toolwire_base::{
    clock,
    files::{Problem, Stamp, Tree},
};
use toolwire_contract::ToolName;

static BUILT_IN: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/prompts");

/// A file written so recently may be written again without its stamp telling.
const SETTLES_AFTER: Duration = Duration::from_secs(2);

/// The folder of all prompts, and that of roles within it.
const FOLDER: &str = "prompts";
const ROLES: &str = "roles";

#[derive(Debug)]
pub(super) struct Files {
    tree: Tree,
    /// The roles' prompts that settings name.
    wanted: Vec<String>,
    /// How the files on disk were at the last look; `None` if one was so new that it may be written again without its
    /// stamp telling.
    stamps: Option<Vec<(String, Stamp)>>,
}

#[derive(Debug)]
pub(super) struct Text {
    /// The prompt: the path below the folder, without `.md`.
    pub(super) name: String,
    /// What it says, or why that cannot be read.
    pub(super) content: Result<String, String>,
}

/// The name of a role's prompt.
pub(super) fn of_role(name: &str) -> String {
    format!("{ROLES}/{name}")
}

/// Where a prompt stands.
pub(super) fn path(name: &str) -> String {
    format!("{FOLDER}/{name}.md")
}

impl Files {
    pub(super) fn new(tree: Tree, wanted: Vec<String>) -> Self {
        Self { tree, wanted, stamps: None }
    }

    /// Whether they may be others than at the last look.
    pub(super) fn look(&mut self) -> bool {
        let mut paths = self.on_disk(FOLDER);
        paths.append(&mut self.on_disk(&format!("{FOLDER}/{ROLES}")));
        let stamps = paths.into_iter().map(|path| {
            let stamp = self.tree.stamp(&path);
            (path, stamp)
        });
        let stamps: Vec<_> = stamps.collect();
        let stamps = stamps.iter().all(|(_, stamp)| is_settled(stamp)).then_some(stamps);
        let is_known = stamps.is_some() && stamps == self.stamps;
        self.stamps = stamps;
        !is_known
    }

    pub(super) fn read(&self) -> Vec<Text> {
        let names = Prompt::VARIANTS.iter().map(|prompt| prompt.into_str().to_owned());
        names.chain(self.roles().iter().map(|role| of_role(role))).map(|name| self.text(name)).collect()
    }

    /// What is wrong with which files there are: one that is not a prompt, such as a misspelled one, and one that
    /// settings name and that does not exist.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let names: Vec<_> = Prompt::VARIANTS.iter().map(Prompt::into_str).collect();
        let is_known = |found: &String| names.iter().any(|name| path(name) == *found);
        let unknown = self.on_disk(FOLDER).into_iter().filter(|found| !is_known(found)).map(|found| {
            let what = format!("no such prompt; there are {}, and those in {ROLES}/", names.join(", "));
            Problem::new(&found, "unknown-prompt", what)
        });
        let roles = self.roles();
        let misnamed = roles.iter().filter(|role| role.parse::<ToolName>().is_err()).map(|role| {
            let what = "a role's name, which this file has, is of a-z, 0-9 and _, and begins with a letter";
            Problem::new(&path(&of_role(role)), "unknown-prompt", what.to_owned())
        });
        let missing = self.wanted.iter().filter(|name| !roles.contains(*name)).map(|name| {
            let what = "the settings of agent.roles name it, and there is no such file".to_owned();
            Problem::new(&path(&of_role(name)), "missing-prompt", what)
        });
        unknown.chain(misnamed).chain(missing).collect()
    }

    /// The prompts of roles that there are.
    fn roles(&self) -> BTreeSet<String> {
        let built_in = BUILT_IN.get_dir(ROLES).into_iter().flat_map(Dir::files);
        let built_in = built_in.filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()));
        let folder = format!("{FOLDER}/{ROLES}");
        let on_disk = self.on_disk(&folder).into_iter();
        let named = |path: String| {
            let name = path.strip_prefix(&folder)?.strip_prefix('/')?.strip_suffix(".md")?;
            Some(name.to_owned())
        };
        on_disk.filter_map(named).chain(built_in).collect()
    }

    /// A folder that cannot be listed has no files: what is built in holds.
    fn on_disk(&self, folder: &str) -> Vec<String> {
        self.tree.list(folder, "md").unwrap_or_default()
    }

    fn text(&self, name: String) -> Text {
        let built_in = || {
            let file = BUILT_IN.get_file(format!("{name}.md"));
            file.and_then(|file| file.contents_utf8()).unwrap_or_default().to_owned()
        };
        let on_disk = self.tree.read(&path(&name)).map_err(|error| error.to_string());
        let content = on_disk.map(|text| text.unwrap_or_else(built_in));
        Text { name, content }
    }
}

/// One that is gone meanwhile is looked for the next time.
fn is_settled(stamp: &Stamp) -> bool {
    stamp.is_none_or(|stamp| stamp.age(clock::wall()).is_some_and(|age| age >= SETTLES_AFTER))
}
