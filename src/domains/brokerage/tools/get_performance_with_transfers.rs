//! `get_performance_with_transfers`: the return of an account beside the money that was moved.

use futures_util::try_join;
use rust_decimal::Decimal;

use super::{
    GetPerformance, GetTransfers,
    get_performance::timeframe,
    money::{cents, decimal, round, text},
    required,
};
use crate::{
    proto::v1::{
        GetPerformanceOutput, GetPerformanceRequest, GetPerformanceWithTransfersOutput,
        GetPerformanceWithTransfersRequest, GetTransfersOutput, GetTransfersRequest, Transfer,
    },
    source::{Status, Timeframe, TransferType, Window, leading_date},
};
use toolwire_tool::{
    self as tool, Reply, Tool,
    context::{ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct GetPerformanceWithTransfers;

impl Tool for GetPerformanceWithTransfers {
    const NAME: &'static str = "get_performance_with_transfers";
    type Input = GetPerformanceWithTransfersRequest;
    type Output = GetPerformanceWithTransfersOutput;

    async fn execute(
        &self,
        input: GetPerformanceWithTransfersRequest,
        context: &ToolContext,
    ) -> Result<Reply<GetPerformanceWithTransfersOutput>, Unfinished> {
        let timeframe = timeframe(required("timeframe", input.timeframe.as_deref())?)?;
        let of_timeframe =
            GetPerformanceRequest { timeframe: input.timeframe, account: input.account.clone() };
        let of_account = GetTransfersRequest { account: input.account, ..Default::default() };
        let (performance, transfers) = try_join!(
            tool::call::<GetPerformance>(&of_timeframe, context),
            tool::call::<GetTransfers>(&of_account, context),
        )?;
        Ok(combine(timeframe, performance, transfers))
    }
}

fn combine(
    timeframe: Timeframe,
    performance: Reply<GetPerformanceOutput>,
    transfers: Reply<GetTransfersOutput>,
) -> Reply<GetPerformanceWithTransfersOutput> {
    let Reply { data: performance, mut provenance } = performance;
    provenance.absorb(transfers.provenance);
    let transfers = within(timeframe, &performance.as_of, transfers.data.transfers);
    let deposits = sum_completed(TransferType::Deposit, &transfers);
    let withdrawals = sum_completed(TransferType::Withdrawal, &transfers);
    let net = deposits - withdrawals;
    provenance.warnings.extend(explain_gap(decimal(performance.contributions), net));
    let data = GetPerformanceWithTransfersOutput {
        as_of: provenance.as_of.clone(),
        currency: performance.currency,
        account: performance.account,
        timeframe: performance.timeframe,
        return_pct: performance.return_pct,
        contributions: performance.contributions,
        deposits: cents(deposits),
        withdrawals: cents(withdrawals),
        net_transfers: cents(net),
        transfers,
    };
    Reply { data, provenance }
}

/// The transfers in a timeframe that ends with the date of the performance.
fn within(timeframe: Timeframe, as_of: &str, mut transfers: Vec<Transfer>) -> Vec<Transfer> {
    // The data's loader refuses what does not begin with a date.
    let Some(date) = leading_date(as_of) else { return transfers };
    let window = Window::ending(date, timeframe);
    transfers.retain(|transfer| transfer.timestamp.is_some_and(|time| window.contains(time.seconds)));
    transfers
}

fn sum_completed(kind: TransferType, transfers: &[Transfer]) -> Decimal {
    let is_counted =
        |row: &&Transfer| row.r#type == kind.into_str() && row.status == Status::Completed.into_str();
    transfers.iter().filter(is_counted).map(|row| decimal(row.amount)).sum()
}

/// Both are returned as they are; that they differ is for the reader to know.
fn explain_gap(contributions: Decimal, net: Decimal) -> Option<String> {
    let difference = round(contributions - net);
    let [contributions, by, net] = [contributions, difference, net].map(text);
    let warning = format!(
        "contributions {contributions} differ by {by} from the completed transfers on record, net {net}."
    );
    (!difference.is_zero()).then_some(warning)
}
