//! All files of the brokerage; a look through them makes a new state.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use super::{
    data::Data,
    facts::{FALLBACK, Fact, Facts},
    folder::Folder,
    health::{Health, OpenError},
    master::Master,
    watched_file::{Change, Content, WatchedFile},
};
use toolwire_base::files::{Problem, Problems, Stamp, Tree};
use toolwire_tool::context::UserId;

/// The default user's file.
pub(super) const MASTER: &str = "brokerage/user_master.json";
/// Where every other user's file is.
const USERS: &str = "brokerage/users";
const FACTS: &str = "brokerage/facts";

/// The files, as last seen and last good.
#[derive(Debug)]
pub(super) struct WatchedFiles {
    tree: Tree,
    default_user: UserId,
    master: WatchedFile<Master>,
    users: Folder<Master>,
    facts: Folder<Fact>,
}

/// A state, with the stamps by which it is checked against the files.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) data: Arc<Data>,
    pub(super) health: Health,
    /// The stamp of each file; `None` if it cannot be relied on.
    pub(super) watched: BTreeMap<String, Option<Stamp>>,
}

impl WatchedFiles {
    pub(super) fn new(tree: Tree, default_user: UserId) -> Self {
        Self {
            tree,
            default_user,
            master: WatchedFile::new(MASTER, parse_master),
            users: Folder::new(USERS, "json", parse_master),
            facts: Folder::new(FACTS, "md", parse_fact),
        }
    }

    /// Reads all files for the first time. Any problem of a file prevents the start.
    pub(super) fn open(&mut self) -> Result<Snapshot, OpenError> {
        if self.tree.read(MASTER).is_ok_and(|text| text.is_none()) {
            return Err(OpenError::MissingMaster(self.tree.display(MASTER)));
        }
        self.look(|_, _| (), |_, _| ());
        let problems = self.problems();
        match self.snapshot() {
            Some(snapshot) if problems.is_empty() => Ok(snapshot),
            _ => Err(Problems(problems).into()),
        }
    }

    /// Looks through all files again, and logs what has changed.
    pub(super) fn reload(&mut self) -> Option<Snapshot> {
        self.look(log, log);
        self.snapshot()
    }

    fn look(&mut self, on_master: fn(Change, &WatchedFile<Master>), on_fact: fn(Change, &WatchedFile<Fact>)) {
        let change = self.master.look(&self.tree);
        on_master(change, &self.master);
        self.users.look(&self.tree, on_master);
        self.facts.look(&self.tree, on_fact);
    }

    /// The last good content of every file. `None` until the master file has been good once.
    fn snapshot(&self) -> Option<Snapshot> {
        let data = self.data(self.master.good()?);
        let health = Health {
            digest: data.digest.clone(),
            problems: self.problems(),
            missing_sections: missing_sections(&data),
        };
        Some(Snapshot { data: Arc::new(data), health, watched: self.stamps() })
    }

    fn data(&self, master: &Arc<Master>) -> Data {
        let of_users = || self.users.files().filter_map(|file| Some((user_of(file.path()).ok()?, file)));
        let own = |(user, file): (UserId, &WatchedFile<Master>)| Some((user, Arc::clone(file.good()?)));
        let mut users: BTreeMap<_, _> = of_users().filter_map(own).collect();
        users.insert(self.default_user.clone(), Arc::clone(master));
        let files = of_users().chain([(self.default_user.clone(), &self.master)]);
        let facts = Facts::new(self.facts.files().filter_map(WatchedFile::good).cloned().collect());
        let stale_facts = self.facts.files().filter(|file| file.is_stale());
        Data {
            master: Arc::clone(master),
            users,
            facts,
            digest: self.digest(),
            stale_users: files.filter(|(_, file)| file.is_stale()).map(|(user, _)| user).collect(),
            stale_facts: stale_facts.map(|file| file_name(file.path()).to_owned()).collect(),
            absence: self.advice(),
        }
    }

    /// What is to be done for a user without data.
    fn advice(&self) -> String {
        match &self.tree {
            Tree::Embedded(_) => format!(
                "This is one of the sample tools of the server, whose built-in data belong to the user {} alone: call \
                 tools of your own (docs/OWN_TOOLS.md), or serve data of this user with --data (docs/MANIFEST.md).",
                self.default_user
            ),
            Tree::Disk(_) => format!("Put the data of this user into {USERS}/ below the data directory."),
        }
    }

    fn digest(&self) -> String {
        let masters =
            std::iter::once(&self.master).chain(self.users.files()).filter_map(WatchedFile::content);
        Content::of_all(masters.chain(self.facts.files().filter_map(WatchedFile::content))).to_string()
    }

    fn problems(&self) -> Vec<Problem> {
        let named = self.users.files().filter_map(|file| self.check_name(file.path()));
        // For operators alone: every caller may watch problems, and these name users.
        let (of_users, named) = (self.users.problems().cloned(), named.map(Problem::for_operators));
        let of_users = of_users.map(Problem::for_operators);
        let (master, facts) = (self.master.problems().iter().cloned(), self.facts.problems().cloned());
        master.chain(of_users).chain(facts).chain(named).collect()
    }

    /// What is wrong with the name of a user's file.
    fn check_name(&self, path: &str) -> Option<Problem> {
        match user_of(path) {
            Ok(user) if user == self.default_user => {
                let description = format!("the data of {user}, the default user, is in {MASTER}");
                Some(Problem::new(path, "duplicate", description))
            }
            Ok(_) => None,
            Err(problem) => Some(problem),
        }
    }

    fn stamps(&self) -> BTreeMap<String, Option<Stamp>> {
        let users = self.users.files().map(WatchedFile::stamp_entry);
        let facts = self.facts.files().map(WatchedFile::stamp_entry);
        std::iter::once(self.master.stamp_entry()).chain(users).chain(facts).collect()
    }
}

fn parse_master(path: &str, text: &str) -> Result<Master, Vec<Problem>> {
    let at_path = |problem| Problem { file: path.to_owned(), ..problem };
    Master::parse(file_name(path), text).map_err(|problems| problems.into_iter().map(at_path).collect())
}

// The signature is that of every parser, those that fail too.
#[allow(clippy::unnecessary_wraps, reason = "a `Parse`")]
fn parse_fact(path: &str, text: &str) -> Result<Fact, Vec<Problem>> {
    Ok(Fact::parse(file_name(path), text))
}

/// The path of a user's file, unless the user is the default one.
pub(super) fn path_of(user: &UserId) -> String {
    format!("{USERS}/{user}.json")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The user whose data a file has: its name says so.
fn user_of(path: &str) -> Result<UserId, Problem> {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.parse().map_err(|invalid| Problem::new(path, "bad-name", format!("{invalid}")))
}

fn missing_sections(data: &Data) -> BTreeMap<String, String> {
    let sections = data.master.missing_sections().map(|(name, message)| (name.to_owned(), message));
    let mut missing: BTreeMap<_, _> = sections.collect();
    if !data.facts.has(FALLBACK) {
        missing.insert("facts".to_owned(), format!("Missing facts/{FALLBACK}"));
    }
    missing
}

fn log<T>(change: Change, file: &WatchedFile<T>) {
    match change {
        Change::None => {}
        Change::Renewed => tracing::info!(file = file.path(), "brokerage data was renewed"),
        Change::Fixed => tracing::info!(file = file.path(), "brokerage data is good again"),
        Change::Broken => {
            for problem in file.problems() {
                tracing::warn!(%problem, "brokerage data is broken; the last good content stays");
            }
        }
    }
}
