//! `get_quotes` as a tool of an rmcp server: streamable HTTP, stateless, answered with JSON.
//!
//! It reads its argument and looks each symbol up, as ours does, and answers with the same JSON text. It checks no
//! credentials, writes no log and knows no deadline. Where `RESULT` names a file, it answers every call of any tool with
//! the result in it: what the protocol alone costs.

use std::{env, error::Error, fs, sync::Arc};

use axum::serve::ListenerExt;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::wrapper::Parameters,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
        ServerConfig,
    },
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const AS_OF: &str = "2026-01-15";
const CURRENCY: &str = "USD";
const QUOTES: [Quote; 4] = [
    Quote { symbol: "AAPL", price: 193.12, change_pct: 1.1 },
    Quote { symbol: "VTI", price: 236.18, change_pct: 0.7 },
    Quote { symbol: "BND", price: 72.85, change_pct: 0.1 },
    Quote { symbol: "MSFT", price: 420.55, change_pct: -0.6 },
];

/// What the tool takes.
#[derive(Debug, Deserialize, JsonSchema)]
struct Asked {
    /// Symbols, separated by commas.
    symbol: String,
}

/// What it returns.
#[derive(Debug, Serialize)]
struct Quotes {
    as_of: &'static str,
    quotes: Vec<Quote>,
    currency: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Quote {
    symbol: &'static str,
    price: f64,
    change_pct: f64,
}

#[derive(Clone, Debug)]
struct Tools;

#[tool_router]
impl Tools {
    #[tool(description = "Returns the market quotes of one or several symbols")]
    fn get_quotes(&self, Parameters(asked): Parameters<Asked>) -> Result<CallToolResult, ErrorData> {
        let find = |symbol| QUOTES.into_iter().find(|quote| quote.symbol == symbol);
        let quotes = asked.symbol.split(',').filter_map(find).collect();
        let text = serde_json::to_string(&Quotes { as_of: AS_OF, quotes, currency: CURRENCY })
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }
}

#[tool_handler]
impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// Answers with one result.
#[derive(Clone, Debug)]
struct Recorded(Arc<CallToolResult>);

impl ServerHandler for Recorded {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::clone(&self.0).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match env::var_os("RESULT") {
        Some(file) => {
            let result: CallToolResult = serde_json::from_slice(&fs::read(file)?)?;
            let recorded = Recorded(Arc::new(result));
            serve(move || Ok(recorded.clone())).await
        }
        None => serve(|| Ok(Tools)).await,
    }
}

async fn serve<H: ServerHandler>(
    handler: impl Fn() -> Result<H, std::io::Error> + Send + Sync + 'static,
) -> Result<(), Box<dyn Error>> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None);
    let service = StreamableHttpService::new(handler, Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("toolwire listening on {}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
