//! The parser of HTTP/1 message framing: a state machine over heads, bodies with a length, chunks and trailers.
//!
//! It is lenient where hyper is strict: hyper rejects fields and chunks that this parser ignores.

/// Maximum length of a line in bytes. hyper already rejects heads and chunk extensions of 16 KiB.
const MAX_LINE_LENGTH: usize = 64 * 1024;
/// Maximum size of a chunk in bytes, larger than any body that the server accepts.
const MAX_CHUNK: u64 = (1 << 40) - 1;

/// An error in the framing of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("a line ends with LF and no CR")]
    BareLineFeed,
    #[error("a line is too long")]
    LineTooLong,
    #[error("the length of the body is stated twice, or not in the one way that is read")]
    Length,
    #[error("the size of a chunk is not a hexadecimal number of at most 10 digits")]
    ChunkSize,
}

/// The state of the parser between two bytes.
#[derive(Debug, Default)]
pub(super) struct Position {
    part: Part,
    /// The bytes of the current line so far.
    line: Vec<u8>,
}

/// The part of a message that the next byte belongs to.
#[derive(Debug)]
enum Part {
    Head(Head),
    /// A body with a `Content-Length`; `left` is in bytes.
    Content {
        left: u64,
    },
    /// The data of a chunk and the CRLF after it; `left` is in bytes.
    Chunk {
        left: u64,
    },
    ChunkSize,
    Trailers,
}

/// The framing headers of a head, as far as it was parsed.
#[derive(Debug, Default)]
struct Head {
    has_begun: bool,
    length: Option<u64>,
    is_chunked: bool,
}

impl Default for Part {
    fn default() -> Self {
        Self::Head(Head::default())
    }
}

impl Position {
    /// Parses bytes that were read. On an error returns how many bytes before it are valid.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Result<(), (usize, Malformed)> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = match &mut self.part {
                Part::Content { left } | Part::Chunk { left } => skip(left, rest.len()),
                _ => rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1),
            };
            let (piece, later) = rest.split_at(length);
            // A line is rejected at its last byte.
            self.take(piece).map_err(|malformed| (bytes.len() - later.len() - 1, malformed))?;
            rest = later;
        }
        Ok(())
    }

    /// Whether the next byte belongs to a head.
    pub(super) fn is_in_head(&self) -> bool {
        matches!(self.part, Part::Head(_))
    }

    /// Parses a piece that does not extend beyond the current line, body or chunk.
    fn take(&mut self, piece: &[u8]) -> Result<(), Malformed> {
        match self.part {
            Part::Content { left: 0 } => self.part = Part::default(),
            Part::Chunk { left: 0 } => self.part = Part::ChunkSize,
            Part::Content { .. } | Part::Chunk { .. } => {}
            Part::Head(_) | Part::ChunkSize | Part::Trailers => {
                self.line.extend_from_slice(piece);
                if self.line.len() > MAX_LINE_LENGTH {
                    return Err(Malformed::LineTooLong);
                }
                if piece.ends_with(b"\n") {
                    let mut line = std::mem::take(&mut self.line);
                    self.end_line(line.strip_suffix(b"\r\n").ok_or(Malformed::BareLineFeed)?)?;
                    line.clear();
                    self.line = line;
                }
            }
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8]) -> Result<(), Malformed> {
        match &mut self.part {
            Part::Head(head) if line.is_empty() => self.part = head.end(),
            Part::Head(head) => head.add(line)?,
            Part::ChunkSize => {
                self.part = match chunk_size(line)? {
                    0 => Part::Trailers,
                    size => Part::Chunk { left: size.saturating_add(2) },
                }
            }
            Part::Trailers if line.is_empty() => self.part = Part::default(),
            Part::Trailers | Part::Content { .. } | Part::Chunk { .. } => {}
        }
        Ok(())
    }
}

impl Head {
    fn add(&mut self, line: &[u8]) -> Result<(), Malformed> {
        // The first line is the request line.
        if !std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return Ok(()) };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let is_length = name.eq_ignore_ascii_case(b"content-length");
        if !is_length && !name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Ok(());
        }
        // Exactly one of the two headers, once. `chunked` is the only supported transfer coding.
        if self.length.is_some() || self.is_chunked {
            return Err(Malformed::Length);
        }
        if is_length {
            self.length = Some(number(value, 10).ok_or(Malformed::Length)?);
        } else {
            self.is_chunked = value.eq_ignore_ascii_case(b"chunked");
        }
        if is_length || self.is_chunked { Ok(()) } else { Err(Malformed::Length) }
    }

    /// The part after the empty line.
    fn end(&self) -> Part {
        match (self.length, self.is_chunked) {
            (_, true) => Part::ChunkSize,
            (None | Some(0), false) => Part::default(),
            (Some(left), false) => Part::Content { left },
        }
    }
}

/// Consumes at most `left` of the available bytes, and returns how many.
fn skip(left: &mut u64, available: usize) -> usize {
    let skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(available);
    *left -= skipped as u64;
    skipped
}

/// The size in a chunk's first line, before its extensions.
fn chunk_size(line: &[u8]) -> Result<u64, Malformed> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    number(&line[..digits], 16).filter(|size| *size <= MAX_CHUNK).ok_or(Malformed::ChunkSize)
}

/// A number without sign or white space.
fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let is_plain = digits.iter().all(u8::is_ascii_hexdigit);
    let text = str::from_utf8(digits).ok().filter(|_| is_plain)?;
    u64::from_str_radix(text, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of valid bytes and the error of the next one, which must not depend on how the bytes are split.
    #[track_caller]
    fn read(text: &str) -> Result<(), (usize, Malformed)> {
        let results = [1, 2, 7, text.len()].map(|size| {
            let (mut position, mut valid) = (Position::default(), 0);
            for piece in text.as_bytes().chunks(size) {
                position.advance(piece).map_err(|(more, malformed)| (valid + more, malformed))?;
                valid += piece.len();
            }
            Ok(())
        });
        assert!(results.iter().all(|result| *result == results[0]), "{text:?}: {results:?}");
        results[0]
    }

    fn post(headers: &str, body: &str) -> String {
        format!("POST / HTTP/1.1\r\n{headers}\r\n\r\n{body}")
    }

    /// A request that is invalid if it is parsed as a head, so that parsing shows where the body before it ends.
    const BARE: &str = "GET / HTTP/1.1\n";

    #[test]
    fn a_head_begins_where_the_body_before_it_ends() {
        for (headers, body) in [
            ("host: a", ""),
            ("content-length: 0", ""),
            ("Content-Length:  5 ", "a\nb\r\n"),
            ("Transfer-Encoding: Chunked", "0\r\n\r\n"),
            (
                "transfer-encoding: chunked",
                "2;a=\"b\"\r\n\n\n\r\n00A \r\n0123\n56789\r\n0\r\nx: y\r\nz: w\r\n\r\n",
            ),
        ] {
            let first = post(headers, body);
            let malformed = (first.len() + BARE.len() - 1, Malformed::BareLineFeed);
            assert_eq!(read(&format!("{first}{BARE}")), Err(malformed), "{headers} {body:?}");
            assert_eq!(read(&format!("{first}\r\n{first}")), Ok(()), "{headers} {body:?}");
        }
    }

    #[test]
    fn a_line_is_bounded() {
        let text = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(MAX_LINE_LENGTH));
        let mut position = Position::default();
        assert_eq!(position.advance(text.as_bytes()).unwrap_err().1, Malformed::LineTooLong);
    }
}
