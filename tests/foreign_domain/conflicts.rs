//! What two domains both take is refused at start, with the names of both.

use std::{any::type_name, sync::Arc};

use toolwire::{
    base::files::Embedded,
    config::{self, Environment, Reader, Section, Setting, Sources},
    server::{
        app::{self, App},
        domain::{Domain, Opened, Opening},
    },
    tool::{Tool, context::Services, erase},
};

use crate::foreign_domain::{
    proto::{self, DESCRIPTORS},
    server::config,
    toys::{MANIFESTS, StackBlocks, service, toy},
};

struct Shelf;

/// What start-up says of the toys beside another domain.
#[track_caller]
fn refusal(other: Domain) -> String {
    let state = tempfile::tempdir().unwrap();
    App::build(&config("", &state), &[toy(), other]).expect_err("a conflict").to_string()
}

#[test]
fn the_same_domain_twice_is_refused() {
    let error = refusal(toy());
    assert!(error.contains("two domains are named toy"), "{error}");
}

#[test]
fn a_tool_of_another_domain_is_refused() {
    let error = refusal(Domain { tools: vec![erase(StackBlocks)], ..Domain::new("blocks") });
    assert_eq!(error, "blocks: both toy and blocks offer the tool stack_blocks; rename one [duplicate-tool]");
}

#[test]
fn a_tool_listed_twice_is_refused() {
    let state = tempfile::tempdir().unwrap();
    let blocks = Domain { tools: vec![erase(StackBlocks), erase(StackBlocks)], ..Domain::new("blocks") };
    let error = App::build(&config("", &state), &[blocks]).expect_err("a conflict").to_string();
    assert_eq!(error, "blocks: blocks lists the tool stack_blocks twice; remove one [duplicate-tool]");
}

#[test]
fn a_service_of_tools_that_another_domain_offers_is_refused() {
    let open = |_: &Opening<'_>| {
        Ok(Opened { services: Services::default().with(Arc::new(Shelf)), ..Opened::default() })
    };
    let state = tempfile::tempdir().unwrap();
    let [one, two] = ["one", "two"].map(|name| Domain { open: Box::new(open), ..Domain::new(name) });
    let error = App::build(&config("", &state), &[toy(), one, two]).expect_err("a conflict").to_string();
    assert_eq!(error, format!("both one and two offer the service {}", type_name::<Shelf>()));
}

#[test]
fn a_tool_without_a_manifest_is_named_and_not_offered() {
    let state = tempfile::tempdir().unwrap();
    let half = Domain { data: Embedded::manifests(&MANIFESTS, [StackBlocks::NAME]), ..toy() };
    let app = App::build(&config("", &state), &[half]).unwrap();
    assert_eq!(&*app.undeclared, ["list_toys"]);
}

#[test]
fn a_data_file_of_another_domain_is_refused() {
    let error = refusal(Domain { data: toy().data, ..Domain::new("blocks") });
    assert!(error.contains("the domain toy and the domain blocks both have the data file tools/"), "{error}");
}

#[test]
fn a_service_of_another_domain_is_refused() {
    let open = |_: &Opening<'_>| Ok(Opened { grpc: vec![service()], ..Opened::default() });
    let error = refusal(Domain { open: Box::new(open), ..Domain::new("blocks") });
    assert_eq!(error, "both toy and blocks offer the gRPC service toy.v1.ToyService; rename one of the two");
}

#[test]
fn a_message_of_another_domain_is_refused() {
    let set: &'static [u8] = proto::compiled("blocks/v1/blocks.proto").leak();
    let error = refusal(Domain { descriptors: set, ..Domain::new("blocks") });
    let expected = "`toy.v1.StackBlocksOutput` is defined by toy and again by blocks";
    assert!(error.contains(expected), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn a_domain_may_know_the_messages_of_another() {
    let state = tempfile::tempdir().unwrap();
    let friend = Domain { descriptors: &DESCRIPTORS, ..Domain::new("friend") };
    assert!(App::build(&config("", &state), &[toy(), friend]).is_ok());
}

#[test]
fn a_setting_of_another_domain_is_refused() {
    let read = |reader: &mut Reader| reader.value(Setting::new("toy.block_cm", "BLOCKS_CM"), 1_u32);
    let blocks = Domain { settings: vec![Section::new(read)], ..Domain::new("blocks") };
    let sources = Sources { environment: Environment::default(), ..Sources::default() };
    let error = config::load(&sources, &app::sections(&[toy(), blocks])).unwrap_err().to_string();
    assert!(error.contains("the domain toy and the domain blocks"), "{error}");
    assert!(error.contains("toy.block_cm"), "{error}");
}
