//! What a token is for: this server, or a toolset of it.

use serde_json::{Value, json};

use super::support::{Signer, claims, verify_once};
use toolwire_tool::context::ToolsetName;

const WHOLE: &str = "https://tools.example/mcp";

/// The toolsets to which a token with these claims is bound, or the word of its refusal.
async fn bound_to(change: Value) -> Result<Option<Vec<String>>, &'static str> {
    let key = Signer::ed("k1");
    let verified = verify_once(&key, &key.token(&claims(&change)), |_| ()).await;
    let names = |names: &[ToolsetName]| names.iter().map(ToString::to_string).collect();
    verified.map(|it| it.bound_to.as_deref().map(names)).map_err(|refusal| refusal.word())
}

/// The names of these.
fn to(toolsets: &[&str]) -> Vec<String> {
    toolsets.iter().map(|&it| it.to_owned()).collect()
}

fn below(toolset: &str) -> String {
    format!("{WHOLE}/{toolset}")
}

#[tokio::test(start_paused = true)]
async fn an_audience_or_a_scope_binds_a_token_to_its_toolset() {
    for (change, expected) in [
        (json!({}), None),
        (json!({"aud": WHOLE}), None),
        (json!({"aud": below("shop")}), Some(to(&["shop"]))),
        (json!({"aud": [below("shop"), below("desk")]}), Some(to(&["shop", "desk"]))),
        // One that is for the whole is not bound, whatever else it is for.
        (json!({"aud": [below("shop"), WHOLE]}), None),
        // What the operator lists says nothing of toolsets.
        (json!({"aud": ["toolwire", below("shop")]}), Some(to(&["shop"]))),
        (json!({"scope": "tools openid"}), None),
        (json!({"scope": "tools:shop"}), Some(to(&["shop"]))),
        (json!({"scp": ["tools", "tools:shop"]}), Some(to(&["shop"]))),
        (json!({"scope": "tools:shop tools:desk", "aud": WHOLE}), Some(to(&["shop", "desk"]))),
        (json!({"scope": "tools:shop tools:desk", "aud": below("desk")}), Some(to(&["desk"]))),
        (json!({"scope": "tools:shop", "aud": below("desk")}), Some(to(&[]))),
        // Bound, to what is not there: it never has more than it says.
        (json!({"scope": "tools:gone"}), Some(to(&["gone"]))),
        (json!({"scope": "tools:"}), Some(to(&[]))),
        (json!({"scope": "tools:Shop"}), Some(to(&[]))),
        (json!({"scope": "Tools:shop toolsets:shop xtools:shop"}), None),
    ] {
        assert_eq!(bound_to(change.clone()).await, Ok(expected), "{change}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_url_of_a_toolset_is_an_audience_only_where_there_is_the_toolset() {
    let gone = [
        below("gone"),
        below("Shop"),
        below("shop/"),
        below("shop/desk"),
        below(""),
        below("shop?a=b"),
        "https://tools.example/mcpshop".to_owned(),
        "https://tools.example".to_owned(),
        "https://other.example/mcp/shop".to_owned(),
        "HTTPS://tools.example/mcp/shop".to_owned(),
    ];
    for audience in gone {
        assert_eq!(bound_to(json!({"aud": audience})).await, Err("wrong_audience"), "{audience}");
    }
}
