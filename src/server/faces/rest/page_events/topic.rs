//! What a page watches.

use strum::VariantArray as _;

use crate::service::request::refuse;
use toolwire_contract::Refusal;

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum Topic {
    Calls,
    Confirmations,
    Tools,
    Providers,
    Stats,
    Tasks,
}

/// The topics of a list with commas, each once, in the order of their declaration; all without a list.
pub(super) fn read(text: &str) -> Result<Vec<Topic>, Refusal> {
    if text.is_empty() {
        return Ok(Topic::VARIANTS.to_vec());
    }
    let unknown = |_| {
        let names: Vec<_> = Topic::VARIANTS.iter().map(Topic::into_str).collect();
        refuse("topics", "enum", &format!("must be of {}, with commas between them", names.join(", ")))
    };
    let mut topics = text
        .split(',')
        .map(|name| name.trim().parse().map_err(unknown))
        .collect::<Result<Vec<Topic>, _>>()?;
    // Streams that differ by the order of their topics alone share a feed.
    topics.sort_unstable();
    topics.dedup();
    Ok(topics)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_read_once_each_in_one_order() {
        assert_eq!(read("tasks, calls,tasks").unwrap(), [Topic::Calls, Topic::Tasks]);
        assert_eq!(read("").unwrap().len(), 6);
        assert!(read("calls,weather").is_err());
    }
}
