//! Encoded descriptor sets without the source locations of uncommented elements, which are most of their bytes.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::{
    DecodeError, Message,
    encoding::{self, DecodeContext},
};
use prost_reflect::{
    DescriptorPool,
    prost_types::{SourceCodeInfo, source_code_info::Location},
};

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
        *file = lean(file, |_| false).expect(VALID);
    }
    DescriptorPool::decode(&*set.encode_to_vec()).expect(VALID)
}

/// The number of `FileDescriptorProto.source_code_info`.
const SOURCE_CODE_INFO: u32 = 9;

/// An encoded file without the source locations that are not wanted.
pub(super) fn lean(file: &Bytes, is_wanted: impl Fn(&Location) -> bool) -> Result<Bytes, DecodeError> {
    // Copied field by field rather than decoded, which would lose custom options.
    let (mut rest, mut lean) = (file.clone(), BytesMut::with_capacity(file.len()));
    while rest.has_remaining() {
        let whole = rest.clone();
        let (number, wire_type) = encoding::decode_key(&mut rest)?;
        if number == SOURCE_CODE_INFO {
            let mut info = SourceCodeInfo::decode_length_delimited(&mut rest)?;
            info.location.retain(&is_wanted);
            encoding::message::encode(number, &info, &mut lean);
        } else {
            encoding::skip_field(wire_type, number, &mut rest, DecodeContext::default())?;
            lean.put(whole.slice(..whole.len() - rest.len()));
        }
    }
    Ok(lean.freeze())
}

/// Whether a location has a comment.
pub(super) fn is_commented(location: &Location) -> bool {
    location.leading_comments.is_some()
        || location.trailing_comments.is_some()
        || !location.leading_detached_comments.is_empty()
}

#[cfg(test)]
mod tests {
    use prost_reflect::prost_types::FileDescriptorProto;

    use super::*;

    #[test]
    fn places_without_a_comment_are_left_out_and_everything_else_stays() {
        let commented = Location { leading_comments: Some("Said.".into()), ..Location::default() };
        let info = |location| Some(SourceCodeInfo { location });
        let file = FileDescriptorProto {
            name: Some("toy.proto".into()),
            source_code_info: info(vec![Location::default(), commented.clone()]),
            syntax: Some("proto3".into()),
            ..FileDescriptorProto::default()
        };
        let lean = lean(&file.encode_to_vec().into(), is_commented).unwrap();
        let lean = FileDescriptorProto::decode(lean).unwrap();
        assert_eq!(lean, FileDescriptorProto { source_code_info: info(vec![commented]), ..file });
    }

    #[test]
    fn what_is_no_file_is_refused() {
        assert!(lean(&Bytes::from_static(&[0x4a, 5, 1]), |_| true).is_err());
    }
}
