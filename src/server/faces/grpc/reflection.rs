//! Server reflection, old and new, since clients in the field speak either: the registered services, and nothing else.
//!
//! What is not known is answered by an `ErrorResponse`, after which the stream goes on; a request that cannot be read
//! ends it. Not here: `tonic-reflection`'s own service, which ends it in either case.

mod symbol;

use std::sync::{Arc, LazyLock};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use prost::Message;
use prost_reflect::{DescriptorPool, FileDescriptor};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_reflection::pb::{
    v1::{
        self, ErrorResponse, ExtensionNumberResponse, FileDescriptorResponse, ListServiceResponse,
        ServiceResponse, server_reflection_request::MessageRequest,
        server_reflection_response::MessageResponse, server_reflection_server::ServerReflectionServer,
    },
    v1alpha,
};

use super::{health, service::Service};
use toolwire_transport::rules::{Pool, Rule};

/// The full names of the two.
const NAMES: [&str; 2] = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

const METHOD: &str = "ServerReflectionInfo";

/// Maximum size of a request, which has a name and a host, in bytes.
const MAX_REQUEST: usize = 64 * 1024;

/// The descriptor sets of both services.
pub(super) const DESCRIPTORS: [&[u8]; 2] =
    [tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET, tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET];

/// Both services. They describe the services of these names, and each other.
pub(super) fn services(descriptors: &DescriptorPool, served: &[&'static str]) -> [Service; 2] {
    let reflection = Reflection::new(descriptors.clone(), served.iter().copied().chain(NAMES).collect());
    let (new, old) = (reflection.clone(), reflection);
    let v1 = Service::new(move |_| {
        ServerReflectionServer::new(new.clone()).max_decoding_message_size(MAX_REQUEST)
    });
    let v1alpha = Service::new(move |_| {
        v1alpha::server_reflection_server::ServerReflectionServer::new(old.clone())
            .max_decoding_message_size(MAX_REQUEST)
    });
    let watched = Rule { pool: Pool::Reflection, ..Rule::WATCH };
    [v1, v1alpha].map(|service| service.except(METHOD, watched))
}

/// What is described. Cheap to clone.
#[derive(Clone)]
struct Reflection {
    names: Arc<[&'static str]>,
    /// Made by the first request: the descriptors of the standard services are added to a copy of all others.
    pool: Arc<LazyLock<DescriptorPool, MakePool>>,
}

type MakePool = Box<dyn FnOnce() -> DescriptorPool + Send + Sync>;

impl Reflection {
    fn new(descriptors: DescriptorPool, names: Arc<[&'static str]>) -> Self {
        let make: MakePool = Box::new(move || with_standard(descriptors));
        Self { names, pool: Arc::new(LazyLock::new(make)) }
    }

    /// The answers to requests of either version, whose messages are the same on the wire.
    fn answer_all<Q, A>(self, requests: Streaming<Q>) -> BoxStream<'static, Result<A, Status>>
    where
        Q: Message + Default + 'static,
        A: Message + Default + 'static,
    {
        let next = async |(reflection, requests): (Self, Option<Streaming<Q>>)| {
            let mut requests = requests?;
            let answer = requests
                .next()
                .await?
                .map(|request| same_on_wire(&reflection.answer(same_on_wire(&request))));
            let rest = answer.is_ok().then_some(requests);
            Some((answer, (reflection, rest)))
        };
        stream::unfold((self, Some(requests)), next).boxed()
    }

    fn answer(&self, request: v1::ServerReflectionRequest) -> v1::ServerReflectionResponse {
        let answer = request.message_request.as_ref().map_or_else(
            || Err(error(Code::InvalidArgument, "a request names what it asks for, such as list_services")),
            |asked| self.find(asked),
        );
        v1::ServerReflectionResponse {
            valid_host: request.host.clone(),
            original_request: Some(request),
            message_response: Some(answer.unwrap_or_else(MessageResponse::ErrorResponse)),
        }
    }

    fn find(&self, asked: &MessageRequest) -> Result<MessageResponse, ErrorResponse> {
        let pool = &**self.pool;
        match asked {
            MessageRequest::ListServices(_) => {
                let service = self.names.iter().map(|name| ServiceResponse { name: (*name).to_owned() });
                Ok(MessageResponse::ListServicesResponse(ListServiceResponse { service: service.collect() }))
            }
            MessageRequest::FileByFilename(name) => pool
                .get_file_by_name(name)
                .map(|file| file_response(&file))
                .ok_or_else(|| error(Code::NotFound, &format!("no file is named {}", cut(name)))),
            MessageRequest::FileContainingSymbol(symbol) => symbol::file(pool, symbol)
                .map(|file| file_response(&file))
                .ok_or_else(|| error(Code::NotFound, &format!("no symbol is named {}", cut(symbol)))),
            MessageRequest::FileContainingExtension(asked) => {
                let number = u32::try_from(asked.extension_number).ok();
                let message = pool.get_message_by_name(&asked.containing_type);
                message.zip(number).and_then(|(message, number)| message.get_extension(number)).map_or_else(
                    || Err(error(Code::NotFound, "no such extension is known")),
                    |extension| Ok(file_response(&extension.parent_file())),
                )
            }
            MessageRequest::AllExtensionNumbersOfType(name) => {
                let message = pool.get_message_by_name(name).ok_or_else(|| {
                    error(Code::NotFound, &format!("no message type is named {}", cut(name)))
                })?;
                let numbers = message.extensions().filter_map(|it| it.number().try_into().ok()).collect();
                Ok(MessageResponse::AllExtensionNumbersResponse(ExtensionNumberResponse {
                    base_type_name: message.full_name().to_owned(),
                    extension_number: numbers,
                }))
            }
        }
    }
}

#[tonic::async_trait]
impl v1::server_reflection_server::ServerReflection for Reflection {
    type ServerReflectionInfoStream = BoxStream<'static, Result<v1::ServerReflectionResponse, Status>>;

    async fn server_reflection_info(
        &self,
        request: Request<Streaming<v1::ServerReflectionRequest>>,
    ) -> Result<Response<Self::ServerReflectionInfoStream>, Status> {
        Ok(Response::new(self.clone().answer_all(request.into_inner())))
    }
}

#[tonic::async_trait]
impl v1alpha::server_reflection_server::ServerReflection for Reflection {
    type ServerReflectionInfoStream = BoxStream<'static, Result<v1alpha::ServerReflectionResponse, Status>>;

    async fn server_reflection_info(
        &self,
        request: Request<Streaming<v1alpha::ServerReflectionRequest>>,
    ) -> Result<Response<Self::ServerReflectionInfoStream>, Status> {
        Ok(Response::new(self.clone().answer_all(request.into_inner())))
    }
}

/// The descriptors with those of health, of both versions of reflection, and of the details of a status, which clients
/// such as grpcurl show.
fn with_standard(mut pool: DescriptorPool) -> DescriptorPool {
    for set in DESCRIPTORS.into_iter().chain([health::DESCRIPTORS, tonic_types::pb::FILE_DESCRIPTOR_SET]) {
        pool.decode_file_descriptor_set(set).expect("the crate's descriptor set is valid");
    }
    pool
}

/// A message as the one of the other version that has the same form on the wire.
fn same_on_wire<A: Message, B: Message + Default>(message: &A) -> B {
    B::decode(message.encode_to_vec().as_slice()).expect("both versions have the same form")
}

fn file_response(file: &FileDescriptor) -> MessageResponse {
    MessageResponse::FileDescriptorResponse(FileDescriptorResponse {
        file_descriptor_proto: vec![file.encode_to_vec()],
    })
}

fn error(code: Code, message: &str) -> ErrorResponse {
    ErrorResponse { error_code: code.into(), error_message: message.to_owned() }
}

/// The beginning of a name that a client sent.
fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(256)]
}
