//! Dimensions of images, from the headers of PNG, GIF, JPEG, WebP and BMP.

/// Width and height in pixels, if the header is recognised.
pub fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    let size = png(bytes).or_else(|| gif(bytes)).or_else(|| webp(bytes)).or_else(|| bmp(bytes));
    size.or_else(|| jpeg(bytes))
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    (header.get(4..8)? == b"IHDR").then_some(())?;
    Some((u32::from_be_bytes(array(header, 8)?), u32::from_be_bytes(array(header, 12)?)))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.strip_prefix(b"GIF87a").or_else(|| bytes.strip_prefix(b"GIF89a"))?;
    Some((u16::from_le_bytes(array(header, 0)?).into(), u16::from_le_bytes(array(header, 2)?).into()))
}

fn bmp(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.strip_prefix(b"BM")?;
    // A negative height means that rows are stored top-down.
    let height = i32::from_le_bytes(array(header, 20)?).unsigned_abs();
    Some((u32::from_le_bytes(array(header, 16)?), height))
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let chunk = bytes.strip_prefix(b"RIFF")?.get(4..)?.strip_prefix(b"WEBP")?;
    let body = chunk.get(8..)?;
    let three =
        |at| Some(u32::from_le_bytes([*body.get(at)?, *body.get(at + 1)?, *body.get(at + 2)?, 0]) + 1);
    match chunk.get(..4)? {
        b"VP8X" => Some((three(4)?, three(7)?)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(array(body, 1)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8 " => {
            let side = |at| Some(u32::from(u16::from_le_bytes(array(body, at)?) & 0x3fff));
            Some((side(6)?, side(8)?))
        }
        _ => None,
    }
}

/// Skips segments up to the one that begins a frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, marker, ..] = rest else { return None };
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            let side = |at| Some(u32::from(u16::from_be_bytes(array(rest, at)?)));
            return Some((side(7)?, side(5)?));
        }
        let is_filler = *marker == 0xff;
        let length = if is_filler { 1 } else { 2 + usize::from(u16::from_be_bytes(array(rest, 2)?)) };
        rest = rest.get(length..)?;
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn the_first_bytes_say_the_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06";
        let bmp = b"BM----\0\0\0\0----\x28\0\0\0\x80\x02\0\0\x20\xfe\xff\xff";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\x01\xe0\x02\x80\x03";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x7f\xc2\x77\0";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01";
        for bytes in [&png[..], bmp, jpeg, extended, lossless, lossy, b"GIF89a\x80\x02\xe0\x01"] {
            assert_eq!(size(bytes), Some((640, 480)), "{}", bytes.escape_ascii());
            assert_eq!(size(&bytes[..bytes.len() / 2]), None);
        }
        assert_eq!(size(b"no image"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(begin in 0_usize..6, bytes in vec(any::<u8>(), 0..64)) {
            let begins: [&[u8]; 6] =
                [b"", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"GIF89a", b"BM", b"RIFF\0\0\0\0WEBPVP8X", b"\xff\xd8\xff"];
            let _ = size(&[begins[begin], &bytes].concat());
        }
    }
}
