//! Settings of the console, and where it is.

use super::{Config, reader::Reader, settings::settings};

settings! {
    /// The console, a page of the HTTP listener: `[console]`. `http.console` switches it off.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Console in "console" {
        /// The public client, at the issuers of `[[auth.issuers]]`, as which the page signs its users in. Without one
        /// it asks for a token.
        client_id: Option<String> = None, "TOOLWIRE_CONSOLE_CLIENT_ID", as Reader::optional;
    }
}

impl Config {
    /// The address of the console as persons open it: `http.public_url`, or that of a listener on this machine. `None`
    /// where there is no console, or only the listener knows its port.
    pub fn console_url(&self) -> Option<String> {
        let listen = self.http.listen.filter(|_| self.http.console)?;
        if let Some(url) = &self.http.public_url {
            return Some(url.clone());
        }
        let scheme = if self.server.tls.files().is_some() { "https" } else { "http" };
        (listen.ip().is_loopback() && listen.port() != 0).then(|| format!("{scheme}://{listen}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Flags, testing::load_text};

    #[test]
    fn the_console_is_where_persons_can_open_it() {
        for (file, url) in [
            ("listen = '127.0.0.1:50080'", Some("http://127.0.0.1:50080")),
            (
                "listen = '127.0.0.1:50080'\npublic_url = 'https://tools.example'",
                Some("https://tools.example"),
            ),
            ("listen = '127.0.0.1:50080'\nconsole = false", None),
            ("listen = '127.0.0.1:0'", None),
            ("public_url = 'https://tools.example'", None),
        ] {
            let config = load_text(&format!("[http]\n{file}"), &[], Flags::default(), &[]).unwrap().config;
            assert_eq!(config.console_url().as_deref(), url, "{file}");
        }
    }
}
