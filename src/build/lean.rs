//! Encoded descriptor sets without the source locations of uncommented elements, which are most of their bytes.

use protox::prost_reflect::{
    prost::{
        DecodeError, Message,
        bytes::{Buf, BufMut, Bytes, BytesMut},
        encoding::{self, DecodeContext},
    },
    prost_types::{SourceCodeInfo, source_code_info::Location},
};

/// A `FileDescriptorSet` whose files are not decoded: their custom options would be lost.
#[derive(Clone, PartialEq, Message)]
#[prost(prost_path = "::protox::prost_reflect::prost")]
struct EncodedSet {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    files: Vec<Bytes>,
}

/// The number of `FileDescriptorProto.source_code_info`.
const SOURCE_CODE_INFO: u32 = 9;

/// An encoded set with comments, and without the locations of all else.
pub(super) fn lean(set: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut set = EncodedSet::decode(set)?;
    for file in &mut set.files {
        *file = lean_file(file)?;
    }
    Ok(set.encode_to_vec())
}

fn lean_file(file: &Bytes) -> Result<Bytes, DecodeError> {
    // Copied field by field rather than decoded, which would lose custom options.
    let (mut rest, mut lean) = (file.clone(), BytesMut::with_capacity(file.len()));
    while rest.has_remaining() {
        let whole = rest.clone();
        let (number, wire_type) = encoding::decode_key(&mut rest)?;
        if number == SOURCE_CODE_INFO {
            let mut info = SourceCodeInfo::decode_length_delimited(&mut rest)?;
            info.location.retain(is_commented);
            encoding::message::encode(number, &info, &mut lean);
        } else {
            encoding::skip_field(wire_type, number, &mut rest, DecodeContext::default())?;
            lean.put(whole.slice(..whole.len() - rest.len()));
        }
    }
    Ok(lean.freeze())
}

fn is_commented(location: &Location) -> bool {
    location.leading_comments.is_some()
        || location.trailing_comments.is_some()
        || !location.leading_detached_comments.is_empty()
}

#[cfg(test)]
mod tests {
    use protox::prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};

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
        let set = FileDescriptorSet { file: vec![file.clone()] };
        let lean = FileDescriptorSet::decode(&*lean(&set.encode_to_vec()).unwrap()).unwrap();
        assert_eq!(lean.file, [FileDescriptorProto { source_code_info: info(vec![commented]), ..file }]);
    }

    #[test]
    fn what_is_no_file_is_refused() {
        assert!(lean_file(&Bytes::from_static(&[0x4a, 5, 1])).is_err());
    }
}
