//! Validation of descriptions, reasons and tags.

use toolwire_contract::DocumentRefusal;

/// Maximum characters of a description and of a reason.
const MAX_CHARS: usize = 1_000;

/// Maximum number of tags, and maximum bytes of one.
const MAX_TAGS: usize = 32;
const MAX_TAG_BYTES: usize = 64;

pub(super) fn check_length(field: &str, text: &str) -> Result<(), DocumentRefusal> {
    if text.chars().count() > MAX_CHARS {
        let what = format!("must have at most {MAX_CHARS} characters");
        return Err(DocumentRefusal::invalid(field, "max_length", &what));
    }
    Ok(())
}

/// Validates and normalises tags: lower case, sorted, without duplicates.
pub(super) fn tags(tags: &[String]) -> Result<Vec<String>, DocumentRefusal> {
    if tags.len() > MAX_TAGS {
        let what = format!("must have at most {MAX_TAGS} elements");
        return Err(DocumentRefusal::invalid("tags", "max_items", &what));
    }
    let mut normalised: Vec<_> = tags.iter().map(|tag| tag.trim().to_lowercase()).collect();
    let is_good =
        |tag: &String| (1..=MAX_TAG_BYTES).contains(&tag.len()) && !tag.chars().any(char::is_control);
    if !normalised.iter().all(is_good) {
        let what = format!("must have 1 to {MAX_TAG_BYTES} bytes each, and no control characters");
        return Err(DocumentRefusal::invalid("tags", "format", &what));
    }
    normalised.sort();
    normalised.dedup();
    Ok(normalised)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_kept_in_one_form() {
        let of = |given: &[&str]| tags(&given.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["Q3", " analysis ", "q3"]).unwrap(), ["analysis", "q3"]);
        for bad in [&[""][..], &[" "], &["a\nb"], &["x".repeat(65).as_str()], &["a"; 33]] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
    }
}
