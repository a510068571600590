//! What a table looks like at any width.

use std::time::Duration;

use super::*;

fn table<const N: usize>(rows: &[[&str; N]]) -> Table {
    Table::new(rows.iter().map(|row| row.map(ToOwned::to_owned)))
}

#[test]
fn columns_are_as_wide_as_their_widest_cell() {
    assert_eq!(table(&[["a", "x"], ["long", ""]]).render(" ", None), " a     x\n long\n");
    assert_eq!(table(&[["日本", "x"], ["abc", "y"]]).render("", None), "日本  x\nabc   y\n");
    let numbers = table(&[["AAPL", "42", "x"], ["BND", "160.5", "y"]]).with_numbers(vec![1]);
    assert_eq!(numbers.render("", None), "AAPL     42  x\nBND   160.5  y\n");
}

#[test]
fn what_does_not_fit_is_wrapped_between_words() {
    let rows = [["name", "string", "one two three four five six seven"]];
    let expected = "\
name  string  one two three four five
              six seven
";
    assert_eq!(table(&rows).render("", Some(38)), expected);
    assert_eq!(table(&rows).render("", Some(80)).lines().count(), 1);
    let rows = [["id", "a very long state of things", "words that are wrapped and wrapped"]];
    let expected = "\
id  a very long      words that are
    state of things  wrapped and
                     wrapped
";
    assert_eq!(table(&rows).with_ids(0).render("", Some(36)), expected);
}

#[test]
fn a_word_that_is_longer_than_a_line_is_broken_at_a_mark() {
    assert_eq!(wrap("at abcdefghij end", 5), ["at", "abcde", "fghij", "end"]);
    assert_eq!(wrap("tools/get_quotes.json", 12), ["tools/get_", "quotes.json"]);
    assert_eq!(wrap("日本語", 4), ["日本", "語"]);
    assert_eq!(wrap("日本語", 1), ["日本語"], "not even one character has room");
    assert_eq!(wrap("👩\u{200d}🔬👩\u{200d}🔬", 2), ["👩\u{200d}🔬", "👩\u{200d}🔬"]);
    // Were the rest measured once a line, these would take minutes.
    assert_eq!(wrap(&"x".repeat(1 << 20), 64).len(), 1 << 14);
    let marks = wrap(&"\u{301}".repeat(1 << 16), 16);
    assert_eq!(marks.concat().matches('\u{301}').count(), 1 << 16);
    assert_eq!(wrap("", 4), [""]);
    assert_eq!(wrap("    task_1 and more", 11), ["    task_1", "and more"], "what is indented stays so");
    assert_eq!(shorten("one two three", 9), "one two…");
    assert_eq!(shorten("one two three", 7), "one two…");
    assert_eq!(shorten("onetwothree", 7), "onetwot…");
    assert_eq!(shorten("at https://example.com/a", 12), "at https://e…");
    assert_eq!(shorten("日本語", 3), "日本語");
}

#[test]
fn a_narrow_terminal_does_without_what_a_reader_can_do_without() {
    let row = [
        "01a21959-8b2f-7aaa-8000-000000000000",
        "list_open_documents",
        "demo",
        "failed: RATE_LIMITED",
        "2026-11-27T23:41:20.123456Z",
        "1204 ms",
    ];
    let heading = ["CALL", "TOOL", "USER", "STATE", "CAME", "TOOK"];
    let at = |width, now: u64| {
        let table =
            table(&[row]).with_heading(heading).with_ids(0).with_short(&[4]).with_dispensable(&[2, 4]);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
        Table { now, ..table }.render("", Some(width))
    };
    let (today, tomorrow) = (1_795_823_400, 1_795_909_800);
    for (width, came, user) in
        [(130, "T23:41:20.", true), (80, " 23:41:20Z ", true), (72, " 23:41:20Z ", false), (60, "", false)]
    {
        let shown = at(width, today);
        assert!(shown.lines().all(|line| line.width() <= width), "{width}: {shown}");
        assert!(shown.contains(came) && shown.contains("USER") == user, "{width}: {shown}");
        assert_eq!(shown.contains("CAME"), !came.is_empty(), "{width}: {shown}");
        assert!(shown.contains("list_open_documents") && shown.contains("RATE_LIMITED"), "{width}: {shown}");
        assert!(shown.contains("1204 ms"), "{width}: {shown}");
    }
    assert!(at(80, tomorrow).contains("2026-11-27 "), "{}", at(80, tomorrow));
}

#[test]
fn rows_whose_columns_have_no_room_are_paragraphs() {
    let rows = [["get_symbol_performance", "awaiting_confirmation", "list_documents_of_tree"]];
    let expected = "\
get_symbol_performance
  awaiting_confirmation
  list_documents_of_tree
";
    assert_eq!(table(&rows).render("", Some(40)), expected);
    let expected = "  get_symbol_performance  awaiting_confirmation\n    list_documents_of_tree\n";
    assert_eq!(table(&rows).render("  ", Some(50)), expected);
}

#[test]
fn identifiers_are_shortened_until_two_would_be_one() {
    let rows = [
        ["01a21959-8b2f-7aaa-8000-000000000000", "the first of two calls"],
        ["01a21959-8b2f-7abb-8000-000000000000", "the second of two calls"],
    ];
    let shown = table(&rows).with_heading(["CALL", "WHAT"]).with_ids(0).render("", Some(46));
    let expected = "\
CALL               WHAT
01a21959-8b2f-7aa  the first of two calls
01a21959-8b2f-7ab  the second of two calls
";
    assert_eq!(shown, expected);
}
