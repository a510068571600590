//! A section of several accounts: the default one in the section itself, the others under `accounts`.

use super::{node::Node, values::AsOf};

/// What a section says of each account; the first is the default.
#[derive(Clone, Debug)]
pub(super) struct ByAccount<T>(Vec<Account<T>>);

/// What a section says of one account.
#[derive(Clone, Debug)]
pub struct Account<T> {
    pub name: String,
    /// Date of the data.
    pub as_of: AsOf,
    pub content: T,
}

impl<T> ByAccount<T> {
    pub(super) fn read(
        section: &Node<'_>,
        inherited: Option<&AsOf>,
        content: impl Fn(&Node<'_>) -> Option<T>,
    ) -> Option<Self> {
        let as_of = section.get_or("as_of", inherited.cloned());
        let name: Option<String> = section.get("account");
        let default = content(section);
        let others = section.members("accounts", |other, node| {
            if name.as_ref().is_some_and(|name| same(name, other)) {
                node.report("duplicate", format!("{other:?} is already the section's default account"));
            }
            // Without the section's date, that is the problem, and not each account's.
            let as_of = if as_of.is_some() { node.get_or("as_of", as_of.clone()) } else { None };
            Some(Account { name: other.to_owned(), as_of: as_of?, content: content(node)? })
        });
        let mut accounts = vec![Account { name: name?, as_of: as_of?, content: default? }];
        accounts.extend(others);
        Some(Self(accounts))
    }

    pub(super) fn default_account(&self) -> &Account<T> {
        self.0.first().expect("`read` puts the default account first")
    }

    /// The data of an account. Case does not matter.
    pub(super) fn find(&self, name: &str) -> Option<&Account<T>> {
        self.0.iter().find(|account| same(&account.name, name))
    }

    /// The data of every account.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Account<T>> {
        self.0.iter()
    }
}

/// Whether two texts name the same account.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}
