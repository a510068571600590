//! What a site may do to a document that it is asked for.

use std::{io::Write, time::Duration};

use chrono::{DateTime, Utc};
use flate2::{Compression, write::GzEncoder};

use super::injection::Injection;
use toolwire_base::{clock, offload::SMALL};

/// What is done to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attack {
    None,
    /// Half of it, as if that were all.
    Truncated,
    /// Half of it, and then the connection ends.
    BrokenOff,
    Empty,
    /// A page in its place.
    Html,
    /// 403.
    Forbidden,
    /// 451.
    Refused,
    /// 429.
    TooMany(After),
    /// 503.
    Busy(After),
    /// A redirect to another origin.
    RedirectElsewhere,
    /// Redirects without an end.
    RedirectRound,
    /// A redirect within the origin, to the document.
    RedirectWithin,
    /// A byte now and then.
    Drip,
    /// A small body that unpacks to a large one.
    Bomb,
    TooLong,
    /// A body that says it is packed and is not.
    NoGzip,
    /// A byte order mark before it.
    Bom,
    /// The document in ISO-8859-1, as its header says.
    Latin,
    /// The document in UTF-16, as its header says.
    Wide,
    /// White space behind it, so that it is large.
    Large,
    /// The document with something in one of its texts.
    Injection(Injection),
}

/// In which form `Retry-After` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    Seconds,
    Date,
}

/// For how long a site asks to be left alone.
const PAUSE: Duration = Duration::from_hours(1);
/// More than any source may send.
const LARGE: usize = 3 * 1024 * 1024;

impl Attack {
    pub(super) const ALL: [Self; 21] = [
        Self::None,
        Self::Truncated,
        Self::BrokenOff,
        Self::Empty,
        Self::Html,
        Self::Forbidden,
        Self::Refused,
        Self::TooMany(After::Seconds),
        Self::TooMany(After::Date),
        Self::Busy(After::Seconds),
        Self::Busy(After::Date),
        Self::RedirectElsewhere,
        Self::RedirectRound,
        Self::RedirectWithin,
        Self::Drip,
        Self::Bomb,
        Self::TooLong,
        Self::NoGzip,
        Self::Bom,
        Self::Latin,
        Self::Wide,
    ];

    /// For how long the site asks to be left alone.
    pub(super) fn pause(self) -> Option<Duration> {
        matches!(self, Self::TooMany(_) | Self::Busy(_)).then_some(PAUSE)
    }

    /// The answer, as bytes on the wire: to a request for `target`, where `good` is the document of a media type.
    pub(super) fn answer(self, target: &str, elsewhere: &str, media_type: &str, good: &str) -> Vec<u8> {
        let typed = |charset: &str| format!("content-type: {media_type}{charset}\r\n");
        let half = &good.as_bytes()[..good.len() / 2];
        let page = b"<!DOCTYPE html><html><head><title>Just a moment</title></head></html>";
        match self {
            Self::None | Self::Drip => response(200, &typed(""), good.as_bytes()),
            Self::Truncated => response(200, &typed(""), half),
            Self::BrokenOff => {
                let whole = response(200, &typed(""), good.as_bytes());
                whole[..whole.len() - good.len() / 2].to_vec()
            }
            Self::Empty => response(200, &typed(""), b""),
            Self::Html => response(200, "content-type: text/html\r\n", page),
            Self::Forbidden => response(403, "", b"Forbidden"),
            Self::Refused => response(451, "", b""),
            Self::TooMany(after) => response(429, &after.header(), b""),
            Self::Busy(after) => response(503, &after.header(), b"busy"),
            Self::RedirectElsewhere => redirect(&format!("{elsewhere}nowhere")),
            Self::RedirectRound => {
                let turn: u32 = target.rsplit_once("turn=").and_then(|(_, n)| n.parse().ok()).unwrap_or(0);
                redirect(&with(target, &format!("turn={}", turn + 1)))
            }
            Self::RedirectWithin => redirect(&with(target, "moved=1")),
            Self::Large => response(200, &typed(""), &[good.as_bytes(), &[b' '; SMALL]].concat()),
            Self::Injection(injection) => response(200, &typed(""), injection.within(good).as_bytes()),
            Self::Bomb => response(200, "content-encoding: gzip\r\n", &gzipped(&vec![b' '; LARGE])),
            Self::TooLong => response(200, &typed(""), &vec![b' '; LARGE]),
            Self::NoGzip => response(200, "content-encoding: gzip\r\n", good.as_bytes()),
            Self::Bom => response(200, &typed(""), &[b"\xef\xbb\xbf", good.as_bytes()].concat()),
            Self::Latin => {
                let latin: Vec<u8> =
                    good.chars().map(|c| u8::try_from(u32::from(c)).expect("latin")).collect();
                response(200, &typed("; charset=ISO-8859-1"), &latin)
            }
            Self::Wide => {
                let wide: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
                response(200, &typed("; charset=UTF-16LE"), &wide)
            }
        }
    }
}

impl After {
    fn header(self) -> String {
        let value = match self {
            Self::Seconds => PAUSE.as_secs().to_string(),
            Self::Date => {
                let at: DateTime<Utc> = (clock::wall() + PAUSE).into();
                at.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
            }
        };
        format!("retry-after: {value}\r\n")
    }
}

pub(super) fn response(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn redirect(to: &str) -> Vec<u8> {
    response(302, &format!("location: {to}\r\n"), b"")
}

fn with(target: &str, pair: &str) -> String {
    format!("{target}{}{pair}", if target.contains('?') { '&' } else { '?' })
}

fn gzipped(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).expect("to memory");
    encoder.finish().expect("to memory")
}
