//! The media types that a client takes, by its `Accept` header (RFC 9110 §12.5.1).
//!
//! The most specific range that matches a type decides on it, and a weight of 0 excludes it. A client without the
//! header takes every type. Not here: which of several types is sent; weights are not compared.

use mediatype::{MediaType, MediaTypeList, Name, ReadParams, names};

/// The ranges of a request.
#[derive(Debug)]
pub struct Accept<'a>(Vec<MediaType<'a>>);

impl<'a> Accept<'a> {
    /// Reads all fields of the header. A range that is malformed is skipped.
    pub fn read(fields: impl Iterator<Item = &'a str>) -> Self {
        Self(fields.flat_map(MediaTypeList::new).filter_map(Result::ok).collect())
    }

    /// Whether the client takes a type such as `application/json`.
    pub fn takes(&self, media_type: &str) -> bool {
        let Ok(wanted) = MediaType::parse(media_type) else { return false };
        let matching = self.0.iter().filter_map(|range| Some((specificity(range, &wanted)?, range)));
        let decisive = matching.max_by_key(|(specificity, _)| *specificity);
        self.0.is_empty() || decisive.is_some_and(|(_, range)| !is_excluded(range))
    }
}

/// How closely a range describes a type; `None` if it does not match it.
fn specificity(range: &MediaType<'_>, wanted: &MediaType<'_>) -> Option<u8> {
    let is_any = |name: Name<'_>| name == names::_STAR;
    match (range.ty == wanted.ty, range.subty == wanted.subty) {
        (true, true) => Some(2),
        (true, false) if is_any(range.subty) => Some(1),
        _ if is_any(range.ty) && is_any(range.subty) => Some(0),
        _ => None,
    }
}

/// Whether a range has a weight of 0. A weight that is no number is none.
fn is_excluded(range: &MediaType<'_>) -> bool {
    let weight = range.get_param(names::Q).and_then(|weight| weight.as_str().parse::<f32>().ok());
    weight.is_some_and(|weight| weight <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(fields: &[&str]) -> (bool, bool) {
        let accept = Accept::read(fields.iter().copied());
        (accept.takes("application/json"), accept.takes("text/event-stream"))
    }

    #[test]
    fn ranges_weights_and_fields_are_read() {
        for both in [
            &[][..],
            &[""],
            &["application/json, text/event-stream"],
            &["application/json", "text/event-stream"],
            &["Application/JSON,Text/Event-Stream"],
            &["application/json;q=1, text/event-stream; q=0.9"],
            &["application/*, text/*"],
            &["*/*"],
            &["text/html, */*;q=0.1"],
            &["application/json;profile=\"a,b\", */*"],
            &["application/*;q=0, application/json, text/event-stream"],
        ] {
            assert_eq!(takes(both), (true, true), "{both:?}");
        }
        for json in [
            &["application/json"][..],
            &["*/*, text/event-stream;q=0"],
            &["*/*, text/*;q=0.000"],
            &["application/*, image/png"],
        ] {
            assert_eq!(takes(json), (true, false), "{json:?}");
        }
        for neither in [&["text/html"][..], &["image/*"], &["*/*;q=0"], &["application/json;q=0, text/plain"]]
        {
            assert_eq!(takes(neither), (false, false), "{neither:?}");
        }
    }
}
