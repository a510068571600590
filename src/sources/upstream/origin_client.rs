//! The HTTP client of servers that an operator named by address: redirects stay within the origin, and no link-local
//! address and no metadata service is reached.
//!
//! Not here: the address itself, which the configuration checks.

use std::time::Duration;

use reqwest::redirect;

use toolwire_outgoing::{ClientCertificate, Egress, Trust};

const CONNECT: Duration = Duration::from_secs(10);
/// Redirects of one request that are followed.
const MAX_REDIRECTS: usize = 3;

/// A client for one origin. A secure one verifies certificates, and presents its own if there is one.
pub fn origin_client(
    egress: &Egress,
    is_secure: bool,
    certificate: Option<&ClientCertificate>,
) -> Result<reqwest::Client, String> {
    let builder = egress
        .builder_presenting(Trust::for_secure(is_secure), certificate)
        .redirect(redirect::Policy::custom(|attempt| {
            let is_within =
                attempt.previous().first().is_some_and(|it| it.origin() == attempt.url().origin());
            // Others make a GET of what is posted.
            let is_repeat = matches!(attempt.status().as_u16(), 307 | 308);
            let may_follow = is_within && is_repeat && attempt.previous().len() <= MAX_REDIRECTS;
            if may_follow { attempt.follow() } else { attempt.stop() }
        }))
        .connect_timeout(CONNECT);
    builder.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use wiremock::{Mock, MockServer, ResponseTemplate, matchers::path};

    use super::*;

    #[tokio::test]
    async fn a_redirect_is_followed_within_the_origin_only() {
        let (server, other) = (MockServer::start().await, MockServer::start().await);
        let redirect = |status: u16, to: String| ResponseTemplate::new(status).insert_header("location", to);
        for (from, answer) in [
            ("/within", redirect(307, "/good".to_owned())),
            ("/away", redirect(307, format!("{}/good", other.uri()))),
            ("/get", redirect(302, "/good".to_owned())),
            ("/good", ResponseTemplate::new(200)),
        ] {
            Mock::given(path(from)).respond_with(answer).mount(&server).await;
        }
        let client = origin_client(&Egress::default(), false, None).expect("a client");
        for (from, status) in [("/within", 200), ("/away", 307), ("/get", 302)] {
            let answer = client.post(format!("{}{from}", server.uri())).body("{}").send().await.expect(from);
            assert_eq!(answer.status().as_u16(), status, "{from}");
        }
        assert!(other.received_requests().await.expect("recorded").is_empty());
    }
}
