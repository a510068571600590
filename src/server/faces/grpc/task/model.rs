//! The render of a task for a model, as messages of the wire.

use toolwire_contract::proto::tasks::v1::{self, model_block};
use toolwire_engine::tasks::render::{
    Message, Rendering,
    blocks::{Block, Content},
    input::Speaker,
};

/// The answer to a request for a render by this provider.
pub(super) fn render(of: Rendering, provider: &str) -> v1::RenderForModelResponse {
    let Rendering { system, messages, tokens, cuts, last_sequence } = of;
    let messages = messages.into_iter().map(|it| message(it, provider)).collect();
    v1::RenderForModelResponse { system, messages, tokens: count(tokens), cuts, last_sequence }
}

fn message(Message { role, blocks, sequences }: Message, provider: &str) -> v1::ModelMessage {
    let role = match role {
        Speaker::User => v1::MessageRole::User,
        Speaker::Assistant => v1::MessageRole::Assistant,
    };
    v1::ModelMessage {
        role: role.into(),
        blocks: blocks.into_iter().map(|it| block(it, provider)).collect(),
        first_sequence: sequences.0,
        last_sequence: sequences.1,
    }
}

fn block(Block { content, tokens }: Block, provider: &str) -> v1::ModelBlock {
    let content = match content {
        Content::Text(text) => model_block::Block::Text(text),
        Content::Use { id, tool, input } => {
            model_block::Block::ToolUse(v1::ToolUse { id, tool, input_json: input })
        }
        Content::Result { id, tool, content, is_error, tokens_cut } => {
            let tokens_cut = count(tokens_cut);
            model_block::Block::ToolResult(v1::ToolOutcome { id, tool, content, is_error, tokens_cut })
        }
        Content::Document { reference, mime_type, text, data, is_reference, tokens_cut } => {
            model_block::Block::Document(v1::DocumentBlock {
                path: reference.path,
                version: reference.version,
                mime_type,
                text,
                data,
                reference: is_reference,
                tokens_cut: count(tokens_cut),
            })
        }
        Content::Opaque(data) => {
            model_block::Block::Opaque(v1::OpaquePart { provider: provider.to_owned(), data })
        }
    };
    v1::ModelBlock { block: Some(content), tokens: count(tokens) }
}

fn count(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
