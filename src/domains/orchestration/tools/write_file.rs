//! `write_file`: a document of the workspace, or a new version of one.

use bytes::Bytes;
use data_encoding::BASE64;

use super::task_workspace;
use crate::proto::v1::{WriteFileInput, WriteFileOutput};
use toolwire_contract::ToolError;
use toolwire_state::workspace::Header;
use toolwire_tool::{
    Reply, Tool,
    argument::{reject, required},
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct WriteFile;

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    type Input = WriteFileInput;
    type Output = WriteFileOutput;

    fn services() -> Required {
        task_workspace::services()
    }

    async fn execute(
        &self,
        input: WriteFileInput,
        context: &ToolContext,
    ) -> Result<Reply<WriteFileOutput>, Unfinished> {
        let path = required("path", input.path.as_deref())?.to_owned();
        required("content", input.content.as_deref())?;
        let bytes = bytes(input.content.unwrap_or_default(), input.encoding.as_deref())?;
        let header = Header {
            path,
            mime_type: input.mime_type.unwrap_or_default(),
            description: input.description,
            tags: Some(input.tags).filter(|tags| !tags.is_empty()),
            why: input.why_created.unwrap_or_default(),
            etag: input.etag.unwrap_or_default(),
            call_id: context.call_id.to_string(),
            ..Header::default()
        };
        let document = task_workspace::workspace(context).await?.put(header, bytes).await?;
        let data = WriteFileOutput {
            path: document.path,
            size_bytes: document.content.size,
            summary: document.content.summary,
            version: document.version,
            etag: document.etag,
        };
        Ok(Reply { data, provenance: task_workspace::provenance() })
    }
}

/// The bytes that a content stands for. Base64 may have breaks between its lines.
fn bytes(content: String, encoding: Option<&str>) -> Result<Bytes, ToolError> {
    if encoding != Some("base64") {
        return Ok(content.into());
    }
    let plain: String = content.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let wrong = |error| reject("content", "contentEncoding", format!("`content` is not base64: {error}"));
    Ok(BASE64.decode(plain.as_bytes()).map_err(wrong)?.into())
}
