//! One pool of all descriptors: the platform's and those of the domains, whose sets are each complete in themselves.
//!
//! A file that several sets have is taken once, if they mean the same by it. Descriptors of the pool and of a domain's
//! own are never equal: compare them by full name.

use std::collections::HashMap;

use prost::Message;
use prost_reflect::{DescriptorPool, prost_types::FileDescriptorProto};

use super::{
    descriptor_set::{EncodedSet, is_commented, lean},
    proto,
};
use toolwire_base::files::{Problem, Problems};

/// The owner of the platform's files, in a problem.
const PLATFORM: &str = "the platform";

/// The platform's descriptors with those of the given domains: name and encoded `FileDescriptorSet`. Fails with every
/// file and every name that two of them define differently.
pub fn pool<'a>(domains: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<DescriptorPool, Problems> {
    let mut merge = Merge::default();
    for set in proto::ALL_DESCRIPTORS {
        merge.add(PLATFORM, set);
    }
    for (domain, set) in domains {
        merge.add(domain, set);
    }
    if merge.problems.is_empty() { Ok(merge.pool) } else { Err(Problems(merge.problems)) }
}

#[derive(Default)]
struct Merge<'a> {
    pool: DescriptorPool,
    /// The owner of each file, by the file's name.
    files: HashMap<String, (&'a str, FileDescriptorProto)>,
    /// The owner of each message, enumeration and service, by its full name.
    names: HashMap<String, &'a str>,
    problems: Vec<Problem>,
}

impl<'a> Merge<'a> {
    fn add(&mut self, owner: &'a str, set: &[u8]) {
        let mut new = EncodedSet::decode(set).unwrap_or_default();
        for file in &mut new.files {
            *file = lean(file, is_commented).unwrap_or_else(|_| file.clone());
        }
        new.files.retain(|bytes| match FileDescriptorProto::decode(bytes.clone()) {
            Ok(file) => self.is_new(owner, without_annotations(file)),
            // Kept, so that the pool reports what is wrong with it.
            Err(_) => true,
        });
        if let Err(error) = self.pool.decode_file_descriptor_set(new.encode_to_vec().as_slice()) {
            let text = format!("the descriptors of {owner} cannot be read: {error}");
            self.problems.push(Problem::new(owner, "bad-descriptors", text));
        }
    }

    /// Whether the file is to be added: it is neither known already nor a problem.
    fn is_new(&mut self, owner: &'a str, file: FileDescriptorProto) -> bool {
        if let Some((other, known)) = self.files.get(file.name()) {
            // Protobuf's own files are compatible across versions, so that the first one will do.
            if *known != file && file.package() != "google.protobuf" {
                let text = format!("{other} and {owner} have different files of this name");
                self.problems.push(Problem::new(file.name(), "different-file", text));
            }
            return false;
        }
        let names = defined_names(&file);
        let taken = names.iter().filter_map(|name| Some((name, *self.names.get(name)?)));
        let taken: Vec<_> = taken
            .map(|(name, other)| format!("`{name}` is defined by {other} and again by {owner}"))
            .map(|text| Problem::new(file.name(), "duplicate-definition", text))
            .collect();
        let is_new = taken.is_empty();
        self.problems.extend(taken);
        self.names.extend(names.into_iter().map(|name| (name, owner)));
        self.files.insert(file.name().to_owned(), (owner, file));
        is_new
    }
}

/// A file without what has no effect on the wire: its comments, and its options for generators.
fn without_annotations(mut file: FileDescriptorProto) -> FileDescriptorProto {
    file.source_code_info = None;
    file.options = None;
    file
}

/// The full names that a file defines.
fn defined_names(file: &FileDescriptorProto) -> Vec<String> {
    let messages = file.message_type.iter().map(prost_types::DescriptorProto::name);
    let enums = file.enum_type.iter().map(prost_types::EnumDescriptorProto::name);
    let services = file.service.iter().map(prost_types::ServiceDescriptorProto::name);
    messages.chain(enums).chain(services).map(|name| format!("{}.{name}", file.package())).collect()
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
