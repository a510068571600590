//! Compresses the files of the console's page, as `page_text.rs` has them, and lists them for `faces/console/page.rs`.

#![allow(clippy::unnecessary_debug_formatting, reason = "paths are written as Rust's literals")]

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use brotli::enc::BrotliEncoderParams;
use data_encoding::HEXLOWER;
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest as _, Sha256};

mod page_text;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Names the library that `scripts/vendor` wrote, and is no part of the page.
const CHECKSUMS: &str = "vendor/SHA256";
/// What `/` is.
const INDEX: &str = "index.html";

fn main() -> Result {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=page_text.rs");
    println!("cargo::rerun-if-changed=data/console");
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("data/console");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut names = names(&root, "")?;
    names.retain(|name| name != CHECKSUMS);
    names.sort();
    let mut list = String::from("[\n");
    for name in &names {
        writeln!(list, "{},", entry(&root.join(name), name, &out)?)?;
    }
    list.push(']');
    fs::write(out.join("console.rs"), list)?;
    Ok(())
}

/// The files below a folder, by their paths from the root with `/`.
fn names(folder: &Path, prefix: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| format!("{name:?} is not UTF-8"))?;
        let name = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            found.extend(names(&entry.path(), &format!("{name}/"))?);
        } else {
            found.push(name);
        }
    }
    Ok(found)
}

/// An expression of the type `File`, whose bytes and their encodings are written to `out`.
fn entry(file: &Path, name: &str, out: &Path) -> Result<String> {
    let bytes = page_text::served(name, fs::read_to_string(file)?).into_bytes();
    let path = if name == INDEX { String::from("/") } else { format!("/{name}") };
    let digest = HEXLOWER.encode(&Sha256::digest(&bytes));
    let encoded = out.join("console").join(name);
    fs::create_dir_all(encoded.parent().ok_or("a file is in a folder")?)?;
    let [plain, brotli, gzip] =
        ["plain", "br", "gz"].map(|extension| encoded.with_added_extension(extension));
    fs::write(&plain, &bytes)?;
    fs::write(&brotli, brotli_of(&bytes)?)?;
    fs::write(&gzip, gzip_of(&bytes)?)?;
    Ok(format!(
        "File {{ path: {path:?}, media_type: {:?}, digest: {digest:?}, plain: include_bytes!({plain:?}), brotli: \
         include_bytes!({brotli:?}), gzip: include_bytes!({gzip:?}) }}",
        media_type(name)?
    ))
}

fn media_type(name: &str) -> Result<&'static str> {
    match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("html") => Ok("text/html; charset=utf-8"),
        Some("js") => Ok("text/javascript; charset=utf-8"),
        Some("css") => Ok("text/css; charset=utf-8"),
        Some("svg") => Ok("image/svg+xml"),
        None => Ok("text/plain; charset=utf-8"),
        Some(_) => {
            Err(format!("console/{name}: name the media type of such files in src/server/build.rs").into())
        }
    }
}

fn brotli_of(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoded = Vec::new();
    let parameters =
        BrotliEncoderParams { quality: 11, size_hint: bytes.len(), ..BrotliEncoderParams::default() };
    brotli::BrotliCompress(&mut &*bytes, &mut encoded, &parameters)?;
    Ok(encoded)
}

fn gzip_of(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}
