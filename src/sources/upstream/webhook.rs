//! Posting a message as Standard Webhooks does: signed, over a connection that follows no redirect.
//!
//! Not here: what is sent, and when it is retried.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64;
use ring::hmac;
use url::Url;

use toolwire_outgoing::{Egress, Trust, causes_of};

/// How long an attempt may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Posts messages. Cheap to clone; clones share connections.
#[derive(Clone, Debug)]
pub struct Poster(reqwest::Client);

/// A message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// The answer was another than success.
    #[error("answered {0}")]
    Answer(u16),
    /// There was no answer.
    #[error("{0}")]
    Network(String),
}

impl Poster {
    /// Connections that go out so, and verify certificates.
    pub fn new(egress: &Egress, is_secure: bool) -> Result<Self, NotTaken> {
        let builder = egress.builder(Trust::for_secure(is_secure)).timeout(TIMEOUT);
        builder.build().map(Self).map_err(|error| NotTaken::Network(error.to_string()))
    }

    /// Posts a message of this name, signed with each key.
    pub async fn post(&self, url: &Url, keys: &[&[u8]], id: &str, body: String) -> Result<(), NotTaken> {
        let at = toolwire_base::clock::wall();
        let answer = self
            .0
            .post(url.clone())
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds(at))
            .header("webhook-signature", signatures(keys, id, at, &body))
            .body(body)
            .send()
            .await;
        match answer {
            Ok(answer) if answer.status().is_success() => Ok(()),
            // A redirect is none.
            Ok(answer) => Err(NotTaken::Answer(answer.status().as_u16())),
            Err(error) if error.is_timeout() => Err(NotTaken::Network("no answer in time".to_owned())),
            // Its words would hold the address, which may be a secret.
            Err(error) => {
                let causes = causes_of(&error);
                Err(NotTaken::Network(format!("{}: {causes}", error.without_url())))
            }
        }
    }
}

/// `v1,<base64>` for each key, apart by a space.
fn signatures(keys: &[&[u8]], id: &str, at: SystemTime, body: &str) -> String {
    let signed = format!("{id}.{}.{body}", seconds(at));
    let signature = |key: &&[u8]| {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), signed.as_bytes());
        format!("v1,{}", BASE64.encode(tag.as_ref()))
    };
    keys.iter().map(signature).collect::<Vec<_>>().join(" ")
}

fn seconds(at: SystemTime) -> String {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification of Standard Webhooks.
    #[test]
    fn a_signature_is_that_of_the_standard() {
        let key = BASE64.decode(b"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("base64");
        let at = UNIX_EPOCH + Duration::from_secs(1_614_265_330);
        let body = r#"{"test": 2432232314}"#;
        let signed = signatures(&[&key], "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(signatures(&[&key, b"other"], "a", at, body).split(' ').count(), 2);
    }
}
