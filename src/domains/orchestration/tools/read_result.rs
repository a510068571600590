//! `read_result`: reads on in a result that was too large to be shown whole, from an offset, at a JSON Pointer, or
//! where words stand.

mod part;
mod passages;
mod pointers;

use self::{
    part::{Part, offset_of},
    passages::search,
    pointers::resolve,
};
use crate::proto::v1::{ReadResultInput, ReadResultOutput};
use toolwire_base::offload;
use toolwire_contract::{ErrorCode, ToolError};
use toolwire_db::StoreError;
use toolwire_engine::kept_results::KeptResults;
use toolwire_state::{kept_results::KeptResult, workspace::passages::check_query};
use toolwire_tool::{
    Reply, Tool,
    argument::{reject, required},
    context::{Required, ToolContext, Unfinished},
};

/// The default of `max_tokens`: what the agent's loop shows of a result is twice that.
const USUAL_TOKENS: u32 = 2_000;

#[derive(Clone, Copy, Debug)]
pub struct ReadResult;

/// What to read of a result.
enum Selection {
    Offset(u32),
    Pointer(String),
    Query(String),
}

impl Tool for ReadResult {
    const NAME: &'static str = "read_result";
    type Input = ReadResultInput;
    type Output = ReadResultOutput;

    fn services() -> Required {
        Required::none().of::<KeptResults>()
    }

    async fn execute(
        &self,
        input: ReadResultInput,
        context: &ToolContext,
    ) -> Result<Reply<ReadResultOutput>, Unfinished> {
        let call_id = required("call_id", input.call_id.as_deref())?;
        let most = u64::from(input.max_tokens.unwrap_or(USUAL_TOKENS));
        let selection = Selection::of(input.offset, input.pointer, input.query)?;
        // What is no name of a call names none, as that of another user's does.
        let kept = match call_id.parse() {
            Ok(call) => context.services.get::<KeptResults>().find(&context.user.id, call).await,
            Err(_) => Ok(None),
        };
        let kept = kept.map_err(|error| unavailable(&error))?.ok_or_else(|| not_kept(call_id))?;
        let read = offload::if_large(kept.text.len(), move || read(kept, &selection, most));
        Ok(read.await?)
    }
}

impl Selection {
    fn of(offset: Option<u32>, pointer: Option<String>, query: Option<String>) -> Result<Self, ToolError> {
        match (offset, pointer, query) {
            (offset, None, None) => Ok(Self::Offset(offset.unwrap_or_default())),
            (None, Some(pointer), None) => Ok(Self::Pointer(pointer)),
            (None, None, Some(query)) => {
                check_query(&query)?;
                Ok(Self::Query(query))
            }
            (offset, ..) => {
                let surplus = if offset.is_some() { "offset" } else { "pointer" };
                let text = "give one of `offset`, `pointer` and `query`, or none to read from the beginning";
                Err(reject(surplus, "oneOf", text.to_owned()))
            }
        }
    }
}

fn read(kept: KeptResult, selection: &Selection, most: u64) -> Result<Reply<ReadResultOutput>, ToolError> {
    let KeptResult { tool, text, tokens, mut provenance, .. } = kept;
    let mut data = ReadResultOutput {
        tool: tool.to_string(),
        characters: count(text.chars().count()),
        tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
        ..ReadResultOutput::default()
    };
    let part = match selection {
        Selection::Offset(offset) => Some(Part::from(&text, *offset)?),
        Selection::Pointer(pointer) => Some(Part::of(&text, resolve(&text, pointer)?)),
        Selection::Query(query) => {
            let any_word = search(&text, query, most, &mut data.passages)?;
            if any_word {
                provenance.warnings.push("No part has all of the words: these have some of them.".to_owned());
            }
            None
        }
    };
    if let Some(part) = part {
        let content = part.beginning(most);
        content.clone_into(&mut data.content);
        data.offset = offset_of(&text, part.begin);
        if content.len() < part.text.len() {
            data.next_offset = offset_of(&text, part.begin + content.len());
        }
    }
    Ok(Reply { data, provenance })
}

fn not_kept(call_id: &str) -> ToolError {
    ToolError::not_found(format!(
        "No result of a call {call_id:?} of yours is kept. Results that are too long are kept for 24 hours: make the \
         call again"
    ))
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::error!(%error, "kept results cannot be read");
    ToolError::new(ErrorCode::Unavailable, "Kept results cannot be read now")
}

/// A number of characters. No result has as many as do not fit.
fn count(characters: usize) -> u32 {
    u32::try_from(characters).unwrap_or(u32::MAX)
}
