//! Texts of others in a result: without the sentences in them that give orders, which are counted.
//!
//! Not here: making such texts safe to show, which happened where they were read, and finding orders
//! (`upstream::orders`).

use crate::upstream::{orders, text::Passage};

/// Counts what is left out of the texts of one result.
#[derive(Debug, Default)]
pub(super) struct Outside {
    sentences: usize,
    items: usize,
}

impl Outside {
    /// A text without its orders.
    pub(super) fn kept(&mut self, text: &Passage) -> Passage {
        let kept = orders::leave_out(text);
        self.sentences += kept.left_out;
        kept.text
    }

    /// The items whose title gives no order. What is said under such a title is nothing to go on either.
    pub(super) fn titled<T>(&mut self, items: Vec<T>, title: impl Fn(&T) -> &str) -> Vec<T> {
        let all = items.len();
        let kept: Vec<_> = items
            .into_iter()
            .filter(|item| !orders::sentences(title(item)).any(orders::gives_order))
            .collect();
        self.items += all - kept.len();
        kept
    }

    /// What a reader of the result should know.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> + use<> {
        let said = |count: usize, one: &str, many: &str, what: &str| {
            let noun = if count == 1 { one } else { many };
            (count > 0).then(|| format!("{count} {noun} left out: {what}."))
        };
        let sentences = said(
            self.sentences,
            "sentence was",
            "sentences were",
            "they give orders to the reader or to a model",
        );
        let items = said(self.items, "item was", "items were", "their titles give orders");
        sentences.into_iter().chain(items)
    }
}
