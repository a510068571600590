//! The domain of the simulation: a read, a cached read and a write, which ask the simulated source.

use std::{path::Path, sync::LazyLock};

use include_dir::{Dir, include_dir};
use prost_reflect::{DescriptorPool, ReflectMessage};
use toolwire::{
    base::files::Embedded,
    contract::Provenance,
    server::domain::Domain,
    tool::{
        Reply, Tool,
        context::{Required, ToolContext, Unfinished},
        erase,
    },
};

use crate::source::{Connector, Notes};

static MANIFESTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/tests/simulation/manifests");

static DESCRIPTORS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut compiler = protox::Compiler::new([root.join("tests/simulation/proto")]).unwrap();
    compiler.include_imports(true).include_source_info(true).open_file("sim/v1/sim.proto").unwrap();
    compiler.encode_file_descriptor_set()
});

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS.as_slice()).unwrap());

#[derive(Clone, PartialEq, prost::Message, ReflectMessage)]
#[prost_reflect(descriptor_pool = "POOL", message_name = "sim.v1.Asked")]
pub(crate) struct Asked {
    #[prost(string, optional, tag = "1")]
    pub(crate) key: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message, ReflectMessage)]
#[prost_reflect(descriptor_pool = "POOL", message_name = "sim.v1.Answered")]
pub(crate) struct Answered {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) user: String,
}

/// The domain.
pub(crate) fn domain() -> Domain {
    let tools = vec![erase(Read), erase(Cached), erase(Write)];
    Domain {
        data: Embedded::manifests(&MANIFESTS, tools.iter().map(|tool| tool.name())),
        tools,
        descriptors: &DESCRIPTORS,
        ..Domain::new("sim")
    }
}

pub(crate) struct Read;
pub(crate) struct Cached;
pub(crate) struct Write;

impl Tool for Read {
    const NAME: &'static str = "sim_read";
    type Input = Asked;
    type Output = Answered;

    fn services() -> Required {
        Required::none().of::<Connector>().of::<Notes>()
    }

    async fn execute(&self, input: Asked, context: &ToolContext) -> Result<Reply<Answered>, Unfinished> {
        let key = input.key.unwrap_or_default();
        let _running = context.services.get::<Notes>().run(&key, context);
        Ok(reply(context.services.get::<Connector>().read(&key, context).await?))
    }
}

impl Tool for Cached {
    const NAME: &'static str = "sim_cached";
    type Input = Asked;
    type Output = Answered;

    fn services() -> Required {
        Read::services()
    }

    async fn execute(&self, input: Asked, context: &ToolContext) -> Result<Reply<Answered>, Unfinished> {
        Read.execute(input, context).await
    }
}

impl Tool for Write {
    const NAME: &'static str = "sim_write";
    type Input = Asked;
    type Output = Answered;

    fn services() -> Required {
        Read::services()
    }

    async fn execute(&self, input: Asked, context: &ToolContext) -> Result<Reply<Answered>, Unfinished> {
        let key = input.key.unwrap_or_default();
        let _running = context.services.get::<Notes>().run(&key, context);
        Ok(reply(context.services.get::<Connector>().write(&key, context).await?))
    }
}

fn reply(data: Answered) -> Reply<Answered> {
    Reply { data, provenance: Provenance::of("tool:sim:v1", "") }
}
