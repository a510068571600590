//! The names that a provider may own, by its setting `tools`.

use toolwire_config::ToolPattern;
use toolwire_providers::offer::Problem;

/// Refuses a name that none of the patterns matches.
pub(super) fn refuse_name(patterns: &[ToolPattern], name: &str) -> Result<(), Problem> {
    if patterns.iter().any(|pattern| pattern.matches(name)) {
        return Ok(());
    }
    let allowed = patterns.iter().map(ToolPattern::as_str).collect::<Vec<_>>().join(", ");
    let text = format!("the provider may not own `{name}`, by its setting `tools`; allowed are: {allowed}");
    Err(Problem::new("/name", "not-allowed", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_the_provider_may_not_own_is_refused() {
        let patterns = ["shop_*".to_owned().try_into().expect("a pattern")];
        let refused = refuse_name(&patterns, "bank_delete").expect_err("refused");
        assert_eq!((refused.pointer.as_str(), refused.rule), ("/name", "not-allowed"));
        assert_eq!(refuse_name(&patterns, "shop_delete"), Ok(()));
    }
}
