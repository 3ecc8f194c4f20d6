//! The items of a Rust file.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::{Attribute, Expr, Fields, Generics, Ident, Type, UseTree, Variant};

use super::attributes::{is_condition, is_test};
use super::{Reader, name_of, range};

/// A declaration that a type can name.
#[derive(Clone)]
pub(super) struct Item {
    /// The position of the name.
    pub(super) span: Range<usize>,
    /// The position of another item with this name.
    pub(super) again: Option<Range<usize>>,
    /// The attributes, with the conditions of the modules around the item.
    pub(super) attributes: Vec<Attribute>,
    pub(super) kind: Kind,
}

#[derive(Clone)]
pub(super) enum Kind {
    Struct {
        /// The position of its parameters. Lifetimes alone are none, since they do not change the layout.
        generics: Option<Range<usize>>,
        fields: Fields,
    },
    Enum(Vec<Variant>),
    Union(Fields),
    Alias(Type),
    Constant(Expr),
}

impl Reader<'_> {
    /// Collects items, including those of modules, which exist only under the modules' conditions.
    pub(super) fn items(&mut self, items: Vec<syn::Item>) {
        for item in items {
            match item {
                syn::Item::Struct(item) => {
                    let generics = parameters(&item.generics);
                    self.add(
                        &item.ident,
                        item.attrs,
                        Kind::Struct { generics, fields: item.fields },
                    );
                }
                syn::Item::Enum(item) => {
                    let variants = item.variants.into_iter().collect();
                    self.add(&item.ident, item.attrs, Kind::Enum(variants));
                }
                syn::Item::Use(item) => self.import(&item.tree, None),
                syn::Item::Union(item) => {
                    self.add(&item.ident, item.attrs, Kind::Union(Fields::Named(item.fields)));
                }
                syn::Item::Type(item) => self.add(&item.ident, item.attrs, Kind::Alias(*item.ty)),
                syn::Item::Const(item) if item.ident != "_" => {
                    self.add(&item.ident, item.attrs, Kind::Constant(*item.expr));
                }
                syn::Item::Static(item) => {
                    self.add(&item.ident, item.attrs, Kind::Constant(*item.expr));
                }
                syn::Item::Mod(item) if !is_test(&item.attrs) => {
                    let outside = self.conditions.len();
                    self.conditions.extend(item.attrs.into_iter().filter(is_condition));
                    self.items(item.content.map(|(_, items)| items).unwrap_or_default());
                    self.conditions.truncate(outside);
                }
                _ => {}
            }
        }
    }

    /// Keeps what the names in a `use` stand for: the last two parts of each path, which are enough to know a type.
    fn import(&mut self, tree: &UseTree, module: Option<&str>) {
        let mut add = |name: &Ident, stands_for: &Ident| {
            let (name, mut path) = (name_of(name), vec![name_of(stands_for)]);
            path.splice(0..0, module.map(str::to_owned));
            let known = self.uses.entry(name.clone()).or_insert_with(|| path.clone());
            // Modules can give one name to several types.
            if *known != path {
                *known = vec![name];
            }
        };
        match tree {
            UseTree::Path(path) => self.import(&path.tree, Some(&name_of(&path.ident))),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, module);
                }
            }
            UseTree::Name(name) if name.ident == "self" => {}
            UseTree::Name(name) => add(&name.ident, &name.ident),
            UseTree::Rename(rename) => add(&rename.rename, &rename.ident),
            UseTree::Glob(_) => {}
        }
    }

    fn add(&mut self, ident: &Ident, attributes: Vec<Attribute>, kind: Kind) {
        if is_test(&attributes) {
            return;
        }
        let (name, span) = (name_of(ident), range(ident.span()));
        let is_struct = |kind: &Kind| matches!(kind, Kind::Struct { .. });
        if let Some(before) = self.items.get_mut(&name) {
            // A mistake only if the name is used, because the two may be in unrelated modules.
            before.again.get_or_insert(span);
            if is_struct(&kind) && !is_struct(&before.kind) {
                before.kind = kind;
                self.order.push(name);
            }
            return;
        }
        if is_struct(&kind) {
            self.order.push(name.clone());
        }
        let attributes = attributes.into_iter().chain(self.conditions.iter().cloned()).collect();
        self.items.insert(name, Item { span, again: None, attributes, kind });
    }
}

fn parameters(generics: &Generics) -> Option<Range<usize>> {
    let has_types = generics.params.len() > generics.lifetimes().count();
    generics.lt_token.filter(|_| has_types).map(|open| range(open.span()))
}
