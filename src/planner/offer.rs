//! The tools of one turn: those of a pinned snapshot that the user may call, and the names that the user may say.
//!
//! What does not depend on the turn is made once and shared: the index of the snapshot's words, the names of each user.
//! Not here: the permissions, which the caller passes in.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError, TryLockError},
};

use chrono::{DateTime, Utc};
use moka::sync::Cache;

use super::names::{Lexicon, Name, Names};
use crate::matching::{KnownNames, index::Index, lexicon::Words, names::NameIndex, nearest};
use toolwire_base::{clock, files::Problems};
use toolwire_engine::registry::{RegisteredTool, Snapshot, ToolType};
use toolwire_tool::context::UserId;

/// Maximum number of tools that a model chooses from.
const MOST: usize = 64;

/// Number of users whose names are cached.
const USERS: u64 = 1024;

/// Makes the offers of all turns.
#[derive(Debug)]
pub struct Offers {
    words: Arc<Words>,
    names: Vec<Arc<dyn Names>>,
    /// The index of the last snapshot. Snapshots with the same words share it.
    index: Mutex<Option<Arc<Index>>>,
    by_user: Cache<UserId, CachedNames>,
}

/// The names of one user, and what they were made from.
#[derive(Clone, Debug)]
struct CachedNames {
    from: Arc<[Arc<[Name]>]>,
    index: Arc<NameIndex>,
}

/// The tools that a turn may call.
#[derive(Clone, Debug)]
pub struct Offer {
    snapshot: Arc<Snapshot>,
    tools: Arc<[Arc<RegisteredTool>]>,
    words: Arc<Words>,
    index: Arc<Index>,
    /// Of each tool of the index, whether it is offered.
    offered: Arc<[bool]>,
    names: Arc<NameIndex>,
}

impl Offers {
    /// Reads the lexicons of all domains, or reports all problems in them.
    pub fn new(lexicons: &[Lexicon], names: Vec<Arc<dyn Names>>) -> Result<Self, Problems> {
        let words = Arc::new(Words::read(lexicons)?);
        Ok(Self { words, names, index: Mutex::default(), by_user: Cache::new(USERS) })
    }

    /// The tools of a snapshot that the user is offered.
    pub fn of(
        &self,
        snapshot: &Arc<Snapshot>,
        user: &UserId,
        is_offered: impl Fn(&RegisteredTool) -> bool,
    ) -> Offer {
        let offered: Arc<[bool]> = snapshot.tools().map(|tool| is_offered(tool)).collect();
        let tools = snapshot.tools().zip(&*offered).filter(|(_, is_offered)| **is_offered);
        Offer {
            tools: tools.map(|(tool, _)| Arc::clone(tool)).collect(),
            words: Arc::clone(&self.words),
            index: self.index_of(snapshot),
            offered,
            names: self.names_of(user),
            snapshot: Arc::clone(snapshot),
        }
    }

    /// Whether the index of a snapshot is there: to make it takes longer than to use it.
    pub fn is_indexed(&self, snapshot: &Snapshot) -> bool {
        let is_of = |index: &Option<Arc<Index>>| index.as_ref().is_some_and(|it| it.is_of(snapshot.tools()));
        match self.index.try_lock() {
            Ok(index) => is_of(&index),
            Err(TryLockError::Poisoned(index)) => is_of(index.get_ref()),
            // It is being made.
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// The index of a snapshot. A tool's status changes nothing of its words.
    fn index_of(&self, snapshot: &Snapshot) -> Arc<Index> {
        // Not replaced before the new one is complete, so a poisoned lock is safe to enter.
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = index.as_ref().filter(|index| index.is_of(snapshot.tools())) {
            return Arc::clone(index);
        }
        let made = Arc::new(Index::new(snapshot.tools(), &self.words));
        *index = Some(Arc::clone(&made));
        made
    }

    fn names_of(&self, user: &UserId) -> Arc<NameIndex> {
        let from: Arc<[Arc<[Name]>]> = self.names.iter().map(|names| names.of(user)).collect();
        let is_same = |known: &CachedNames| known.from.iter().zip(&*from).all(|(a, b)| Arc::ptr_eq(a, b));
        if let Some(known) = self.by_user.get(user).filter(is_same) {
            return known.index;
        }
        let all = self.words.names.iter().chain(from.iter().flat_map(|names| &**names)).cloned();
        let index = Arc::new(NameIndex::new(all.collect()));
        self.by_user.insert(user.clone(), CachedNames { from, index: Arc::clone(&index) });
        index
    }
}

impl Offer {
    /// The tools, in order of name.
    pub fn tools(&self) -> &[Arc<RegisteredTool>] {
        &self.tools
    }

    /// The tool of a name, if it is offered.
    pub fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        let at = self.tools.binary_search_by(|tool| tool.definition.name.as_str().cmp(name)).ok()?;
        Some(&self.tools[at])
    }

    /// Narrows an offer of more tools than a model can choose from to those nearest to the message, those that were
    /// called before, and those of types other than function.
    #[must_use]
    pub fn narrow<'a>(self, message: &str, called: impl Iterator<Item = &'a str>) -> Self {
        if self.tools.len() <= MOST {
            return self;
        }
        let today = DateTime::<Utc>::from(clock::wall()).date_naive();
        let near = nearest(&self.index, &self.offered, &self.names, message, today);
        let mut kept: HashSet<String> = called.map(ToOwned::to_owned).collect();
        kept.extend(near.into_iter().map(|tool| self.index.tools[tool].tool.definition.name.to_string()));
        let is_kept = |tool: &RegisteredTool| {
            let definition = &tool.definition;
            definition.kind != ToolType::Function || kept.contains(definition.name.as_str())
        };
        let offered = self.index.tools.iter().zip(&*self.offered);
        let offered = offered.map(|(indexed, was)| *was && is_kept(&indexed.tool)).collect();
        let tools = self.tools.iter().filter(|tool| is_kept(tool)).cloned().collect();
        Self { tools, offered, ..self }
    }

    /// The names that the user may say, to be found in other texts.
    pub fn known_names(&self) -> KnownNames {
        KnownNames(Arc::clone(&self.names))
    }

    /// The snapshot that the tools are of. Calls of the turn pin it too.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    pub(super) fn flags(&self) -> &[bool] {
        &self.offered
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    pub(super) fn names(&self) -> &NameIndex {
        &self.names
    }
}
