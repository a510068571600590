//! Tokens by client credentials.

use toolwire::config::OAuth;

use super::{
    stub::{events, json as reply},
    *,
};

const DONE: [&str; 2] =
    [r#"{"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#, "[DONE]"];

fn oauth(stub: &Stub) -> Credentials {
    Credentials::OAuth(OAuth {
        token_url: stub.url("/token").parse().unwrap(),
        client_id: "the client".to_owned(),
        client_secret: SecretString::from(KEY),
        scope: "chat".to_owned(),
        audience: "models".to_owned(),
    })
}

#[tokio::test]
async fn a_token_is_fetched_once_and_shown_as_bearer() {
    let tokens =
        Stub::answering([reply(200, r#"{"access_token":"t-1","token_type":"bearer","expires_in":3600}"#)])
            .await;
    let models = Stub::answering([events(&DONE), events(&DONE)]).await;
    let model = of(&models, Provider::Compatible, oauth(&tokens));
    for _ in 0..2 {
        assert_eq!(answer(&model, question()).await.unwrap().0, "Hi");
    }
    let asked = tokens.requests();
    assert_eq!(asked.len(), 1);
    // `the+client` and the key, in Base64.
    assert!(asked[0].to_lowercase().contains("authorization: basic "), "{}", asked[0]);
    assert!(asked[0].ends_with("grant_type=client_credentials&scope=chat&audience=models"), "{}", asked[0]);
    assert!(models.requests().iter().all(|it| it.to_lowercase().contains("authorization: bearer t-1")));
}

#[tokio::test]
async fn callers_at_the_same_time_share_one_fetch() {
    let tokens = Stub::answering([reply(200, r#"{"access_token":"t-1","expires_in":3600}"#)]).await;
    let models = Stub::answering(vec![events(&DONE); 8]).await;
    let model = of(&models, Provider::Compatible, oauth(&tokens));
    let all = (0..8).map(|_| answer(&model, question()));
    assert!(futures_util::future::join_all(all).await.iter().all(Result::is_ok));
    assert_eq!(tokens.requests().len(), 1);
}

#[tokio::test]
async fn a_refused_token_is_fetched_once_more_and_no_more() {
    let token = |name: &str| reply(200, &format!(r#"{{"access_token":"{name}","expires_in":3600}}"#));
    let tokens = Stub::answering([token("t-1"), token("t-2")]).await;
    let models = Stub::answering([reply(401, "{}"), events(&DONE)]).await;
    assert!(answer(&of(&models, Provider::Compatible, oauth(&tokens)), question()).await.is_ok());
    assert!(models.requests()[1].to_lowercase().contains("bearer t-2"));

    let tokens = Stub::answering([token("t-1"), token("t-2"), token("t-3")]).await;
    let models = Stub::answering([reply(401, "{}"), reply(401, "{}")]).await;
    let error = answer(&of(&models, Provider::Compatible, oauth(&tokens)), question()).await.unwrap_err();
    assert_eq!((error, tokens.requests().len(), models.requests().len()), (ModelError::AuthFailed, 2, 2));
}

#[tokio::test]
async fn a_token_that_is_not_given_is_said_by_its_kind() {
    for (answered, expected) in [
        (reply(401, "{}"), ModelError::AuthFailed),
        (reply(400, r#"{"error":"invalid_client"}"#), ModelError::AuthFailed),
        (reply(200, "<html>"), ModelError::Malformed),
        (reply(200, r#"{"access_token":""}"#), ModelError::AuthFailed),
    ] {
        let tokens = Stub::answering([answered]).await;
        let models = Stub::answering([]).await;
        let error = answer(&of(&models, Provider::Compatible, oauth(&tokens)), question()).await.unwrap_err();
        assert_eq!((error, models.requests().len()), (expected, 0));
    }
}
