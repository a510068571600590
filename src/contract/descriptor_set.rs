//! Encoded descriptor sets, as build scripts write them: with comments, and without the locations of all else.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::{
    DecodeError, Message,
    encoding::{self, DecodeContext},
};
use prost_reflect::DescriptorPool;

const VALID: &str = "the build script wrote a valid descriptor set";

/// A `FileDescriptorSet` whose files are not decoded: their custom options would be lost.
#[derive(Clone, PartialEq, Message)]
pub(super) struct EncodedSet {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(super) files: Vec<Bytes>,
}

/// The descriptors of generated types, which need no comments, from an encoded `FileDescriptorSet` as a build script
/// writes it.
///
/// # Panics
///
/// If the set is invalid.
pub fn of_types(set: &[u8]) -> DescriptorPool {
    let mut set = EncodedSet::decode(set).expect(VALID);
    for file in &mut set.files {
        *file = without_comments(file).expect(VALID);
    }
    DescriptorPool::decode(&*set.encode_to_vec()).expect(VALID)
}

/// The descriptors of several sets, which have the same form of a file that they share.
///
/// # Panics
///
/// If a set is invalid.
pub(super) fn union(sets: &[&[u8]]) -> DescriptorPool {
    let mut files = Vec::new();
    for set in sets {
        for file in EncodedSet::decode(*set).expect(VALID).files {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    DescriptorPool::decode(&*EncodedSet { files }.encode_to_vec()).expect(VALID)
}

/// The number of `FileDescriptorProto.source_code_info`.
const SOURCE_CODE_INFO: u32 = 9;

fn without_comments(file: &Bytes) -> Result<Bytes, DecodeError> {
    // Copied field by field rather than decoded, which would lose custom options.
    let (mut rest, mut kept) = (file.clone(), BytesMut::with_capacity(file.len()));
    while rest.has_remaining() {
        let whole = rest.clone();
        let (number, wire_type) = encoding::decode_key(&mut rest)?;
        encoding::skip_field(wire_type, number, &mut rest, DecodeContext::default())?;
        if number != SOURCE_CODE_INFO {
            kept.put(whole.slice(..whole.len() - rest.len()));
        }
    }
    Ok(kept.freeze())
}

#[cfg(test)]
mod tests {
    use prost_reflect::prost_types::{FileDescriptorProto, SourceCodeInfo, source_code_info::Location};

    use super::*;

    #[test]
    fn comments_are_left_out_and_everything_else_stays() {
        let location = Location { leading_comments: Some("Said.".into()), ..Location::default() };
        let plain = FileDescriptorProto {
            name: Some("toy.proto".into()),
            syntax: Some("proto3".into()),
            ..FileDescriptorProto::default()
        };
        let source_code_info = Some(SourceCodeInfo { location: vec![location] });
        let file = FileDescriptorProto { source_code_info, ..plain.clone() };
        let kept = without_comments(&file.encode_to_vec().into()).unwrap();
        assert_eq!(FileDescriptorProto::decode(kept).unwrap(), plain);
    }

    #[test]
    fn what_is_no_file_is_refused() {
        assert!(without_comments(&Bytes::from_static(&[0x4a, 5, 1])).is_err());
    }
}
