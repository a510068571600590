//! `get_transfers`: the deposits and withdrawals of an account.

use super::{data, money::exact, selection::Selection};
use crate::{
    proto::v1::{self, GetTransfersOutput, GetTransfersRequest},
    source::{Transfer, TransferType},
};
use toolwire_tool::{
    Reply, Tool,
    argument::one_of,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetTransfers;

impl Tool for GetTransfers {
    const NAME: &'static str = "get_transfers";
    type Input = GetTransfersRequest;
    type Output = GetTransfersOutput;

    fn services() -> Required {
        super::services()
    }

    async fn execute(
        &self,
        input: GetTransfersRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetTransfersOutput>, Unfinished> {
        let selection = Selection::new(input.since.as_deref(), input.until.as_deref(), input.limit)?;
        let of_type = input.r#type.as_deref();
        let of_type =
            of_type.map(|word| one_of("type", word, word.parse::<TransferType>().ok())).transpose()?;
        let data = data(context);
        let master = data.user(&context.user.id)?;
        let transfers = master.transfers(input.account.as_deref())?;
        let as_of = transfers.as_of.as_str();
        let mut provenance = data.provenance(&context.user.id, "tool:transfers:v1", as_of);
        let time = |transfer: &Transfer| transfer.timestamp;
        let of_type = transfers.content.iter().filter(|it| of_type.is_none_or(|of| it.kind == of));
        let selected = selection.of("transfers", of_type, time, &mut provenance);
        let data = GetTransfersOutput {
            as_of: as_of.to_owned(),
            currency: master.currency().to_owned(),
            account: transfers.name.clone(),
            transfers: selected.into_iter().map(transfer_message).collect(),
        };
        Ok(Reply { data, provenance })
    }
}

fn transfer_message(transfer: &Transfer) -> v1::Transfer {
    v1::Transfer {
        timestamp: Some(transfer.timestamp.into()),
        r#type: transfer.kind.into_str().to_owned(),
        method: transfer.method.into_str().to_owned(),
        amount: exact(transfer.amount),
        status: transfer.status.into_str().to_owned(),
    }
}
