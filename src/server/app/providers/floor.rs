//! The floor of a provider: the operator has the last word over what it offers.

use toolwire_config::{Consequence, ProviderFloor, ToolPattern};
use toolwire_hosts::offer::{CheckedOffer, Problem};

/// Refuses a name that the provider may not own, and raises what is below the floor.
pub(super) fn apply(floor: &ProviderFloor, offer: &mut CheckedOffer) -> Result<(), Problem> {
    let ProviderFloor { tools, at_least, approve, untrusted, .. } = floor;
    let name = offer.name.as_str();
    let matches = |patterns: &[ToolPattern]| patterns.iter().any(|pattern| pattern.matches(name));
    if !matches(tools) {
        let allowed = tools.iter().map(ToolPattern::as_str).collect::<Vec<_>>().join(", ");
        let text =
            format!("the provider may not own `{name}`, by its setting `tools`; allowed are: {allowed}");
        return Err(Problem::new("/name", "not-allowed", text));
    }
    let must_be_approved = matches(approve);
    let manifest = &mut offer.manifest;
    let stated = manifest["consequence_level"].as_str().and_then(|it| it.parse::<Consequence>().ok());
    if let Some(least) = at_least.filter(|least| stated.is_none_or(|stated| stated < *least)) {
        manifest.insert("consequence_level".to_owned(), least.into_str().into());
    }
    if must_be_approved {
        manifest.insert("requires_confirmation".to_owned(), true.into());
    }
    if *untrusted {
        manifest.insert("untrusted".to_owned(), true.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use toolwire_contract::proto::{host::v1::Offer, v1};
    use toolwire_hosts::offer::{Strictness, check};

    use super::*;

    fn offer(name: &str, level: v1::ConsequenceLevel) -> CheckedOffer {
        let offer = Offer {
            name: name.to_owned(),
            description: "Deletes an order.".to_owned(),
            category: v1::ToolCategory::Delete.into(),
            consequence_level: level.into(),
            ..Offer::default()
        };
        check(&offer, Strictness::Strict).expect("good")
    }

    fn patterns(pattern: &str) -> Vec<ToolPattern> {
        vec![pattern.to_owned().try_into().expect("a pattern")]
    }

    #[test]
    fn a_name_that_the_provider_may_not_own_is_refused() {
        let floor = ProviderFloor { tools: patterns("shop_*"), ..ProviderFloor::default() };
        let refused =
            apply(&floor, &mut offer("bank_delete", v1::ConsequenceLevel::Low)).expect_err("refused");
        assert_eq!((refused.pointer.as_str(), refused.rule), ("/name", "not-allowed"));
        assert_eq!(apply(&floor, &mut offer("shop_delete", v1::ConsequenceLevel::Low)), Ok(()));
    }

    #[test]
    fn what_is_offered_is_raised_to_the_floor_and_never_lowered() {
        let floor = ProviderFloor {
            at_least: Some(Consequence::Medium),
            approve: patterns("shop_delete*"),
            untrusted: true,
            ..ProviderFloor::default()
        };
        for (level, expected) in [(v1::ConsequenceLevel::Low, "medium"), (v1::ConsequenceLevel::High, "high")]
        {
            let mut offer = offer("shop_delete", level);
            apply(&floor, &mut offer).expect("allowed");
            assert_eq!(offer.manifest["consequence_level"], expected);
            assert_eq!(offer.manifest["requires_confirmation"], true);
            assert_eq!(offer.manifest["untrusted"], true);
        }
        let mut other = offer("shop_list", v1::ConsequenceLevel::Low);
        apply(&floor, &mut other).expect("allowed");
        assert_eq!(other.manifest["requires_confirmation"], false);
    }
}
