//! Reads the fields of an encoded message.

use prost::encoding::{WireType, decode_key, decode_varint};

/// The value of a field, as its wire type has it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Raw<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(&'a [u8]),
}

/// The next field of a message, by its number; `None` at the end. `Err` if the message is malformed.
pub(super) fn next<'a>(rest: &mut &'a [u8]) -> Result<Option<(u32, Raw<'a>)>, Malformed> {
    if rest.is_empty() {
        return Ok(None);
    }
    let (number, wire) = decode_key(rest).map_err(|_| Malformed)?;
    let value = match wire {
        WireType::Varint => Raw::Varint(varint(rest)?),
        WireType::SixtyFourBit => Raw::Fixed64(take(rest)?),
        WireType::ThirtyTwoBit => Raw::Fixed32(take(rest)?),
        WireType::LengthDelimited => {
            let length = usize::try_from(varint(rest)?).map_err(|_| Malformed)?;
            let (bytes, after) = rest.split_at_checked(length).ok_or(Malformed)?;
            *rest = after;
            Raw::Bytes(bytes)
        }
        // Groups are deprecated, and proto3 has none.
        WireType::StartGroup | WireType::EndGroup => return Err(Malformed),
    };
    Ok(Some((number, value)))
}

/// The bytes are no message, or one that only the slow path reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Malformed;

pub(super) fn varint(rest: &mut &[u8]) -> Result<u64, Malformed> {
    decode_varint(rest).map_err(|_| Malformed)
}

/// The first bytes.
pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (bytes, after) = rest.split_first_chunk().ok_or(Malformed)?;
    *rest = after;
    Ok(*bytes)
}
