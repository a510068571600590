//! The part of a list that `since`, `until` and `limit` select.

use chrono::NaiveDate;

use super::reject;
use crate::source::{Time, Window};
use toolwire_contract::{Provenance, ToolError};

/// The part of a list that a call asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    window: Window,
    limit: usize,
}

impl Selection {
    /// The selection of these arguments.
    pub(super) fn new(
        since: Option<&str>,
        until: Option<&str>,
        limit: Option<i32>,
    ) -> Result<Self, ToolError> {
        let (first, last) = (day("since", since)?, day("until", until)?);
        if let (Some(first), Some(last)) = (first, last)
            && last < first
        {
            return Err(reject(
                "until",
                "minimum",
                format!("`until` is {last}, which is before `since`, {first}"),
            ));
        }
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        Ok(Self { window: Window::between(first, last), limit })
    }

    /// The newest rows of a list in which the newest stands first.
    /// If there are more, the provenance warns of it.
    pub(super) fn of<'a, T>(
        self,
        what: &str,
        rows: impl Iterator<Item = &'a T>,
        time: impl Fn(&T) -> Time,
        provenance: &mut Provenance,
    ) -> Vec<&'a T>
    where
        T: 'a,
    {
        let mut within: Vec<_> = rows.filter(|row| self.window.contains(time(row).seconds())).collect();
        let all = within.len();
        within.truncate(self.limit);
        let limit = self.limit;
        if limit < all {
            let (newest, are) =
                if limit == 1 { ("newest".to_owned(), "is") } else { (format!("newest {limit}"), "are") };
            provenance.warn_cut(format!("The {newest} of {all} {what} {are} shown."));
        }
        within
    }
}

fn day(name: &str, text: Option<&str>) -> Result<Option<NaiveDate>, ToolError> {
    let read = |text: &str| {
        let words = || format!("`{name}` is '{text}', which is no day of the calendar such as 2024-09-30");
        text.parse::<NaiveDate>().map_err(|_| reject(name, "pattern", words()))
    };
    text.map(read).transpose()
}
