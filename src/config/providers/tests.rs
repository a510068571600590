//! What a provider may say of itself in the file, and what is refused.

use super::*;
use crate::{Flags, print, testing};

const TOKENS: [(&str, &str); 2] =
    [("SHOP_TOKEN", "shop-0123456789abcdef"), ("BANK_TOKEN", "bank-0123456789abcdef")];

fn refused(file: &str) -> String {
    testing::load_text(file, &TOKENS, Flags::default(), &[]).expect_err("a problem").to_string()
}

#[test]
fn a_provider_is_read_with_its_floor_and_printed_without_its_token() {
    let file = "[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\ntools = ['shop_*']\nat_least = 'medium'\n\
                approve = ['shop_delete_*']\nuntrusted = true\n[providers.shop.conditions.shop_refund]\n\
                amount = { maximum = 100 }\n[providers.bank]\nkind = 'host'\ntoken_env = 'BANK_TOKEN'";
    let loaded = testing::load_text(file, &TOKENS, Flags::default(), &[]).expect("good");
    let providers = &loaded.config.providers;
    let floor = providers.floor("shop");
    assert_eq!((floor.at_least, floor.untrusted), (Some(Consequence::Medium), true));
    assert!(floor.tools[0].matches("shop_refund") && !floor.tools[0].matches("refund"));
    assert!(floor.approve[0].matches("shop_delete_order"));
    assert_eq!(floor.conditions["shop_refund"]["amount"], serde_json::json!({"maximum": 100}));
    assert_eq!(providers.floor("bank"), ProviderFloor::default());
    let printed = print(&loaded);
    assert!(printed.contains("[providers.shop]") && !printed.contains("0123456789abcdef"), "{printed}");
    let again =
        testing::load_text(&printed, &TOKENS, Flags::default(), &[]).expect("what is printed is understood");
    assert_eq!(again.config.providers.floor("shop"), floor);
}

#[test]
fn what_is_wrong_with_a_provider_is_refused() {
    for (file, expected) in [
        ("[providers.shop]\nkind = 'host'", "token_env is missing"),
        ("[providers.shop]\ntoken_env = 'SHOP_TOKEN'", "kind is missing"),
        ("[providers.shop]\nkind = 'soap'\ntoken_env = 'SHOP_TOKEN'", "kind must be host"),
        ("[providers.shop]\nkind = 'host'\ntoken_env = 'NONE'", "NONE, which is not set"),
        ("[providers.local]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'", "not local"),
        (
            "[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\nat_least = 'huge'",
            "low, medium or high",
        ),
        ("[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\ntool = ['*']", "tool"),
        (
            "[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\nconditions = { refund = 3 }",
            "expected a table of conditions on refund",
        ),
        (
            "[providers.a]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\n[providers.b]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'",
            "another provider",
        ),
        (
            "[[auth.users]]\nuser_id = 'riley'\ntoken = 'shop-0123456789abcdef'\n[providers.a]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'",
            "a user",
        ),
    ] {
        let error = refused(file);
        assert!(error.contains(expected), "{file}: {error}");
    }
}
