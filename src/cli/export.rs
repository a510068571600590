//! `toolwire export`: the tools as a provider of models, or MCP, declares them.

use clap::{Args, builder::PossibleValuesParser};
use serde_json::{Value, json};
use strum::VariantArray as _;

use super::{backend::into_answer, connection::Connection};
use toolwire_contract::proto::v1;
use toolwire_engine::exports::Format;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// Prints the tools as a provider of models declares them
///
/// The declarations are printed on standard output as one line of JSON, the same bytes as ExportTools returns; what
/// differs from the definitions is said on standard error.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// The format of the declarations
    #[arg(long = "for", value_name = "FORMAT", value_parser = PossibleValuesParser::new(Format::VARIANTS.iter().map(Format::into_str)))]
    format: String,
    /// In the strict form, which openai and openai-responses have
    #[arg(long)]
    strict: bool,
    /// Declares only tools with this tag; several must all match
    #[arg(long = "tag", visible_alias = "tags", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,
    /// Prints declarations and notes as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Export {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        let request = v1::ExportToolsRequest { format: self.format, strict: self.strict, tags: self.tags };
        let exported = into_answer(backend.tools().export_tools(request)).await?;
        let v1::ExportToolsResponse { json, notes } = exported;
        if self.json {
            let declared: Value = serde_json::from_str(&json)
                .map_err(|error| Failure::Failed(format!("the export cannot be read as JSON: {error}")))?;
            return console::json(&json!({"json": declared, "notes": notes})).map(|_| ());
        }
        for note in &notes {
            console::say(&format!("note: {note}"));
        }
        console::exact(&json)
    }
}
