//! Questions about parsed items that `syn` does not answer itself.

use proc_macro2::TokenTree;
use syn::{Attribute, Ident, Item, Meta, spanned::Spanned};

/// The attributes of an item.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The name that an item defines in its module. A module is no such name: it has files and names of its own.
pub(crate) fn defined_name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

/// Whether an item is compiled for tests only.
pub(crate) fn is_test(item: &Item) -> bool {
    attributes(item).iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else { return false };
        let mut tokens = list.tokens.clone().into_iter();
        list.path.is_ident("cfg")
            && matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "test")
            && tokens.next().is_none()
    })
}

/// The names of modules in files of their own that a file declares for tests only.
pub(crate) fn test_module_files(file: &syn::File) -> impl Iterator<Item = String> {
    file.items.iter().filter(|item| is_test(item)).filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
        _ => None,
    })
}

/// How many lines of a file are compiled for tests only.
pub(crate) fn test_lines(file: &syn::File) -> usize {
    let tests = file.items.iter().filter(|item| is_test(item));
    tests.map(|item| item.span().end().line - item.span().start().line + 1).sum()
}
