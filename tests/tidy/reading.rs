//! Reads a tree: what each module defines, and every path that code, tests, macros and attributes name.

use std::{collections::BTreeSet, mem::replace};

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Item, ItemMod, ItemUse, LitStr, Macro, Meta, Path, UseTree, VisRestricted, Visibility,
    visit::{self, Visit},
};

use crate::{
    names::{Module, ModulePath, Names, Part},
    syntax,
    tree::{File, Tree},
};

/// What was read.
#[derive(Default)]
pub(crate) struct Crate {
    /// What modules hold.
    pub(crate) names: Names,
    /// Which paths are named where.
    pub(crate) references: BTreeSet<Reference>,
}

/// A path that a module names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    /// Where it stands.
    pub(crate) part: Part,
    /// The module it is read in.
    pub(crate) scope: ModulePath,
    /// As written, without generics.
    pub(crate) path: Vec<String>,
    /// How it is named.
    pub(crate) kind: ReferenceKind,
}

/// How a path is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReferenceKind {
    /// By a `use`, or in passing.
    Use,
    /// By a `pub use`, which passes a name on and stands on nothing by itself.
    ReExport,
    /// By a text within an attribute, which may name a module.
    Text,
}

impl Crate {
    /// Reads the crate of this folder. `main.rs` and `build.rs` are crates of their own.
    pub(crate) fn read(tree: &Tree, folder: &str) -> Self {
        let mut all = Self::default();
        let test_modules = tree.test_modules();
        let is_own = |file: &&File| file.is_of(folder) && !file.path.ends_with("/main.rs");
        for file in tree.sources().filter(is_own).filter(|file| !file.path.ends_with("/build.rs")) {
            let module = file.module();
            let tests = test_modules.iter().any(|test| module.starts_with(test));
            let below = folder.matches('/').count() - 1;
            let mut reader = Reader::new(&mut all, file, module[below..].to_vec(), tests);
            reader.visit_file(file.syntax());
        }
        all
    }
}

struct Reader<'a> {
    all: &'a mut Crate,
    module: ModulePath,
    part: Part,
}

impl<'a> Reader<'a> {
    fn new(all: &'a mut Crate, file: &File, module: ModulePath, tests: bool) -> Self {
        let part = Part { file: file.path.clone(), tests };
        all.names.insert(module.clone(), Module { part: part.clone(), ..Module::default() });
        Self { all, module, part }
    }

    fn module(&mut self) -> &mut Module {
        self.all.names.get_mut(&self.module).expect("was entered")
    }

    fn refer(&mut self, path: Vec<String>, kind: ReferenceKind) {
        let (part, scope) = (self.part.clone(), self.module.clone());
        self.all.references.insert(Reference { part, scope, path, kind });
    }

    fn import(&mut self, before: &[String], tree: &UseTree, kind: ReferenceKind) {
        let with = |name: &dyn ToString| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&with(&path.ident), &path.tree, kind),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(before, tree, kind)),
            UseTree::Glob(_) => self.module().globs.push(before.to_vec()),
            UseTree::Name(name) if name.ident == "self" => {
                self.imported(before.to_vec(), before.last().cloned(), kind);
            }
            UseTree::Name(name) => self.imported(with(&name.ident), Some(name.ident.to_string()), kind),
            UseTree::Rename(rename) => {
                self.imported(with(&rename.ident), Some(rename.rename.to_string()), kind);
            }
        }
    }

    fn imported(&mut self, path: Vec<String>, name: Option<String>, kind: ReferenceKind) {
        let name = name.expect("`use self` imports nothing");
        self.module().imports.push((name, path.clone()));
        self.refer(path, kind);
    }

    /// The paths among the tokens of a macro or an attribute. A name after a dot is a field or a method.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens = tokens.into_iter().collect::<Vec<_>>();
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            rest = match rest {
                [TokenTree::Punct(dot), TokenTree::Ident(_) | TokenTree::Punct(_), after @ ..]
                    if dot.as_char() == '.' =>
                {
                    after
                }
                [TokenTree::Ident(_), ..] => {
                    let path = leading_path(rest);
                    let after = &rest[3 * path.len() - 2..];
                    self.refer(path, ReferenceKind::Use);
                    after
                }
                [TokenTree::Group(group), after @ ..] => {
                    self.tokens(group.stream());
                    after
                }
                [_, after @ ..] => after,
                [] => &[],
            };
        }
    }

    /// `#[serde(with = "module")]` names a path by a text.
    fn path_in_text(&mut self, attribute: &Attribute) {
        let Meta::List(list) = &attribute.meta else { return };
        for token in list.tokens.clone() {
            let Ok(text) = syn::parse2::<LitStr>(token.into()) else { continue };
            if let Ok(path) = text.parse::<Path>() {
                self.refer(segments(&path), ReferenceKind::Text);
            }
        }
    }

    /// Reads an item as the part of the file and the module that it is in.
    fn within(&mut self, part: Part, module: ModulePath, read: impl FnOnce(&mut Self)) {
        let outer = (replace(&mut self.part, part), replace(&mut self.module, module));
        read(self);
        (self.part, self.module) = outer;
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Some(name) = syntax::defined_name(item) {
            self.module().items.insert(name.to_string());
        }
        let part = Part { tests: self.part.tests || syntax::is_test(item), ..self.part.clone() };
        self.within(part, self.module.clone(), |reader| visit::visit_item(reader, item));
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.content.is_none() {
            return;
        }
        let path = [self.module.as_slice(), &[item.ident.to_string()]].concat();
        self.all.names.insert(path.clone(), Module { part: self.part.clone(), ..Module::default() });
        self.within(self.part.clone(), path, |reader| visit::visit_item_mod(reader, item));
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let private = matches!(item.vis, Visibility::Inherited);
        if item.leading_colon.is_none() {
            let kind = if private { ReferenceKind::Use } else { ReferenceKind::ReExport };
            self.import(&[], &item.tree, kind);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        if path.leading_colon.is_none() {
            self.refer(segments(path), ReferenceKind::Use);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
        self.path_in_text(attribute);
    }

    /// `pub(in crate::faces)` stands on nothing.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}
}

fn segments(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// The path that tokens begin with: names, and `::` between them.
fn leading_path(tokens: &[TokenTree]) -> Vec<String> {
    let mut path = Vec::new();
    let mut rest = tokens;
    while let [TokenTree::Ident(name), after @ ..] = rest {
        path.push(name.to_string());
        rest = match after {
            [TokenTree::Punct(one), TokenTree::Punct(two), after @ ..]
                if one.as_char() == ':' && two.as_char() == ':' =>
            {
                after
            }
            _ => &[],
        };
    }
    path
}
