//! The encoder of streams: its buffer starts small and is flushed early.
//!
//! tonic's own takes 8 KiB for each stream at once, and one that told much in small messages keeps 64 KiB for as long
//! as it lives, though a watch in step and a call that waits have nothing to tell. What one large message took is
//! still kept until the next one.

use std::{any::TypeId, marker::PhantomData};

use prost::Message;
use tonic::{
    Status,
    codec::{self, BufferSettings, EncodeBuf},
};
use tonic_prost::ProstCodec;

use super::proto::v1::ListToolsResponse;

/// What a stream has from its beginning: room for a status, or for the first event of a call.
const FIRST: usize = 512;

/// What is handed on at the latest, in whole messages, by a stream that may wait.
const MOST: usize = 2 * 1024;

/// The same of one that ends when it has told everything: HTTP/2 has work with each piece, and a buffer that grows is
/// copied.
const FIRST_OF_LIST: usize = 32 * 1024;
const MOST_OF_LIST: usize = 24 * 1024;

/// Protobuf messages, as bytes.
#[derive(Debug)]
pub struct Codec<T, U>(PhantomData<(T, U)>);

#[derive(Debug)]
pub struct Encoder<T> {
    is_list: bool,
    message: PhantomData<T>,
}

impl<T> Encoder<T> {
    /// For a stream that ends when it has told everything.
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
        Encoder { is_list: TypeId::of::<T>() == TypeId::of::<ListToolsResponse>(), message: PhantomData }
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstCodec::<T, U>::raw_decoder(BufferSettings::new(FIRST, MOST))
    }
}

impl<T: Message + 'static> codec::Encoder for Encoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        // At once, not piece by piece.
        buffer.reserve(message.encoded_len());
        message.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        let (first, most) = if self.is_list { (FIRST_OF_LIST, MOST_OF_LIST) } else { (FIRST, MOST) };
        BufferSettings::new(first, most)
    }
}
