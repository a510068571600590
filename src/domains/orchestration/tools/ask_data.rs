//! `ask_data`: a question about a table of the workspace, carried out by the engine of the same name.

use std::time::Duration;

use bytes::Bytes;

use super::task_workspace;
use crate::{
    ask_data::{
        Answer, AskError, Condition, Kind, MAX_DOCUMENT_BYTES, Operator, Order, Pick, Question, answer,
    },
    proto::v1::{AskDataColumn, AskDataCondition, AskDataInput, AskDataOrder, AskDataOutput, AskDataPick},
};
use toolwire_base::{clock, offload};
use toolwire_contract::{ErrorCode, ToolError, json};
use toolwire_state::workspace::ReadOptions;
use toolwire_tool::{
    Reply, Tool,
    argument::{one_of, reject, required},
    context::{Required, ToolContext, Unfinished},
};

/// Maximum time that a question takes, whatever the table.
const MAX_TIME: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug)]
pub struct AskData;

impl Tool for AskData {
    const NAME: &'static str = "ask_data";
    type Input = AskDataInput;
    type Output = AskDataOutput;

    fn services() -> Required {
        task_workspace::services()
    }

    async fn execute(
        &self,
        input: AskDataInput,
        context: &ToolContext,
    ) -> Result<Reply<AskDataOutput>, Unfinished> {
        let path = required("path", input.path.as_deref())?.to_owned();
        let has_question = input.question.is_some();
        let question = question(input)?;
        let workspace = task_workspace::workspace(context).await?;
        let document = task_workspace::document(&workspace, &path, 0).await?;
        if document.content.size > MAX_DOCUMENT_BYTES as u64 {
            return Err(error(&AskError::TooLarge).into());
        }
        let options = ReadOptions { version: document.version, ..ReadOptions::default() };
        let reading = async { workspace.read(&path, options).await?.1.all().await };
        let mime = document.content.mime_type.clone();
        let work = move |bytes: Bytes| {
            // Measured from here: the work may have waited for its permit.
            let ends = clock::now() + MAX_TIME;
            answer(&mime, &bytes, &question, &|| clock::now() >= ends)
        };
        let size = usize::try_from(document.content.size).unwrap_or(usize::MAX);
        let found = offload::read(size, reading, work).await?.map_err(|wrong| error(&wrong))?;
        let mut provenance = task_workspace::provenance_of(&document);
        provenance.warnings.extend(found.warnings.iter().cloned());
        if has_question && found.hint.is_empty() {
            let text = "The question in words was not interpreted: the answer is that of the other fields.";
            provenance.warnings.push(text.to_owned());
        }
        Ok(Reply { data: output(found), provenance })
    }
}

fn error(error: &AskError) -> ToolError {
    let code = match error {
        AskError::Late => ErrorCode::Timeout,
        AskError::TooLarge
        | AskError::TooMany
        | AskError::NotATable(_)
        | AskError::UnknownColumn { .. }
        | AskError::NoColumn
        | AskError::NotGrouped(_)
        | AskError::NotDecimal { .. }
        | AskError::Value { .. }
        | AskError::TooManyGroups(_)
        | AskError::Overflow(_) => ErrorCode::InvalidArgument,
    };
    ToolError { retryable: false, ..ToolError::new(code, error.to_string()) }
}

fn question(input: AskDataInput) -> Result<Question, ToolError> {
    Ok(Question {
        select: input.select.into_iter().map(to_pick).collect::<Result<_, _>>()?,
        filter: input.r#where.into_iter().map(condition).collect::<Result<_, _>>()?,
        group_by: input.group_by,
        order_by: input.order_by.into_iter().map(order).collect::<Result<_, _>>()?,
        limit: input.limit.map(|limit| limit as usize),
    })
}

fn to_pick(AskDataPick { column, function }: AskDataPick) -> Result<Pick, ToolError> {
    let known = |word: String| one_of("function", &word, word.parse().ok());
    Ok(Pick { column, function: function.map(known).transpose()? })
}

fn condition(asked: AskDataCondition) -> Result<Condition, ToolError> {
    let column = required("column", asked.column.as_deref())?.to_owned();
    let word = required("op", asked.op.as_deref())?;
    let operator = one_of("op", word, word.parse().ok())?;
    let value = asked.value.map(json::from_value).unwrap_or_default();
    if value.is_null() && operator != Operator::IsNull {
        return Err(reject("value", "required", format!("`value` is missing, which `{word}` needs")));
    }
    Ok(Condition { column, operator, value })
}

fn order(AskDataOrder { column, function, descending }: AskDataOrder) -> Result<Order, ToolError> {
    let by = to_pick(AskDataPick { column, function })?;
    Ok(Order { by, descending: descending.unwrap_or_default() })
}

fn output(found: Answer) -> AskDataOutput {
    let column = |(name, kind): (String, Kind)| AskDataColumn { name, r#type: kind.into_str().to_owned() };
    AskDataOutput {
        columns: found.columns.into_iter().map(column).collect(),
        rows: found.rows.into_iter().map(|row| json::to_value(&row.into())).collect(),
        rows_total: found.rows_total,
        rows_scanned: found.rows_scanned,
        truncated: found.truncated,
        hint: found.hint,
    }
}
