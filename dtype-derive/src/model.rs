//! An item as read from its source: names, types and attributes, before any
//! check of their meaning.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, Generics, Index, LitStr, Member, Type};

use dtype_attributes::{Errors, FieldAttrs, ItemAttrs, Place, refuse_on_parameters, rename};

/// The struct, enum or union under the derive.
pub(crate) struct Item<'a> {
    pub(crate) source: &'a DeriveInput,
    pub(crate) ident: &'a Ident,
    pub(crate) generics: &'a Generics,
    pub(crate) attrs: ItemAttrs,
    pub(crate) body: Body<'a>,
}

/// The content of the braces.
pub(crate) enum Body<'a> {
    Struct(Vec<Field<'a>>),
    Enum(Vec<Variant<'a>>),
    /// The keyword.
    Union(Span),
}

/// A field of a struct.
pub(crate) struct Field<'a> {
    pub(crate) member: Member,
    pub(crate) ty: &'a Type,
    pub(crate) attrs: FieldAttrs,
}

/// A variant of an enum.
pub(crate) struct Variant<'a> {
    pub(crate) source: &'a syn::Variant,
    /// The name in place of the variant's own.
    pub(crate) rename: Option<LitStr>,
}

impl<'a> Item<'a> {
    /// Reads the item. Mistakes in the attributes go to `errors`.
    pub(crate) fn read(input: &'a DeriveInput, errors: &mut Errors) -> Self {
        let place = match input.data {
            Data::Enum(_) => Place::Enum,
            Data::Struct(_) | Data::Union(_) => Place::Struct,
        };
        let attrs = ItemAttrs::read(&input.attrs, place, errors);
        refuse_on_parameters(&input.generics, errors);
        let body = match &input.data {
            Data::Struct(data) => Body::Struct(fields(&data.fields, errors)),
            Data::Enum(data) => {
                let variants = data.variants.iter().map(|source| {
                    let rename = rename(&source.attrs, errors);
                    // Variants with data are refused later; mistakes in their attributes are noted too.
                    fields(&source.fields, errors);
                    Variant { source, rename }
                });
                Body::Enum(variants.collect())
            }
            Data::Union(data) => {
                for field in &data.fields.named {
                    FieldAttrs::read(&field.attrs, errors);
                }
                Body::Union(data.union_token.span())
            }
        };
        Self { source: input, ident: &input.ident, generics: &input.generics, attrs, body }
    }

    /// The name that the type map shows: the attribute's, or the name of the type described.
    pub(crate) fn name(&self) -> String {
        if let Some(name) = &self.attrs.name {
            return name.value();
        }
        let remote = self.attrs.remote.as_ref().and_then(|path| path.segments.last());
        remote.map_or(self.ident, |segment| &segment.ident).unraw().to_string()
    }
}

impl Field<'_> {
    /// The name as the type map shows it: the attribute's, or the field's own.
    pub(crate) fn name(&self) -> String {
        self.attrs.rename.as_ref().map_or_else(|| self.own_name(), LitStr::value)
    }

    /// The name in the source, without `r#`, or the index.
    pub(crate) fn own_name(&self) -> String {
        match &self.member {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        }
    }

    /// Whether the field is part of the type map.
    pub(crate) fn is_mapped(&self) -> bool {
        self.attrs.skip.is_none()
    }
}

impl Variant<'_> {
    /// The name as the type map shows it: the attribute's, or the variant's own.
    pub(crate) fn name(&self) -> String {
        self.rename.as_ref().map_or_else(|| self.own_name(), LitStr::value)
    }

    /// The name in the source, without `r#`.
    pub(crate) fn own_name(&self) -> String {
        self.source.ident.unraw().to_string()
    }
}

fn fields<'a>(fields: &'a Fields, errors: &mut Errors) -> Vec<Field<'a>> {
    (0..)
        .zip(fields)
        .map(|(index, field)| Field {
            member: match &field.ident {
                Some(ident) => Member::Named(ident.clone()),
                None => Member::Unnamed(Index { index, span: field.ty.span() }),
            },
            ty: &field.ty,
            attrs: FieldAttrs::read(&field.attrs, errors),
        })
        .collect()
}
