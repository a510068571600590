//! A feed's entries: read together, or one by one where that fails, so that a broken entry costs itself and no other.
//!
//! What feeds get wrong most often is fixed first: a bare `&`, an `<rss>` that does not say its version. Not here:
//! what an entry says.

use feed_rs::{
    model::Entry,
    parser::{Builder, ParseFeedError},
};

use super::date;

/// More entries than any feed has; a reader makes texts of each.
const MAX_ENTRIES: usize = 500;
/// More than the start tag of any feed has, in bytes: it is read again with each entry that is parsed by itself.
const MAX_ROOT: usize = 4 * 1024;

pub(super) struct Entries {
    pub(super) entries: Vec<Entry>,
    /// How many could not be read, or came behind the most that are.
    pub(super) broken: usize,
}

/// Reads a feed. One without any readable entry is an error.
pub(super) fn read(feed: &str) -> Result<Entries, ParseFeedError> {
    let feed = with_version(with_escaped_ampersands(feed));
    match parse(&feed) {
        Ok(mut entries) => {
            let broken = entries.len().saturating_sub(MAX_ENTRIES);
            entries.truncate(MAX_ENTRIES);
            Ok(Entries { entries, broken })
        }
        Err(error) => one_by_one(&feed).ok_or(error),
    }
}

fn parse(feed: &str) -> Result<Vec<Entry>, ParseFeedError> {
    let parser = Builder::new().timestamp_parser(date::parse).build();
    Ok(parser.parse(feed.as_bytes())?.entries)
}

/// Reads each entry as a feed of its own. `None` if none can be read.
fn one_by_one(feed: &str) -> Option<Entries> {
    let (root, name) = root(feed).filter(|(root, _)| root.len() <= MAX_ROOT)?;
    let (tag, before, after) = match name {
        "rss" => ("item", "<channel>", "</channel></rss>"),
        "feed" => ("entry", "", "</feed>"),
        _ => return None,
    };
    let mut read = Entries { entries: Vec::new(), broken: 0 };
    let mut pieces = pieces(feed, tag);
    for piece in pieces.by_ref().take(MAX_ENTRIES) {
        match piece.map(|entry| parse(&format!("{root}{before}{entry}{after}"))) {
            Some(Ok(entries)) => read.entries.extend(entries),
            Some(Err(_)) | None => read.broken += 1,
        }
    }
    read.broken += pieces.count();
    (!read.entries.is_empty()).then_some(read)
}

/// The root's start tag, with the namespaces that it declares, and its name.
fn root(feed: &str) -> Option<(&str, &str)> {
    let starts = feed.match_indices('<').map(|(at, _)| &feed[at..]);
    let mut starts = starts.filter(|rest| rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()));
    let start = starts.next()?;
    let tag = &start[..=start.find('>')?];
    let name = tag[1..].split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next()?;
    Some((tag, name))
}

/// The elements of a name, in order; `None` for one that does not end before the next begins.
fn pieces<'a>(feed: &'a str, tag: &'a str) -> impl Iterator<Item = Option<&'a str>> {
    let (start, end) = (format!("<{tag}"), format!("</{tag}"));
    let mut rest = feed;
    std::iter::from_fn(move || {
        let piece = &rest[find(rest, &start)?..];
        let next = find(&piece[1..], &start).map_or(piece.len(), |at| at + 1);
        rest = &piece[next..];
        let ends = find(&piece[..next], &end).and_then(|at| Some(at + piece[at..next].find('>')? + 1));
        Some(ends.map(|ends| &piece[..ends]))
    })
}

/// Where a tag begins that does not stand within CDATA.
fn find(text: &str, tag: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('<')?;
        let after = text[at..].strip_prefix(tag);
        if after.is_some_and(|it| it.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))) {
            return Some(at);
        }
        from = at + cdata(&text[at..]).unwrap_or(1);
    }
}

/// How long a CDATA section is that begins here; one without an end hides the rest.
fn cdata(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("<![CDATA[")?;
    Some(inside.find("]]>").map_or(text.len(), |end| text.len() - inside.len() + end + 3))
}

/// Each `&` that begins no reference, escaped; CDATA is left as it is.
fn with_escaped_ampersands(feed: &str) -> String {
    let mut escaped = String::with_capacity(feed.len());
    let mut rest = feed;
    while let Some(at) = rest.find(['&', '<']) {
        let taken = at + cdata(&rest[at..]).unwrap_or(1);
        escaped.push_str(&rest[..taken]);
        let is_bare = rest.as_bytes()[at] == b'&' && !begins_reference(&rest[taken..]);
        rest = &rest[taken..];
        if is_bare {
            escaped.push_str("amp;");
        }
    }
    escaped + rest
}

/// `amp;`, `#38;`, `#x26;`: no name is longer than `CounterClockwiseContourIntegral`.
fn begins_reference(after: &str) -> bool {
    let Some(end) = after.bytes().take(34).position(|byte| byte == b';') else { return false };
    match &after.as_bytes()[..end] {
        [b'#', b'x' | b'X', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit),
        [b'#', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        [first, rest @ ..] => first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_alphanumeric),
        [] => false,
    }
}

/// The feed with a version that its parser knows: every `<rss>` is read as 2.0, which holds what the others have.
fn with_version(feed: String) -> String {
    let Some((tag, "rss")) = root(&feed) else { return feed };
    if ["version=\"2.0\"", "version='2.0'"].iter().any(|version| tag.contains(version)) {
        return feed;
    }
    // Of two attributes of one name the first is read.
    let named = tag.replacen("<rss", "<rss version=\"2.0\"", 1);
    feed.replacen(tag, &named, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(feed: &str) -> (Vec<String>, usize) {
        let read = read(feed).expect(feed);
        let titles = read.entries.into_iter().filter_map(|entry| Some(entry.title?.content));
        (titles.collect(), read.broken)
    }

    fn item(title: &str) -> String {
        format!("<item><title>{title}</title></item>")
    }

    #[test]
    fn a_bare_ampersand_costs_nothing() {
        let feed = format!(
            "<rss version=\"2.0\"><channel>{}{}{}{}</channel></rss>",
            item("M&M up; L&T & others"),
            item("a &amp; b &#38; c &#x26; d &nbsp; e"),
            item("<![CDATA[Q&A &amp; R&D]]>"),
            item("AT&#;T &; &é; &₹₹;"),
        );
        let (titles, broken) = titles(&feed);
        assert_eq!(titles[0], "M&M up; L&T & others");
        assert_eq!(titles[1], "a & b & c & d &nbsp; e");
        assert_eq!(titles[2], "Q&A &amp; R&D");
        assert_eq!((titles[3].as_str(), broken), ("AT&#;T &; &é; &₹₹;", 0));
    }

    #[test]
    fn an_rss_of_any_version_or_none_is_read() {
        for root in ["<rss>", "<rss version='2.0'>", "<rss version=\"2.01\">", "<rss xmlns:a=\"b\">"] {
            let feed = format!("<!-- hello -->{root}<channel>{}</channel></rss>", item("News"));
            assert_eq!(titles(&feed).0, ["News"], "{root}");
        }
    }

    #[test]
    fn a_broken_entry_costs_itself_and_no_other() {
        for broken in [
            "<item><title>Broken</titel></item>",
            "<item><title>Broken</title>",
            "<item><title>Broken <b</title></item>",
            "<item><title><![CDATA[ </item> ]]></title><x></item>",
        ] {
            let feed = format!(
                "<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\"><channel><title>T</title>\
                 {}{broken}{}</channel></rss>",
                item("One"),
                item("<![CDATA[Two <item>]]>")
            );
            assert_eq!(titles(&feed), (vec!["One".to_owned(), "Two <item>".to_owned()], 1), "{broken}");
        }
        let atom = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry><title>One</title></entry><entry></x></entry></feed>";
        assert_eq!(titles(atom), (vec!["One".to_owned()], 1));
    }

    #[test]
    fn what_a_feed_has_beyond_any_other_costs_no_more_than_its_length() {
        let broken = "<item><x></item>";
        let feed = |root: &str, items: &str| format!("{root}<channel>{items}</channel></rss>");
        let many = item("One").repeat(MAX_ENTRIES + 2);
        for (items, left_out) in [(many.clone(), 2), (many + broken, 3)] {
            let read = read(&feed("<rss>", &items)).unwrap();
            assert_eq!((read.entries.len(), read.broken), (MAX_ENTRIES, left_out));
        }
        let root = format!("<rss version=\"2.0\" a=\"{}\">", "x".repeat(MAX_ROOT));
        assert_eq!(titles(&feed(&root, &item("One"))).0, ["One"]);
        assert!(read(&feed(&root, &(item("One") + broken))).is_err());
    }

    #[test]
    fn wherever_a_feed_breaks_off_what_came_whole_is_read_and_nothing_panics() {
        let feed = format!(
            "<rss version=\"2.0\"><channel>{}{}{}</channel></rss>",
            item("One & é"),
            item("<![CDATA[Two]]>"),
            item("Three")
        );
        let first = feed.find("</item>").unwrap() + "</item>".len();
        for end in (0..feed.len()).filter(|end| feed.is_char_boundary(*end)) {
            let read = read(&feed[..end]);
            assert_eq!(read.is_ok(), end >= first, "{end}");
        }
    }
}
