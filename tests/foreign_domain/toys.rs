//! The domain of two toy tools, as a team's own crate would declare it: nothing here is of the crate's own list.

use std::sync::Arc;

use include_dir::{Dir, include_dir};
use toolwire::{
    base::files::Embedded,
    config::{Reader, Section, Setting},
    contract::Provenance,
    server::{
        domain::{Domain, OpenError, Opened, Opening},
        faces::grpc::{self, Face},
    },
    tool::{
        Reply, Tool,
        context::{Required, Services, ToolContext, Unfinished},
        erase,
    },
};

use crate::foreign_domain::{
    proto::{
        self as wire, DESCRIPTORS, ListToysOutput, ListToysRequest, StackBlocksOutput, StackBlocksRequest,
    },
    toy_service_server::{ToyService, ToyServiceServer},
};

pub(crate) static MANIFESTS: Dir<'static> =
    include_dir!("$CARGO_MANIFEST_DIR/tests/foreign_domain/manifests");

/// The domain.
pub(crate) fn toy() -> Domain {
    Domain {
        tools: vec![erase(StackBlocks), erase(ListToys)],
        settings: vec![Section::new(Settings::read)],
        descriptors: &DESCRIPTORS,
        data: Embedded::manifests(&MANIFESTS, [StackBlocks::NAME, ListToys::NAME]),
        open: Box::new(open),
        ..Domain::new("toy")
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the form of every domain's `open`")]
fn open(opening: &Opening<'_>) -> Result<Opened, OpenError> {
    let toy_box = ToyBox { block_cm: opening.config.part::<Settings>().block_cm };
    Ok(Opened {
        services: Services::default().with(Arc::new(toy_box)),
        grpc: vec![service()],
        ..Opened::default()
    })
}

/// The typed service.
pub(crate) fn service() -> grpc::Service {
    grpc::service!(ToyServiceServer, |face| face.clone())
}

grpc::typed_service! {
    impl ToyService for Face {
        stack_blocks: StackBlocks, StackBlocksRequest => StackBlocksResponse;
        list_toys: ListToys, ListToysRequest => ListToysResponse;
    }
}

/// What can be set of the toys.
#[derive(Debug)]
struct Settings {
    /// The height of a block. `TOY_BLOCK_CM`, default 4.
    block_cm: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { block_cm: 4 }
    }
}

impl Settings {
    fn read(reader: &mut Reader) -> Self {
        let block_cm = Setting::new("toy.block_cm", "TOY_BLOCK_CM");
        Self { block_cm: reader.value(block_cm, Self::default().block_cm) }
    }
}

/// What the tools find in their context.
struct ToyBox {
    block_cm: u32,
}

/// `stack_blocks`.
pub(crate) struct StackBlocks;

impl Tool for StackBlocks {
    const NAME: &'static str = "stack_blocks";
    type Input = StackBlocksRequest;
    type Output = StackBlocksOutput;

    fn services() -> Required {
        Required::none().of::<ToyBox>()
    }

    async fn execute(
        &self,
        input: StackBlocksRequest,
        context: &ToolContext,
    ) -> Result<Reply<StackBlocksOutput>, Unfinished> {
        let block_cm = i32::try_from(context.services.get::<ToyBox>().block_cm).expect("a small number");
        let data = StackBlocksOutput { height_cm: input.count.unwrap_or_default() * block_cm };
        Ok(Reply { data, provenance: provenance() })
    }
}

/// `list_toys`.
pub(crate) struct ListToys;

impl Tool for ListToys {
    const NAME: &'static str = "list_toys";
    type Input = ListToysRequest;
    type Output = ListToysOutput;

    async fn execute(
        &self,
        _: ListToysRequest,
        _: &ToolContext,
    ) -> Result<Reply<ListToysOutput>, Unfinished> {
        let data = ListToysOutput { toys: vec!["blocks".to_owned(), "top".to_owned()] };
        Ok(Reply { data, provenance: provenance() })
    }
}

fn provenance() -> Provenance {
    Provenance::of("toy:box:v1", "")
}
