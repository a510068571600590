//! The title, the version and the tags of an offer, which stand in rows of tables and in forms of approval: each is one
//! line of characters that a reader sees, so that none looks like several.

use std::borrow::Cow;

use super::Report;
use crate::{
    bounds::{MAX_LABEL, MAX_TITLE},
    wire,
};
use toolwire_base::words::{is_hidden, one_line};

/// Refuses labels of a host, which can change them. Those of a server are served [`cleaned`], with a warning.
pub(super) fn check(offer: &wire::Offer, report: &mut Report) {
    let tags = offer.tags.iter().enumerate().map(|(at, tag)| (format!("/tags/{at}"), tag, MAX_LABEL));
    let labels =
        [("/title".to_owned(), &offer.title, MAX_TITLE), ("/version".to_owned(), &offer.version, MAX_LABEL)];
    for (pointer, text, most) in labels.into_iter().chain(tags) {
        let length = text.chars().count();
        if length > most {
            let what = format!("at most {most} characters are taken, and these are {length}");
            refuse(report, pointer, "too-large", &what, "it is cut");
        } else if let Some(unseen) = text.chars().find(|c| !is_seen(*c)) {
            let unseen = unseen.escape_unicode();
            let what = format!("it holds {unseen}, and must be one line of characters that are seen");
            refuse(report, pointer, "bad-text", &what, "it is left out");
        }
    }
}

fn refuse(report: &mut Report, pointer: String, rule: &'static str, what: &str, otherwise: &str) {
    if report.adapts {
        report.warn(pointer, rule, format!("{what}; {otherwise}"));
    } else {
        report.refuse(pointer, rule, what);
    }
}

/// A version or a tag as it is served.
pub(super) fn cleaned(label: &str) -> Cow<'_, str> {
    clean(label, MAX_LABEL)
}

/// A title as it is served.
pub(super) fn cleaned_title(title: &str) -> Cow<'_, str> {
    clean(title, MAX_TITLE)
}

fn clean(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most && text.chars().all(is_seen) {
        return Cow::Borrowed(text);
    }
    one_line(text).chars().filter(|c| is_seen(*c)).take(most).collect()
}

/// Scripts need the joiners, and symbols the variation selectors.
fn is_seen(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}') || !(c.is_control() || is_hidden(c))
}
