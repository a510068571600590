//! Queries of confirmations and their changes.

use futures_util::TryStreamExt;

use crate::{
    Store,
    confirmations::{
        Binding, Change, Confirmation, Criteria, Cursor, MAX_PAGE_BYTES, Page, Scope, SequenceRange,
        life::State,
        rows::{
            self, Listed,
            events::{self, ListedChange},
        },
    },
};
use toolwire_base::digest::Digest;
use toolwire_contract::ConfirmationId;
use toolwire_db::{
    Error, StoreError,
    sql::{AsText, Rows},
};
use toolwire_tool::context::{RequestId, UserId};

/// Maximum size of a page of open confirmations.
const MAX_OPEN: usize = 256;

impl Store {
    /// The `request_id` that a call without one adopts: that of the newest confirmation of an equal call, if it is open
    /// or was denied recently.
    pub async fn find_adoptable_confirmation(
        &self,
        binding: Binding<'_>,
    ) -> Result<Option<RequestId>, StoreError> {
        Ok(self.fetch_optional(rows::adoptable(&binding, self.now())).await?.map(|AsText(id)| id))
    }

    /// The number of pending confirmations: those of a user, and all.
    pub async fn count_pending_confirmations(&self, user: &UserId) -> Result<(u32, u32), StoreError> {
        self.fetch_one(rows::count_pending(user)).await
    }

    /// A confirmation as of now.
    pub async fn confirmation(&self, id: &ConfirmationId) -> Result<Option<Confirmation>, StoreError> {
        let mut found = self.fetch_optional(rows::find(id)).await?;
        if let Some(found) = &mut found
            && found.is_overdue(self.now())
        {
            found.state = State::Expired;
        }
        Ok(found)
    }

    /// The definition that an open confirmation is bound to, as an encoded `toolwire.v1.ToolDefinition`. `None` for one
    /// that was requested by an earlier version.
    pub async fn bound_definition(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.fetch_optional(rows::definitions::find(digest)).await
    }

    /// A page of confirmations after a cursor, for `viewer`, bounded by [`MAX_PAGE_BYTES`].
    pub async fn list_confirmations(
        &self,
        viewer: &UserId,
        selection: (&Scope, &Criteria),
        from: Option<Cursor>,
        limit: u32,
    ) -> Result<Page, StoreError> {
        let read = async {
            let mut reader = self.reader_for(viewer).await?;
            let mut page = PageBuilder { limit: limit as usize, ..PageBuilder::default() };
            if !matches!(from, Some(Cursor::Other(_))) {
                let after =
                    from.and_then(|it| if let Cursor::Pending(after) = it { Some(after) } else { None });
                let limit = page.left() + 1;
                page.fill(rows::pending_after(selection, after, limit).rows(&mut reader)).await?;
            }
            if !page.more {
                let before =
                    from.and_then(|it| if let Cursor::Other(before) = it { Some(before) } else { None });
                let limit = page.left() + 1;
                page.fill(rows::others_before(selection, before, limit).rows(&mut reader)).await?;
            }
            Ok(page.build())
        };
        self.explain(read.await)
    }

    /// A page of the open confirmations that last changed after one position and up to another, in order of change, for
    /// `viewer`, bounded by [`MAX_PAGE_BYTES`].
    pub async fn list_open_confirmations(
        &self,
        viewer: &UserId,
        selection: (&Scope, &Criteria),
        between: (u64, u64),
    ) -> Result<Page, StoreError> {
        let mut reader = self.explain(self.reader_for(viewer).await)?;
        let mut page = PageBuilder { limit: MAX_OPEN, ..PageBuilder::default() };
        let open = rows::open_between(selection, between, MAX_OPEN + 1).rows(&mut reader);
        self.explain(page.fill(open).await)?;
        Ok(page.build())
    }

    /// Changes of confirmations after a position, in order, bounded by [`MAX_PAGE_BYTES`].
    pub async fn confirmation_changes(
        &self,
        scope: &Scope,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Change>, StoreError> {
        let mut reader = self.reader().await?;
        let read = async {
            let last = events::last(&mut reader, scope, after).await?;
            let mut rows = events::between(scope, (after, last), limit).rows(&mut reader);
            let (mut changes, mut read) = (Vec::new(), 0);
            while let Some(ListedChange { change, bytes }) = rows.try_next().await? {
                read += bytes;
                if read > MAX_PAGE_BYTES && !changes.is_empty() {
                    break;
                }
                changes.push(change);
            }
            Ok(changes)
        };
        self.explain(read.await)
    }

    /// The positions of retained changes.
    pub async fn confirmation_change_range(&self, scope: &Scope) -> Result<SequenceRange, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(events::range(&mut reader, scope).await)
    }
}

#[derive(Default)]
struct PageBuilder {
    confirmations: Vec<Confirmation>,
    limit: usize,
    bytes: usize,
    more: bool,
}

impl PageBuilder {
    const fn left(&self) -> usize {
        self.limit - self.confirmations.len()
    }

    /// Adds rows until the page is full. One more row indicates that there is another page.
    async fn fill(&mut self, mut rows: Rows<'_, Listed>) -> Result<(), Error> {
        while let Some(Listed { confirmation, bytes }) = rows.try_next().await? {
            self.bytes += bytes;
            let is_full = self.left() == 0 || self.bytes > MAX_PAGE_BYTES;
            // One that is larger than a page is a page by itself.
            if is_full && !self.confirmations.is_empty() {
                self.more = true;
                return Ok(());
            }
            self.confirmations.push(confirmation);
        }
        Ok(())
    }

    fn build(self) -> Page {
        Page { confirmations: self.confirmations, more: self.more }
    }
}
