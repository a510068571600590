//! The encoder of streams: its buffer starts small and is flushed early.
//!
//! tonic's own allocates 8 KiB for each stream at once, and after a burst of small messages keeps 64 KiB until the
//! stream ends. A watch or a call that waits is idle for nearly all of that time. The buffer of one large message is
//! still kept until the next one.

use std::{any::TypeId, marker::PhantomData};

use prost::Message;
use tonic::{
    Status,
    codec::{self, BufferSettings, EncodeBuf},
};
use tonic_prost::ProstCodec;

use super::proto::v1::ListToolsResponse;

/// Initial capacity of a stream's buffer, in bytes: a status, or the first event of a call.
const INITIAL_CAPACITY: usize = 512;

/// Bytes at which a stream that may idle is flushed, after a whole message.
const FLUSH_THRESHOLD: usize = 2 * 1024;

/// The initial capacity for a stream that ends once it has sent a list. It is larger, since each flush costs HTTP/2
/// frames and each growth of the buffer a copy, and the buffer is soon freed.
const LIST_INITIAL_CAPACITY: usize = 32 * 1024;
const LIST_FLUSH_THRESHOLD: usize = 24 * 1024;

/// Protobuf messages, as bytes.
#[derive(Debug)]
pub struct Codec<T, U>(PhantomData<(T, U)>);

#[derive(Debug)]
pub struct Encoder<T> {
    is_list: bool,
    message: PhantomData<T>,
}

impl<T> Encoder<T> {
    /// An encoder for a stream that ends once it has sent a list.
    pub fn of_list() -> Self {
        Self { is_list: true, message: PhantomData }
    }
}

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> codec::Codec for Codec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = Encoder<T>;
    type Decoder = <ProstCodec<T, U> as codec::Codec>::Decoder;

    fn encoder(&mut self) -> Self::Encoder {
        // By type, since the generated code makes one codec for every method.
        Encoder { is_list: TypeId::of::<T>() == TypeId::of::<ListToolsResponse>(), message: PhantomData }
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstCodec::<T, U>::raw_decoder(BufferSettings::new(INITIAL_CAPACITY, FLUSH_THRESHOLD))
    }
}

impl<T: Message + 'static> codec::Encoder for Encoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        // One allocation rather than one for each time that it grows.
        buffer.reserve(message.encoded_len());
        message.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        if self.is_list {
            BufferSettings::new(LIST_INITIAL_CAPACITY, LIST_FLUSH_THRESHOLD)
        } else {
            BufferSettings::new(INITIAL_CAPACITY, FLUSH_THRESHOLD)
        }
    }
}
