//! The XBRL of a shareholding: what share of a company each kind of holder has, as the filing states it.
//!
//! Filings of 2025 and later state fractions, some of that year percentages; where a kind is counted only, its share is
//! computed. Shares that custodians hold for depository receipts are not part of the whole (SCRR 1957: A + B + C2). Not
//! here: what it means that a kind is not stated.

use std::collections::HashMap;

use roxmltree::{Document, Node};

use crate::sources::attributes;
use toolwire_sources::upstream::http::Failure;

/// Shares in percent of the whole; `None` for a kind that the document does not state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shares {
    pub(super) promoters: Option<f64>,
    pub(super) public: Option<f64>,
    pub(super) trusts: Option<f64>,
    pub(super) fii: Option<f64>,
    pub(super) dii: Option<f64>,
    pub(super) government: Option<f64>,
    pub(super) non_institutions: Option<f64>,
}

/// Maximum number of declarations of namespaces, more than any filing has: the parser copies those in scope into each
/// element.
const MAX_NAMESPACES: usize = 256;

const COUNT: &str = "NumberOfShares";
const SHARE: &str = "ShareholdingAsAPercentageOfTotalNumberOfShares";

const WHOLE: &str = "ShareholdingPattern";
const PROMOTERS: &str = "ShareholdingOfPromoterAndPromoterGroup";
const PUBLIC: &str = "PublicShareholding";
const CUSTODIAN: &str = "CustodianOrDRHolder";

/// A fraction may exceed 1 by what rounding adds, no more.
const MAX_FRACTION: f64 = 1.5;

pub(super) fn parse(text: &str) -> Result<Shares, Failure> {
    if attributes::max_per_tag(text) > attributes::MAX_PER_TAG
        || text.matches("xmlns").count() > MAX_NAMESPACES
    {
        return Err(Failure::malformed("more attributes in a tag, or more namespaces, than are read"));
    }
    let document = Document::parse(text).map_err(|error| Failure::malformed(format!("not XBRL: {error}")))?;
    let facts = Facts::of(&document)?;
    let scale = facts.scale();
    let whole = facts.whole()?;
    let share = |kind: &str| match facts.number(SHARE, kind) {
        Some(stated) => Some(stated * scale),
        None => Some(100.0 * facts.number(COUNT, kind)? / whole?),
    };
    let shares = Shares {
        promoters: share(PROMOTERS),
        public: share(PUBLIC),
        trusts: share("EmployeeBenefitsTrusts"),
        fii: share("InstitutionsForeign"),
        dii: share("InstitutionsDomestic"),
        // The taxonomy has it in three spellings.
        government: ["Governments", "Goverments", "CentralGovernmentOrStateGovernments"]
            .into_iter()
            .find_map(share),
        non_institutions: share("NonInstitutions"),
    };
    if shares == Shares::default() {
        return Err(Failure::malformed("a document that states no holder's shares"));
    }
    Ok(shares)
}

/// The facts of whole kinds of holders, by name and kind.
struct Facts<'a>(HashMap<(&'static str, &'a str), f64>);

impl<'a> Facts<'a> {
    fn of(document: &'a Document<'_>) -> Result<Self, Failure> {
        // Nothing holds a context but the root (XBRL 2.1 §4.7): of many within each other each would be read by all.
        let contexts = document.root_element().children();
        let contexts = contexts.filter(|node| node.tag_name().name() == "context");
        let kinds: HashMap<_, _> = contexts.filter_map(|it| Some((it.attribute("id")?, kind(it)?))).collect();
        let mut facts = HashMap::new();
        for node in document.descendants() {
            let Some(name) = [COUNT, SHARE].into_iter().find(|name| *name == node.tag_name().name()) else {
                continue;
            };
            let kind = node.attribute("contextRef").and_then(|id| kinds.get(id));
            let (Some(kind), text) = (kind, node.text().unwrap_or_default().trim()) else { continue };
            if !text.is_empty() {
                facts.entry((name, *kind)).or_insert(number(text, kind)?);
            }
        }
        Ok(Self(facts))
    }

    fn number(&self, name: &'static str, kind: &str) -> Option<f64> {
        let mut found = self.0.iter().filter(|((of, who), _)| *of == name && *who == kind);
        found.next().map(|(_, number)| *number)
    }

    /// What a stated share is to be multiplied with: it is a fraction or a percentage throughout the document.
    fn scale(&self) -> f64 {
        let stated = |kind| self.number(SHARE, kind);
        let whole = stated(WHOLE).or_else(|| Some(stated(PROMOTERS).unwrap_or_default() + stated(PUBLIC)?));
        let all = self.0.iter().filter(|((name, _), _)| *name == SHARE).map(|(_, share)| *share);
        if whole.unwrap_or_else(|| all.fold(0.0, f64::max)) <= MAX_FRACTION { 100.0 } else { 1.0 }
    }

    /// All shares but those behind depository receipts; `None` if they are not counted.
    fn whole(&self) -> Result<Option<f64>, Failure> {
        let Some(all) = self.number(COUNT, WHOLE) else { return Ok(None) };
        let whole = all - self.number(COUNT, CUSTODIAN).unwrap_or_default();
        if whole > 0.0 { Ok(Some(whole)) } else { Err(Failure::malformed("a company without shares")) }
    }
}

fn number(text: &str, kind: &str) -> Result<f64, Failure> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| Failure::malformed(format!("a share of {} that is not a number", cut(kind))))
}

fn cut(kind: &str) -> &str {
    kind.char_indices().nth(64).map_or(kind, |(end, _)| &kind[..end])
}

/// The kind of holder that a context is of as a whole: by its member, or by its own name where it has none
/// (`…_ContextI`, before 2025 `…I`). A second member, or a typed one, would single out one holder of it.
fn kind<'a>(context: Node<'a, '_>) -> Option<&'a str> {
    let members = |name| context.descendants().filter(move |node| node.tag_name().name() == name);
    if members("typedMember").next().is_some() {
        return None;
    }
    let mut explicit = members("explicitMember");
    match (explicit.next(), explicit.next()) {
        (Some(member), None) => {
            let name = member.text().unwrap_or_default().trim();
            let name = name.rsplit_once(':').map_or(name, |(_, local)| local);
            Some(name.strip_suffix("Member").unwrap_or(name))
        }
        (None, _) => {
            let id = context.attribute("id")?;
            id.strip_suffix("_ContextI").or_else(|| id.strip_suffix('I'))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_a_parser_more_than_its_length_is_refused_before_it_is_parsed() {
        let attributes = (0..100_000).map(|n| format!(" a{n}=''")).collect::<Vec<_>>().concat();
        let namespaces = (0..10_000).map(|n| format!("<x xmlns:a{n}='{n}'>")).collect::<Vec<_>>().concat();
        for text in [format!("<x{attributes}/>"), namespaces + &"</x>".repeat(10_000)] {
            let failure = parse(&text).unwrap_err();
            assert!(failure.detail.contains("namespaces"), "{failure}");
        }
    }

    #[test]
    fn a_context_within_another_is_none() {
        let outer = "<context id=\"Whole\">";
        let inner = format!("<context id=\"{PROMOTERS}_ContextI\"/>");
        let fact = format!("<{SHARE} contextRef=\"{PROMOTERS}_ContextI\">0.5</{SHARE}>");
        let read = |contexts: &str| parse(&format!("<xbrl>{contexts}{fact}</xbrl>"));
        assert_eq!(read(&format!("{outer}</context>{inner}")).unwrap().promoters, Some(50.0));
        assert!(read(&format!("{outer}{inner}</context>")).is_err());
        // So that no depth costs more than its length.
        let depth = 40_000;
        let nested = format!("{}{}", outer.repeat(depth), "</context>".repeat(depth));
        assert_eq!(read(&(nested + &inner)).unwrap().promoters, Some(50.0));
    }
}
