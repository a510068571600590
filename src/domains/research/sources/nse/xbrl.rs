//! The XBRL of a shareholding: how many shares each kind of holder has.
//!
//! A kind that the document does not state is an error or `None`, never 0.

use roxmltree::{Document, Node};

use crate::upstream::http::Failure;

/// Numbers of shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shares {
    pub(super) total: f64,
    pub(super) fii: f64,
    pub(super) dii: f64,
    pub(super) promoters: Option<f64>,
}

/// The numbers of shares of a document.
pub(super) fn parse(body: &[u8]) -> Result<Shares, Failure> {
    let text = str::from_utf8(body).map_err(|_| Failure::malformed("XBRL that is not UTF-8"))?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let document = Document::parse(text).map_err(|error| Failure::malformed(format!("not XBRL: {error}")))?;
    let required = |kind: &str| {
        let shares = shares(&document, kind)?;
        shares.ok_or_else(|| Failure::malformed(format!("no number of shares of {kind}")))
    };
    let total = required("ShareholdingPattern")?;
    if total <= 0.0 {
        return Err(Failure::malformed("a company without shares"));
    }
    Ok(Shares {
        total,
        fii: required("InstitutionsForeign")?,
        dii: required("InstitutionsDomestic")?,
        promoters: shares(&document, "ShareholdingOfPromoterAndPromoterGroup")?,
    })
}

/// The number of shares of a kind of holder.
fn shares(document: &Document<'_>, kind: &str) -> Result<Option<f64>, Failure> {
    let Some(id) = context(document, kind) else { return Ok(None) };
    let fact = document
        .descendants()
        .find(|node| node.tag_name().name() == "NumberOfShares" && node.attribute("contextRef") == Some(id));
    let Some(fact) = fact else { return Ok(None) };
    let number = fact.text().unwrap_or_default().trim().parse().ok();
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.map(Some).ok_or_else(|| Failure::malformed(format!("a number of shares of {kind} that is none")))
}

/// The context of a kind of holder: by its member, or by its own name where it has none (`…_ContextI`, before 2025
/// `…I`).
fn context<'a>(document: &'a Document<'_>, kind: &str) -> Option<&'a str> {
    let mut contexts = document.descendants().filter(|node| node.tag_name().name() == "context");
    contexts.find_map(|context| {
        let id = context.attribute("id")?;
        let is_named = id.strip_suffix("_ContextI").or_else(|| id.strip_suffix('I')) == Some(kind);
        (is_named || is_member(context, kind)).then_some(id)
    })
}

/// Whether the context is of the kind as a whole: a second member would single out one holder of it.
fn is_member(context: Node<'_, '_>, kind: &str) -> bool {
    let mut members = context.descendants().filter(|node| node.tag_name().name() == "explicitMember");
    let (Some(member), None) = (members.next(), members.next()) else { return false };
    let name = member.text().unwrap_or_default().trim();
    let name = name.rsplit_once(':').map_or(name, |(_, local)| local);
    name.strip_suffix("Member").unwrap_or(name) == kind
}
