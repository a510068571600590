//! What a discovery is asked, checked.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::proto::v1::StartDiscoveryRequest;
use toolwire_contract::Refusal;
use toolwire_server::service::request::refuse;

/// Default and maximum number of candidates.
const USUAL: u32 = 5;
const MOST: u32 = 10;

/// The longest name of a screen or a profile, in characters.
const LONGEST: usize = 64;

/// What a discovery is asked.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) max_candidates: usize,
    pub(super) screen_id: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) sources: Vec<IdeaSource>,
}

/// Where ideas come from, in the order in which they are browsed (spec 004 §4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum IdeaSource {
    Watchlist,
    Screener,
    News,
    Reddit,
    Valuepickr,
}

impl Request {
    pub(super) fn read(message: &StartDiscoveryRequest) -> Result<Self, Refusal> {
        let max_candidates = match message.max_candidates {
            0 => USUAL,
            few if few <= MOST => few,
            _ => return Err(refuse("max_candidates", "maximum", &format!("must be at most {MOST}"))),
        };
        let mut sources: Vec<IdeaSource> = Vec::new();
        for word in &message.sources {
            let place = word.parse().map_err(|_| {
                let known: Vec<_> = IdeaSource::VARIANTS.iter().map(IdeaSource::into_str).collect();
                refuse("sources", "enum", &format!("must be some of: {}", known.join(", ")))
            })?;
            if !sources.contains(&place) {
                sources.push(place);
            }
        }
        if sources.is_empty() {
            sources = IdeaSource::VARIANTS.to_vec();
        }
        Ok(Self {
            max_candidates: max_candidates as usize,
            screen_id: parse_name("screen_id", &message.screen_id)?,
            profile: parse_name("profile", &message.profile)?,
            sources,
        })
    }
}

/// A name; none if it is empty. Whether there is one of that name is for the tool to say.
fn parse_name(field: &str, text: &str) -> Result<Option<String>, Refusal> {
    if text.chars().count() > LONGEST {
        return Err(refuse(field, "max_length", &format!("must have at most {LONGEST} characters")));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}
