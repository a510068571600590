//! Webhooks in the file, with their secrets in variables.

use super::*;
use crate::webhook_key;

const SECRET: (&str, &str) = ("HOOK", "whsec_bmV3LW5ldy1uZXctbmV3LW5ldy1uZXctbmV3");

#[test]
fn a_webhook_has_an_address_and_secrets_which_are_shown_nowhere() {
    let file = "[[confirmations.webhooks]]\nurl = 'https://chat.example/hook'\nsecrets_env = ['HOOK']\n\
                events = ['requested']";
    let loaded = loaded(file, &[SECRET], Flags::default()).unwrap();
    let webhook = &loaded.config.confirmations.webhooks[0];
    assert_eq!((webhook.url.as_str(), webhook.arguments), ("https://chat.example/hook", false));
    assert_eq!(webhook.events, ["requested"]);
    assert_eq!(webhook_key(&webhook.secrets[0]), b"new-new-new-new-new-new-new");
    let printed = print(&loaded);
    assert!(printed.contains("https://chat.example/[hidden]") && !printed.contains("bmV3"), "{printed}");
    assert!(!format!("{:?}", loaded.config.confirmations).contains("bmV3"));
}

#[test]
fn what_is_wrong_with_a_webhook_is_said_at_start() {
    let secrets = "secrets_env = ['HOOK']";
    for (file, expected) in [
        (format!("url = 'http://chat.example/'\n{secrets}"), "url must be https://"),
        (format!("url = 'https://a.example/'\n{secrets}\nevents = ['used']"), "events must be of"),
        ("url = 'https://a.example/'\nsecrets_env = []".to_owned(), "must name one variable"),
        ("url = 'https://a.example/'\nsecrets_env = ['NONE']".to_owned(), "NONE, which is not set"),
        ("url = 'https://a.example/'".to_owned(), "secrets_env is missing"),
        (format!("url = 'https://a.example/'\n{secrets}\nsecret = 'x'"), "unknown setting"),
    ] {
        let said = refused(&format!("[[confirmations.webhooks]]\n{file}"), &[SECRET], Flags::default());
        assert!(said.contains(expected), "{said}");
    }
    let short = ("HOOK", "whsec_c2hvcnQ=");
    let file = format!("[[confirmations.webhooks]]\nurl = 'https://a.example/'\n{secrets}");
    assert!(refused(&file, &[short], Flags::default()).contains("24 to 64 bytes"));
}
