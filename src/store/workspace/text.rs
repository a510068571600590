//! What people say of documents, within bounds.

use toolwire_contract::DocumentRefusal;

/// The longest description and the longest reason, in characters.
const LONGEST: usize = 1_000;

/// The most tags, and the longest one in bytes.
const MOST_TAGS: usize = 32;
const LONGEST_TAG: usize = 64;

pub(super) fn bounded(field: &str, text: &str) -> Result<(), DocumentRefusal> {
    if text.chars().count() > LONGEST {
        let what = format!("must have at most {LONGEST} characters");
        return Err(DocumentRefusal::invalid(field, "max_length", &what));
    }
    Ok(())
}

/// Tags as they are kept: in lower case, sorted, each once.
pub(super) fn tags(tags: &[String]) -> Result<Vec<String>, DocumentRefusal> {
    if tags.len() > MOST_TAGS {
        let what = format!("must have at most {MOST_TAGS} elements");
        return Err(DocumentRefusal::invalid("tags", "max_items", &what));
    }
    let mut kept: Vec<_> = tags.iter().map(|tag| tag.trim().to_lowercase()).collect();
    let is_good = |tag: &String| (1..=LONGEST_TAG).contains(&tag.len()) && !tag.chars().any(char::is_control);
    if !kept.iter().all(is_good) {
        let what = format!("must have 1 to {LONGEST_TAG} bytes each, and no control characters");
        return Err(DocumentRefusal::invalid("tags", "format", &what));
    }
    kept.sort();
    kept.dedup();
    Ok(kept)
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
