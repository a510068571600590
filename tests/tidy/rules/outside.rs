//! Text from outside, which sources hold only in the types of `upstream::text`: what is a `String` may hold anything.

use syn::{Field, Fields, Ident, Item, ItemEnum, ItemMod, ItemStruct, visit::Visit};

use crate::{
    findings::Finding,
    syntax,
    tree::{File, Tree},
};

/// Types that hold whatever came.
const BARE: &[&str] = &["Cow", "OsString", "RawValue", "String", "Value", "str"];

/// Fields of a source's records that hold whatever came.
pub(crate) fn bare(tree: &Tree) -> Vec<Finding> {
    let test_modules = tree.test_modules();
    let is_code = |file: &&File| {
        let module = file.module();
        !test_modules.iter().any(|test| module.starts_with(test))
    };
    let sources = tree.files.iter().filter(|file| is_source(file)).filter(is_code);
    sources.flat_map(|file| Records::of(file).found).collect()
}

/// The sources of a domain, but for the embedded ones: what those serve is ours.
fn is_source(file: &File) -> bool {
    let parts: Vec<_> = file.path.split(['/', '.']).collect();
    parts.starts_with(&["src", "domains"]) && parts.contains(&"sources") && !parts.contains(&"embedded")
}

struct Records<'a> {
    file: &'a File,
    found: Vec<Finding>,
}

impl<'a> Records<'a> {
    fn of(file: &'a File) -> Self {
        let mut records = Self { file, found: Vec::new() };
        records.visit_file(file.syntax());
        records
    }

    fn fields(&mut self, of: &str, fields: &Fields) {
        for (index, field) in fields.iter().enumerate().filter(|(_, field)| is_bare(field)) {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            let what = format!("{}: {of}.{name}", self.file.path);
            let why = "holds whatever came: take a type of upstream::text, or say in exceptions.rs whose text it is";
            self.found.push(Finding::new(&what, why));
        }
    }
}

impl<'ast> Visit<'ast> for Records<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !syntax::is_test(&Item::Mod(item.clone())) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.fields(&item.ident.to_string(), &item.fields);
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        for variant in &item.variants {
            self.fields(&format!("{}::{}", item.ident, variant.ident), &variant.fields);
        }
    }
}

/// Whether the type of a field names a bare text. A `&'static str` stands in the program.
fn is_bare(field: &Field) -> bool {
    let mut words = Words::default();
    words.visit_type(&field.ty);
    words.0.iter().enumerate().any(|(at, word)| {
        let is_ours = word == "str" && at > 0 && words.0[at - 1] == "static";
        BARE.contains(&word.as_str()) && !is_ours
    })
}

/// The words of a type, in order.
#[derive(Default)]
struct Words(Vec<String>);

impl<'ast> Visit<'ast> for Words {
    fn visit_ident(&mut self, word: &'ast Ident) {
        self.0.push(word.to_string());
    }
}
