//! Server reflection, old and new, since clients in the field speak either: the registered services, and nothing else.
//!
//! Built on first use: its tables of all names are larger than the rest of most servers' memory.

mod readable;

use std::{
    convert::Infallible,
    sync::{Arc, LazyLock},
    task::{Context, Poll},
};

use futures_util::FutureExt;
use http::{Request, Response};
use prost::Message;
use prost_reflect::DescriptorPool;
use prost_types::FileDescriptorSet;
use tonic::{body::Body, server::NamedService};
use tonic_reflection::{pb, server::Builder};

use self::readable::Unreadable;
use super::{health, routes::ResponseFuture, service::Service};
use crate::faces::transport::rules::{Pool, Rule};

/// The full names of the two.
const NAMES: [&str; 2] = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

const METHOD: &str = "ServerReflectionInfo";

const VALID: &str = "the pool was made of valid descriptor sets";

/// The descriptor sets of both services.
pub(super) const DESCRIPTORS: [&[u8]; 2] = [pb::v1::FILE_DESCRIPTOR_SET, pb::v1alpha::FILE_DESCRIPTOR_SET];

/// Both services. They describe the services of these names, and each other.
pub(super) fn services(descriptors: &DescriptorPool, served: &[&'static str]) -> [Service; 2] {
    let descriptors = descriptors.clone();
    let names: Vec<_> = served.iter().copied().chain(NAMES).collect();
    let builder = move || builder(&descriptors, &names);
    let other = builder.clone();
    let v1 = WhenAsked::new(move || builder().build_v1().expect(VALID));
    let v1alpha = WhenAsked::new(move || other().build_v1alpha().expect(VALID));
    let watched = Rule { pool: Pool::Reflection, ..Rule::WATCH };
    [Service::new(move |_| v1.clone()), Service::new(move |_| v1alpha.clone())]
        .map(|service| service.except(METHOD, watched))
}

/// The index of the services of these names, from the descriptor set or one of those here.
fn builder(described: &DescriptorPool, names: &[&'static str]) -> Builder<'static> {
    let described = FileDescriptorSet::decode(described.encode_to_vec().as_slice()).expect(VALID);
    let builder = Builder::configure()
        .register_file_descriptor_set(described)
        .register_encoded_file_descriptor_set(health::DESCRIPTORS)
        // So that grpcurl can show the details of a status.
        .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET);
    let builder = DESCRIPTORS.iter().fold(builder, |it, set| it.register_encoded_file_descriptor_set(set));
    names.iter().fold(builder, |builder, name| builder.with_service_name(*name))
}

/// A service that is made when the first request for it comes.
struct WhenAsked<S>(Arc<LazyLock<S, Make<S>>>);

type Make<S> = Box<dyn FnOnce() -> S + Send + Sync>;

impl<S> WhenAsked<S> {
    fn new(make: impl FnOnce() -> S + Send + Sync + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(make))))
    }
}

impl<S> Clone for WhenAsked<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: NamedService> NamedService for WhenAsked<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> tower::Service<Request<Body>> for WhenAsked<S>
where
    S: tower::Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future = ResponseFuture>
        + Clone,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> ResponseFuture {
        let unreadable = Unreadable::default();
        let answer = (**self.0).clone().call(request.map(|body| unreadable.watch(body)));
        Box::pin(answer.map(|answer| answer.map(|it| unreadable.end(it))))
    }
}
