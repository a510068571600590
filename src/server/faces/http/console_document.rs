//! What the page of the console must know before its user has signed in: `GET /v1/console`. It is the same for every
//! reader.

use std::{fmt, sync::Arc};

use serde_json::{Value, json};
use url::Url;

use super::protected_resource::SignIn;
use toolwire_base::current::Current;
use toolwire_identity::Origin;

/// How users sign in, and where this server is.
#[derive(Debug)]
pub struct ConsoleDocument {
    /// Whether credentials are not required.
    pub is_open: bool,
    /// The public client of the page at the issuers.
    pub client_id: Option<String>,
    /// The origin by which clients know this server; empty if none is configured.
    pub public_url: String,
    /// The address of gRPC; empty if it is not known.
    pub grpc: String,
    /// Whether MCP and AG-UI are served.
    pub mcp: bool,
    pub agui: bool,
    /// The issuers of the moment.
    pub sign_in: Current<SignIn>,
    pub token_origins: Arc<dyn TokenOrigins>,
}

/// Where the users of issuers get tokens.
pub trait TokenOrigins: fmt::Debug + Send + Sync {
    /// The origin of the token endpoint that the metadata of an issuer name; `None` until they are read.
    fn token_origin(&self, issuer: &str) -> Option<Origin>;
}

impl ConsoleDocument {
    pub(in crate::faces) fn to_json(&self) -> Value {
        let sign_in = self.sign_in.load_full();
        let issuer = |issuer: &String| {
            json!({
                "issuer": issuer,
                "client_id": self.client_id,
                "scopes": sign_in.scopes().collect::<Vec<_>>(),
                "resource": self.mcp_url(),
            })
        };
        let issuers: Vec<_> = self.issuers(&sign_in).iter().map(issuer).collect();
        let way = match () {
            () if self.is_open => "none",
            () if issuers.is_empty() => "token",
            () => "issuer",
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "sign_in": way,
            "issuers": issuers,
            "public_url": self.public_url,
            "mcp_url": if self.mcp { self.mcp_url() } else { String::new() },
            "grpc": self.grpc,
            "faces": {"rest": true, "mcp": self.mcp, "agui": self.agui},
        })
    }

    /// The origins that the page asks to sign users in: of each issuer, and of its token endpoint.
    pub(in crate::faces) fn sign_in_origins(&self) -> Vec<String> {
        let sign_in = self.sign_in.load_full();
        let mut origins = Vec::new();
        for issuer in self.issuers(&sign_in) {
            let own = Url::parse(issuer).ok().and_then(|url| Origin::of(&url));
            let of_tokens = self.token_origins.token_origin(issuer);
            for origin in own.into_iter().chain(of_tokens).map(|it| it.to_string()) {
                if !origins.contains(&origin) {
                    origins.push(origin);
                }
            }
        }
        origins
    }

    /// The issuers at which the page is a client.
    fn issuers<'a>(&self, sign_in: &'a SignIn) -> &'a [String] {
        if self.is_open || self.client_id.is_none() { &[] } else { sign_in.issuers() }
    }

    /// The resource that tokens are for.
    fn mcp_url(&self) -> String {
        if self.public_url.is_empty() { String::new() } else { format!("{}/mcp", self.public_url) }
    }
}
