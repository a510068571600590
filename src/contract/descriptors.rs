//! One pool of all descriptors: the platform's and those of the domains, whose sets are each complete in themselves.
//!
//! A file that several sets have is taken once, if they mean the same by it. Descriptors of the pool and of a domain's
//! own are never equal: compare them by full name.

use std::{collections::HashMap, sync::LazyLock};

use bytes::Bytes;
use prost::{DecodeError, Message};
use prost_reflect::{DescriptorPool, prost_types::FileDescriptorProto};

use super::{descriptor_set::EncodedSet, proto};
use toolwire_base::files::{Problem, Problems};

/// The owner of the platform's files, in a problem.
const PLATFORM: &str = "the platform";

/// The platform's descriptors, once a process.
static OF_PLATFORM: LazyLock<Merge<'static>> = LazyLock::new(|| {
    let mut merge = Merge { pool: proto::POOL.clone(), ..Merge::default() };
    for set in proto::ALL_DESCRIPTORS {
        merge.new_files(PLATFORM, set);
    }
    merge
});

/// The platform's descriptors with those of the given domains: name and encoded `FileDescriptorSet`. Fails with every
/// file and every name that two of them define differently.
pub fn pool<'a>(domains: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<DescriptorPool, Problems> {
    let mut merge: Merge<'a> = OF_PLATFORM.clone();
    for (domain, set) in domains {
        merge.add(domain, set);
    }
    if merge.problems.is_empty() { Ok(merge.pool) } else { Err(Problems(merge.problems)) }
}

#[derive(Clone, Default)]
struct Merge<'a> {
    pool: DescriptorPool,
    /// The owner of each file and the file, encoded, by its name.
    files: HashMap<String, (&'a str, Bytes)>,
    /// The owner of each message, enumeration and service, by its full name.
    names: HashMap<String, &'a str>,
    problems: Vec<Problem>,
}

/// The names of a file of descriptors: its own, and of what it defines. The rest is not decoded.
#[derive(Clone, PartialEq, Message)]
struct FileNames {
    #[prost(string, tag = "1")]
    file: String,
    #[prost(string, tag = "2")]
    package: String,
    #[prost(message, repeated, tag = "4")]
    messages: Vec<Name>,
    #[prost(message, repeated, tag = "5")]
    enums: Vec<Name>,
    #[prost(message, repeated, tag = "6")]
    services: Vec<Name>,
}

#[derive(Clone, PartialEq, Message)]
struct Name {
    #[prost(string, tag = "1")]
    name: String,
}

impl<'a> Merge<'a> {
    fn add(&mut self, owner: &'a str, set: &[u8]) {
        let new = self.new_files(owner, set);
        if let Err(error) = self.pool.decode_file_descriptor_set(new.encode_to_vec().as_slice()) {
            let text = format!("the descriptors of {owner} cannot be read: {error}");
            self.problems.push(Problem::new(owner, "bad-descriptors", text));
        }
    }

    /// The files of a set that are to be added.
    fn new_files(&mut self, owner: &'a str, set: &[u8]) -> EncodedSet {
        let mut new = EncodedSet::decode(set).unwrap_or_default();
        // What cannot be read is kept, so that the pool reports what is wrong with it.
        new.files.retain(|file| self.is_new(owner, file).unwrap_or(true));
        new
    }

    /// Whether the file is to be added: it is neither known already nor a problem.
    fn is_new(&mut self, owner: &'a str, file: &Bytes) -> Result<bool, DecodeError> {
        let defined = FileNames::decode(file.clone())?;
        if let Some((other, known)) = self.files.get(&defined.file) {
            // Protobuf's own files are compatible across versions, so that the first one will do.
            if defined.package != "google.protobuf" && !means_the_same(known, file)? {
                let text = format!("{other} and {owner} have different files of this name");
                self.problems.push(Problem::new(&defined.file, "different-file", text));
            }
            return Ok(false);
        }
        let names = defined.full_names();
        let taken = names.iter().filter_map(|name| Some((name, *self.names.get(name)?)));
        let taken: Vec<_> = taken
            .map(|(name, other)| format!("`{name}` is defined by {other} and again by {owner}"))
            .map(|text| Problem::new(&defined.file, "duplicate-definition", text))
            .collect();
        let is_new = taken.is_empty();
        self.problems.extend(taken);
        self.names.extend(names.into_iter().map(|name| (name, owner)));
        self.files.insert(defined.file, (owner, file.clone()));
        Ok(is_new)
    }
}

impl FileNames {
    /// The full names of what the file defines.
    fn full_names(&self) -> Vec<String> {
        let defined = self.messages.iter().chain(&self.enums).chain(&self.services);
        defined.map(|Name { name }| format!("{}.{name}", self.package)).collect()
    }
}

/// Whether two encoded files are the same but for what has no effect on the wire: comments, and options for generators.
fn means_the_same(one: &Bytes, other: &Bytes) -> Result<bool, DecodeError> {
    let decoded = |file: &Bytes| FileDescriptorProto::decode(file.clone()).map(without_annotations);
    Ok(one == other || decoded(one)? == decoded(other)?)
}

fn without_annotations(file: FileDescriptorProto) -> FileDescriptorProto {
    FileDescriptorProto { source_code_info: None, options: None, ..file }
}

#[cfg(test)]
mod tests {
    use prost_reflect::prost_types::{DescriptorProto, FileDescriptorSet};

    use super::*;

    fn set(file: &str, message: &str, fields: usize) -> Vec<u8> {
        let field = |number| prost_reflect::prost_types::FieldDescriptorProto {
            name: Some(format!("f{number}")),
            number: i32::try_from(number).ok(),
            label: Some(1),
            r#type: Some(9),
            ..Default::default()
        };
        let message = DescriptorProto {
            name: Some(message.to_owned()),
            field: (1..=fields).map(field).collect(),
            ..DescriptorProto::default()
        };
        let file = FileDescriptorProto {
            name: Some(file.to_owned()),
            package: Some("toy.v1".to_owned()),
            syntax: Some("proto3".to_owned()),
            message_type: vec![message],
            ..FileDescriptorProto::default()
        };
        FileDescriptorSet { file: vec![file] }.encode_to_vec()
    }

    fn problems(one: &[u8], other: &[u8]) -> Vec<String> {
        let problems = pool([("toys", one), ("stock", other)]).expect_err("a conflict");
        problems.0.iter().map(|it| format!("{} {}: {}", it.file, it.rule, it.description)).collect()
    }

    #[test]
    fn a_file_that_two_domains_share_is_taken_once() {
        let set = set("toy.proto", "M", 1);
        let pool = pool([("toys", &*set), ("stock", &*set)]).unwrap();
        assert!(pool.get_message_by_name("toy.v1.M").is_some());
        assert!(pool.get_message_by_name("toolwire.v1.ToolResult").is_some());
    }

    #[test]
    fn a_file_that_two_domains_write_differently_names_both() {
        assert_eq!(
            problems(&set("toy.proto", "M", 1), &set("toy.proto", "M", 2)),
            ["toy.proto different-file: toys and stock have different files of this name"]
        );
    }

    #[test]
    fn a_message_that_two_domains_define_names_both() {
        assert_eq!(
            problems(&set("one.proto", "M", 1), &set("other.proto", "M", 1)),
            ["other.proto duplicate-definition: `toy.v1.M` is defined by toys and again by stock"]
        );
    }

    #[test]
    fn what_is_no_descriptor_set_names_its_domain() {
        let text = problems(&[], &[10, 1, 255]).join("");
        assert!(text.contains("the descriptors of stock cannot be read"), "{text}");
    }
}
