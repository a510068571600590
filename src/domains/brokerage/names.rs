//! What a user calls the things in an account: symbols, the names of what is held, and the accounts themselves.

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use moka::sync::Cache;
use serde_json::Value;

use super::source::{Brokerage, Master, Symbol};
use toolwire_agent_api::{Name, Names};
use toolwire_tool::context::{Services, UserId};

/// The kinds of these names: the `of` of manifests, and that of accounts.
const SYMBOL: &str = "brokerage";
const ACCOUNT: &str = "account";

/// Symbols that are words too. They count only in capitals, as those do that are shorter than three letters.
const WORDS: [&str; 24] = [
    "ALL", "BIG", "CAN", "CARE", "CAT", "COST", "EAT", "FAST", "FUN", "GOOD", "HAS", "KEY", "LOVE", "LOW",
    "MAIN", "NEXT", "NICE", "NOW", "ONE", "OPEN", "PLAY", "REAL", "SAFE", "WELL",
];
const MIN_LENGTH: usize = 3;

/// Number of users whose names are cached.
const USERS: u64 = 1024;

/// The words and names of the domain.
pub(super) const LEXICON: &str = include_str!("data/brokerage/lexicon.json");

/// Whether the lexicon names what the symbol stands for, in whatever market: it exists, even where no data of the user
/// has it.
pub(super) fn is_listed(symbol: &Symbol) -> bool {
    static LISTED: LazyLock<BTreeSet<Symbol>> = LazyLock::new(|| {
        let lexicon: Value = serde_json::from_str(LEXICON).expect("start-up checks the lexicon");
        let names = lexicon["names"].as_array().into_iter().flatten();
        let names = names.filter(|name| name["of"] != ACCOUNT);
        let symbols = names.filter_map(|name| name["value"].as_str());
        symbols.map(Symbol::new).collect()
    });
    LISTED.contains(symbol)
}

/// The names in the account of each user.
pub(super) fn of_services(services: &Services) -> Vec<Arc<dyn Names>> {
    vec![Arc::new(NameCache::new(services.get()))]
}

/// The names in the data of each user, made again when it changes.
#[derive(Debug)]
struct NameCache {
    brokerage: Arc<Brokerage>,
    /// By user: the digest of the data, and the names in it.
    made: Cache<UserId, (String, Arc<[Name]>)>,
}

impl NameCache {
    fn new(brokerage: Arc<Brokerage>) -> Self {
        Self { brokerage, made: Cache::new(USERS) }
    }
}

impl Names for NameCache {
    fn of(&self, user: &UserId) -> Arc<[Name]> {
        let data = self.brokerage.current_for(user);
        if let Some((_, names)) = self.made.get(user).filter(|(digest, _)| digest == data.digest()) {
            return names;
        }
        // A user without data has no names.
        let names: Arc<[Name]> = data.user(user).map(names).unwrap_or_default().into();
        self.made.insert(user.clone(), (data.digest().to_owned(), Arc::clone(&names)));
        names
    }
}

fn names(master: &Master) -> Vec<Name> {
    let quoted =
        master.quotes().into_iter().flat_map(|quotes| &quotes.rows).map(|quote| quote.symbol.as_str());
    let held = master.all_positions().map(|position| position.symbol.as_str());
    let traded = master.all_trades().map(|trade| trade.symbol.as_str());
    let symbols: BTreeSet<_> = quoted.chain(held).chain(traded).collect();
    let of_symbols =
        symbols.into_iter().map(|it| name(it, it, SYMBOL, it.len() < MIN_LENGTH || WORDS.contains(&it)));
    let named = master.all_positions().filter_map(|it| Some((it.name.as_deref()?, it.symbol.as_str())));
    let of_names = named.map(|(text, symbol)| name(text, symbol, SYMBOL, false));
    let accounts = master.account_names().into_iter();
    let of_accounts = accounts.flat_map(|account| {
        let whole = ["{} account", "{} one", "in {}", "of {}"].map(|text| text.replace("{}", account));
        let whole = whole.map(|text| name(&text, account, ACCOUNT, false));
        whole.into_iter().chain([name(account, account, ACCOUNT, false)])
    });
    of_symbols.chain(of_names).chain(of_accounts).collect()
}

fn name(text: &str, value: &str, of: &str, is_a_word: bool) -> Name {
    Name { text: text.to_owned(), value: value.to_owned(), of: of.to_owned(), is_a_word }
}
