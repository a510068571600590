//! Which tools of MCP servers are accepted.

use tokio::sync::watch;

use crate::{
    Store,
    accepted_tools::{AcceptedTool, rows},
    topic::Topic,
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};

impl Store {
    /// The accepted tools of a provider, in order of name.
    pub async fn accepted_tools(&self, provider: &str) -> Result<Vec<AcceptedTool>, StoreError> {
        self.fetch_all(rows::list(provider)).await
    }

    /// Accepts these tools of a provider, in place of those that were accepted before.
    pub async fn accept_tools(&self, provider: &str, tools: &[AcceptedTool]) -> Result<(), StoreError> {
        self.transact(Lane::Source(provider), Durability::Power, |tx| scoped(replace(tx, provider, tools)))
            .await
    }

    /// Accepts these tools of a provider if none of it was accepted before, and returns whether that was so.
    pub async fn accept_first_tools(
        &self,
        provider: &str,
        tools: &[AcceptedTool],
    ) -> Result<bool, StoreError> {
        transact!(self, Lane::Source(provider), Durability::Power, |tx| {
            let is_first = rows::list(provider).all(tx).await?.is_empty() && !tools.is_empty();
            if is_first {
                replace(tx, provider, tools).await?;
            }
            Ok(is_first)
        })
    }

    /// A receiver that changes when any process may have accepted tools.
    pub async fn follow_accepted_tools(&self) -> Result<watch::Receiver<u64>, StoreError> {
        self.follow(Topic::AcceptedTools).await
    }
}

async fn replace(tx: &mut Tx, provider: &str, tools: &[AcceptedTool]) -> Result<(), Error> {
    let now = tx.now();
    rows::delete(provider).run(tx).await?;
    for tool in tools {
        rows::insert(provider, tool, now).run(tx).await?;
    }
    tx.notify(Topic::AcceptedTools);
    Ok(())
}

#[cfg(test)]
mod tests {
    use toolwire_base::digest::Digest;

    use super::*;

    fn tool(name: &str, text: &str) -> AcceptedTool {
        AcceptedTool {
            name: name.to_owned(),
            digest: Digest::of_bytes(text.as_bytes()),
            text: text.to_owned(),
        }
    }

    #[tokio::test]
    async fn the_first_list_is_accepted_once_and_others_by_an_operator() {
        let store = Store::in_memory();
        let (one, two) = ([tool("search", "{}")], [tool("fetch", "{}"), tool("search", "{\"a\":1}")]);
        assert!(!store.accept_first_tools("docs", &[]).await.unwrap(), "nothing to accept");
        assert!(store.accept_first_tools("docs", &one).await.unwrap());
        assert!(!store.accept_first_tools("docs", &two).await.unwrap());
        assert_eq!(store.accepted_tools("docs").await.unwrap(), one);
        assert_eq!(store.accepted_tools("files").await.unwrap(), []);
        let mut changed = store.follow_accepted_tools().await.unwrap();
        store.accept_tools("docs", &two).await.unwrap();
        assert!(changed.has_changed().unwrap());
        changed.mark_unchanged();
        assert_eq!(store.accepted_tools("docs").await.unwrap(), two);
    }
}
