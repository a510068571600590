//! The checked request of a discovery.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{proto::v1::StartDiscoveryRequest, tools::Profiles};
use toolwire_contract::Refusal;
use toolwire_server::service::request::refuse;

/// Default and maximum number of candidates.
const DEFAULT_CANDIDATES: u32 = 5;
const MAX_CANDIDATES: u32 = 10;

/// Maximum length of the name of a screen, in characters.
const MAX_NAME_LENGTH: usize = 64;

/// A request that was checked.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) max_candidates: usize,
    pub(super) screen_id: Option<String>,
    pub(super) profile: Profile,
    pub(super) sources: Vec<IdeaSource>,
}

/// The rules to hold candidates against, by name; without a name those of the tool's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) wait_zone: Option<String>,
    pub(super) forbidden: Option<String>,
}

/// Where ideas come from, in the order in which they are browsed.
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
    pub(super) fn read(message: &StartDiscoveryRequest, profiles: &Profiles) -> Result<Self, Refusal> {
        let max_candidates = match message.max_candidates {
            0 => DEFAULT_CANDIDATES,
            few if few <= MAX_CANDIDATES => few,
            _ => {
                return Err(refuse(
                    "max_candidates",
                    "maximum",
                    &format!("must be at most {MAX_CANDIDATES}"),
                ));
            }
        };
        let mut sources: Vec<IdeaSource> = Vec::new();
        for word in &message.sources {
            let source = word.parse().map_err(|_| {
                let known: Vec<_> = IdeaSource::VARIANTS.iter().map(IdeaSource::into_str).collect();
                refuse("sources", "enum", &format!("must be some of: {}", known.join(", ")))
            })?;
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        if sources.is_empty() {
            sources = IdeaSource::VARIANTS.to_vec();
        }
        Ok(Self {
            max_candidates: max_candidates as usize,
            screen_id: parse_name("screen_id", &message.screen_id)?,
            profile: Profile::read(&message.profile, profiles)?,
            sources,
        })
    }
}

impl Profile {
    /// The profile of a name, for each tool that has it.
    fn read(name: &str, profiles: &Profiles) -> Result<Self, Refusal> {
        let of = |has: bool| has.then(|| name.to_owned());
        let profile =
            Self { wait_zone: of(profiles.has_wait_zone(name)), forbidden: of(profiles.has_forbidden(name)) };
        if name.is_empty() || profile != Self::default() {
            return Ok(profile);
        }
        let known: Vec<_> = profiles.names().into_iter().collect();
        Err(refuse("profile", "enum", &format!("must be one of: {}", known.join(", "))))
    }
}

/// A name; none if it is empty. Whether it exists is checked by the tool.
fn parse_name(field: &str, text: &str) -> Result<Option<String>, Refusal> {
    if text.chars().count() > MAX_NAME_LENGTH {
        return Err(refuse(field, "max_length", &format!("must have at most {MAX_NAME_LENGTH} characters")));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}
