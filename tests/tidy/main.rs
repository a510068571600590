//! The house rules that a compiler does not check. Needs nothing but the tree.
//!
//! Each test reads the repository, applies one rule and allows what `exceptions.rs` lists. `seen_failing.rs` tries the
//! rules on small trees.

mod exceptions;
mod findings;
mod names;
mod reading;
mod rules;
mod seen_failing;
mod syntax;
mod tree;

use findings::assert_only;
use reading::Crate;
use rules::{
    circles, commands, engines, files, lengths, links, origins, outside, plain, schemas, walls, words,
};
use tree::Tree;

#[test]
fn every_file_begins_by_saying_what_it_is() {
    assert_only(&[], &files::silent(&Tree::of_the_repository()));
}

#[test]
fn no_file_is_a_mod_rs() {
    assert_only(&[], &files::mod_files(&Tree::of_the_repository()));
}

#[test]
fn no_file_is_named_by_a_participle() {
    assert_only(&[], &files::named_by_participles(&Tree::of_the_repository()));
}

#[test]
fn no_file_is_too_long() {
    let longer = exceptions::TOO_LONG.iter().map(|(file, _reason)| *file).collect::<Vec<_>>();
    assert_only(&longer, &lengths::too_long(&Tree::of_the_repository()));
}

#[test]
fn the_planner_keeps_to_its_budget() {
    assert_only(&[], &lengths::over_budget(&Tree::of_the_repository()));
}

#[test]
fn no_module_stands_in_a_circle() {
    let tree = Tree::of_the_repository();
    let crates = tree.crates().into_iter().map(|folder| Crate::read(&tree, folder));
    let found = crates.flat_map(|one| circles::in_circles(&one)).collect::<Vec<_>>();
    assert_only(exceptions::IN_CIRCLES, &found);
}

#[test]
fn comments_are_idiomatic() {
    let found = plain::unidiomatic(&Tree::of_the_repository());
    assert_only(exceptions::NOT_YET_IDIOMATIC, &plain::by_folder(found, exceptions::NOT_YET_IDIOMATIC));
}

#[test]
fn no_doc_comment_only_repeats_a_name() {
    let found = plain::repeated_names(&Tree::of_the_repository());
    assert_only(exceptions::REPEATS_NAMES, &plain::by_folder(found, exceptions::REPEATS_NAMES));
}

#[test]
fn no_text_of_a_call_names_a_command() {
    assert_only(&[], &commands::in_texts(&Tree::of_the_repository()));
}

#[test]
fn no_comment_is_too_wide() {
    assert_only(exceptions::WIDE_COMMENTS, &plain::wide_comments(&Tree::of_the_repository()));
}

#[test]
fn no_specification_is_named_by_its_number() {
    assert_only(&[], &origins::numbered(&Tree::of_the_repository()));
}

#[test]
fn every_link_leads_to_a_page_and_a_heading() {
    assert_only(&[], &links::broken(&Tree::of_the_repository()));
}

#[test]
fn every_page_is_in_the_index() {
    assert_only(&[], &links::not_in_the_index(&Tree::of_the_repository()));
}

#[test]
fn the_platform_names_no_domain() {
    assert_only(exceptions::NAMES_A_DOMAIN, &words::of_domains(&Tree::of_the_repository()));
}

#[test]
fn no_crate_depends_on_what_stands_behind_a_wall() {
    assert_only(&[], &walls::breached(&Tree::of_the_repository()));
}

#[test]
fn a_source_holds_text_from_outside_only_in_types_that_make_it_safe() {
    let ours = exceptions::OURS.iter().map(|(field, _reason)| *field).collect::<Vec<_>>();
    assert_only(&ours, &outside::bare(&Tree::of_the_repository()));
}

#[test]
fn a_statement_for_one_engine_stands_in_the_dialect() {
    assert_only(&[], &engines::of_one_only(&Tree::of_the_repository()));
}

#[test]
fn only_one_crate_runs_schemas() {
    assert_only(&[], &schemas::run_elsewhere(&Tree::of_the_repository()));
}
