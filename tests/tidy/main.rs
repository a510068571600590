//! The house rules that a compiler does not check. Needs nothing but the tree.
//!
//! Each test reads the repository, applies one rule and allows what `exceptions.rs` lists. `seen_failing.rs` tries the
//! rules on small trees.

mod edges;
mod exceptions;
mod findings;
mod names;
mod reading;
mod rules;
mod seen_failing;
mod syntax;
mod tree;

use std::sync::LazyLock;

use findings::assert_only;
use reading::Crate;
use rules::{circles, files, lengths, outside, plain, rooms, words};
use tree::Tree;

static CRATE: LazyLock<Crate> = LazyLock::new(|| Crate::read(&Tree::of_the_repository()));

#[test]
fn every_file_begins_by_saying_what_it_is() {
    assert_only(&[], &files::silent(&Tree::of_the_repository()));
}

#[test]
fn no_file_is_a_mod_rs() {
    assert_only(&[], &files::named_mod(&Tree::of_the_repository()));
}

#[test]
fn no_file_is_too_long() {
    let longer = exceptions::TOO_LONG.iter().map(|(file, _reason)| *file).collect::<Vec<_>>();
    assert_only(&longer, &lengths::too_long(&Tree::of_the_repository()));
}

#[test]
fn every_room_has_its_place_in_the_house() {
    assert_only(&[], &rooms::unknown(&Tree::of_the_repository()));
}

#[test]
fn imports_go_only_downwards() {
    assert_only(exceptions::UPWARD, &rooms::upward(&CRATE));
}

#[test]
fn no_room_stands_in_a_circle() {
    assert_only(exceptions::ROOMS_IN_CIRCLES, &rooms::in_circles(&CRATE));
}

#[test]
fn no_file_stands_in_a_circle_within_its_room() {
    assert_only(exceptions::FILES_IN_CIRCLES, &circles::in_circles(&CRATE));
}

#[test]
fn comments_and_texts_are_in_plain_words() {
    assert_only(exceptions::RIDDLES, &plain::riddles(&Tree::of_the_repository()));
}

#[test]
fn no_comment_is_too_wide() {
    assert_only(exceptions::WIDE_COMMENTS, &plain::wide_comments(&Tree::of_the_repository()));
}

#[test]
fn the_platform_names_no_domain() {
    assert_only(exceptions::NAMES_A_DOMAIN, &words::of_domains(&Tree::of_the_repository()));
}

#[test]
fn a_source_holds_text_from_outside_only_in_types_that_make_it_safe() {
    let ours = exceptions::OURS.iter().map(|(field, _reason)| *field).collect::<Vec<_>>();
    assert_only(&ours, &outside::bare(&Tree::of_the_repository()));
}
