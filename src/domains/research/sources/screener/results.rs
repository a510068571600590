//! The results of one screen, put together from its pages.
//!
//! Not here: the pages, which `page` reads.

use std::collections::HashSet;

use super::page::Row;
use crate::store::screens::ScreenedStock;
use toolwire_sources::upstream::{http::Failure, text::Identifier};

/// The results of a screen as its pages come.
#[derive(Default)]
pub(super) struct Results {
    companies: HashSet<Identifier>,
    rows: Vec<Row>,
}

impl Results {
    /// Adds a page; whether it had anything new.
    pub(super) fn add(&mut self, rows: Vec<Row>) -> bool {
        let before = self.companies.len();
        let new = rows.into_iter().filter(|row| self.companies.insert(row.company.clone()));
        self.rows.extend(new);
        self.companies.len() > before
    }

    /// The stocks, if every result that the site announced is there, or no page had any more of them; and how many are
    /// left out.
    pub(super) fn complete(
        self,
        total: usize,
        has_ended: bool,
        screen_id: &str,
    ) -> Result<(Vec<ScreenedStock>, Option<String>), Failure> {
        let found = self.rows.len();
        if found != total && !(has_ended && found > 0 && found < total) {
            return Err(Failure::malformed(format!("{found} of {total} results")));
        }
        let stocks: Vec<_> = self.rows.into_iter().filter_map(|row| row.stock).collect();
        let left_out = total - stocks.len();
        let warning = (left_out > 0).then(|| {
            format!(
                "{left_out} of {total} results of the screen {screen_id} are left out: not on a page, not listed on the \
                 NSE, or without a price or a market capitalisation."
            )
        });
        Ok((stocks, warning))
    }
}
