//! The ids of users and groups of issuers. No two claims have one id, and the configuration of an issuer changes none.
//!
//! A user is `name:claim` and a group `name/claim`. A claim that fits into no id is `name:sha256-…`, and so is one
//! that begins like such an id itself.

use toolwire_base::digest::Digest;
use toolwire_tool::context::UserId;

/// What stands for a claim that fits into no id begins with this.
const HASHED: &str = "sha256-";

/// The user of an issuer that a claim names.
pub fn user_id(issuer: &str, claim: &str) -> UserId {
    id(issuer, ':', claim)
}

/// The group of an issuer that a claim names.
pub fn group_id(issuer: &str, claim: &str) -> String {
    id(issuer, '/', claim).as_str().to_owned()
}

/// The user of an issuer that a person names: by the claim, or by what stands for it in records.
pub fn written_user_id(issuer: &str, text: &str) -> UserId {
    written_id(issuer, ':', text)
}

/// The group of an issuer that a person names in the same ways.
pub fn written_group_id(issuer: &str, text: &str) -> String {
    written_id(issuer, '/', text).as_str().to_owned()
}

fn written_id(issuer: &str, separator: char, text: &str) -> UserId {
    let is_hashed = text.strip_prefix(HASHED).and_then(Digest::from_hex).is_some();
    let as_it_is = || format!("{issuer}{separator}{text}").parse().ok();
    is_hashed.then(as_it_is).flatten().unwrap_or_else(|| id(issuer, separator, text))
}

fn id(issuer: &str, separator: char, claim: &str) -> UserId {
    let plain = || format!("{issuer}{separator}{claim}").parse().ok();
    let may_be_plain = !claim.is_empty() && !claim.starts_with(HASHED);
    may_be_plain.then(plain).flatten().unwrap_or_else(|| {
        let digest = Digest::of_bytes(claim.as_bytes());
        format!("{issuer}{separator}{HASHED}{digest}")
            .parse()
            .expect("the name of an issuer is short and ASCII")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_claim_that_fits_into_no_id_is_hashed() {
        assert_eq!(user_id("corp", "8f2c").as_str(), "corp:8f2c");
        assert_eq!(group_id("corp", "support"), "corp/support");
        for odd in ["", "a b", "pаypal", "naïve", &"x".repeat(124), "sha256-1", "a\u{7f}"] {
            let id = user_id("corp", odd);
            assert_eq!(id.as_str().len(), "corp:sha256-".len() + 64, "{odd:?}");
            assert_eq!(id.as_str(), group_id("corp", odd).replacen('/', ":", 1), "{odd:?}");
        }
        assert_eq!(user_id("corp", &"x".repeat(123)).as_str().len(), 128);
    }

    #[test]
    fn people_write_a_claim_or_what_stands_for_it() {
        for claim in ["8f2c", "a b", "", "sha256-", "sha256-1"] {
            let id = user_id("corp", claim);
            assert_eq!(written_user_id("corp", claim), id, "{claim:?}");
            assert_eq!(written_user_id("corp", id.as_str().trim_start_matches("corp:")), id, "{claim:?}");
        }
        let group = group_id("corp", "Domain Users");
        assert_eq!(written_group_id("corp", group.trim_start_matches("corp/")), group);
    }

    proptest! {
        #[test]
        fn two_claims_have_two_ids(
            (left, right) in ("(sha256-)?\\PC{0,140}", "(sha256-)?\\PC{0,140}"),
            (first, second) in ("[a-z][a-z0-9_-]{0,31}", "[a-z][a-z0-9_-]{0,31}"),
        ) {
            prop_assert_eq!(user_id(&first, &left) == user_id(&second, &right), first == second && left == right);
            prop_assert_ne!(user_id(&first, &left).as_str().to_owned(), group_id(&second, &right));
            let hashed = user_id(&first, &left).as_str().split_once(':').unwrap().1.to_owned();
            prop_assert_eq!(user_id(&first, &hashed) == user_id(&first, &left), hashed == left);
        }
    }
}
