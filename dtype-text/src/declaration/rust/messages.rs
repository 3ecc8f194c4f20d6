//! Enums with `#[derive(Messages)]`: a type of records for each tag.

use dtype_attributes::{Errors, MessageAttrs};
use syn::{GenericArgument, PathArguments, Type, Variant};

use super::attributes::{checked, condition, derives};
use super::items;
use super::{Reader, name_of, range, refused, with_items};
use crate::declaration::layout::{Layout, NoData};
use crate::declaration::{Form, Message};
use crate::notation::{FieldNames, Parsed, nearest};
use crate::problem::{Problem, quoted};

/// The messages of the enum called `wanted`, or of the only one of the text; `None` if there is none.
pub(in crate::declaration) fn messages(
    source: &str,
    wanted: Option<&str>,
) -> Result<Option<Vec<(Message, Parsed)>>, Vec<Problem>> {
    let mut fields = FieldNames::default();
    let read = with_items(source, Form::Packed, &mut fields, |reader| {
        let mut enums = reader.items.iter().filter(|(name, item)| {
            wanted.is_none_or(|wanted| wanted == *name)
                && matches!(item.kind, items::Kind::Enum(_))
                && derives(&item.attributes, "Messages")
        });
        let variants = match (enums.next(), enums.next()) {
            (Some((_, item)), None) => match &item.kind {
                items::Kind::Enum(variants) => variants.clone(),
                _ => Vec::new(),
            },
            _ => return misspelt(reader, wanted).map_or(Ok(None), Err),
        };
        let mut problems = Vec::new();
        let mut messages = Vec::new();
        let mut next = Some(0);
        for variant in &variants {
            match reader.message(variant, next) {
                Ok(read) => {
                    next = read.0.tag.checked_add(1);
                    messages.push(read);
                }
                Err(more) => problems.extend(more),
            }
        }
        if problems.is_empty() { Ok(Some(messages)) } else { Err(problems) }
    });
    let Some(messages) = read? else { return Ok(None) };
    let parsed = |layout: Layout| {
        let mut fields = fields.clone();
        fields.restrict_whole(layout.restriction);
        Parsed { ty: layout.ty, fields }
    };
    let message = |(message, head, records): (_, Option<_>, _)| {
        (Message { head: head.map(parsed), ..message }, parsed(records))
    };
    Ok(Some(messages.into_iter().map(message).collect()))
}

/// The mistake for a name that is not declared, if it resembles the name of an enum of messages.
fn misspelt(reader: &Reader<'_>, wanted: Option<&str>) -> Option<Vec<Problem>> {
    let wanted = wanted.filter(|wanted| !reader.items.contains_key(*wanted))?;
    let enums = reader.items.iter().filter(|(_, item)| derives(&item.attributes, "Messages"));
    let near = nearest(wanted, enums.map(|(name, _)| name.as_str()))?;
    let message = format!("no struct and no enum of messages is called {}", quoted(wanted));
    Some(vec![Problem::new(message, 0..0, "").help(format!("did you mean `{near}`?"))])
}

impl Reader<'_> {
    /// The message of a variant, and the layouts of its head and of its records. `next` is the tag of a variant without one.
    fn message(
        &mut self,
        variant: &Variant,
        next: Option<u32>,
    ) -> Result<(Message, Option<Layout>, Layout), Vec<Problem>> {
        let one = |problem: Box<Problem>| vec![*problem];
        condition(&variant.attrs).map_err(one)?;
        let mut errors = Errors::default();
        let attrs = MessageAttrs::read(&variant.attrs, &mut errors);
        checked(errors)?;
        let tag = attrs.tag.or(next);
        let (name, at) = (name_of(&variant.ident), range(variant.ident.span()));
        let wrong = |message: &str, help: &str| {
            let message = format!("the message {} {message}", quoted(&name));
            Err(vec![Problem::new(message, at.clone(), "a message").help(help)])
        };
        let Some(tag) = tag else {
            return wrong("has no tag", "write `#[dtype(tag = N)]`");
        };
        let fields: Vec<&Type> = variant.fields.iter().map(|field| &field.ty).collect();
        let is_list = |ty: &Type| !matches!(records(ty), Records::One);
        let (head, ty) = match fields[..] {
            [] => (None, None),
            [ty] => (None, Some(ty)),
            [head, list] if is_list(list) && !is_list(head) => (Some(head), Some(list)),
            [list, other] if is_list(list) && !is_list(other) => {
                let help = "the list comes last: put the other field before it";
                return wrong("has a field after its list", help);
            }
            _ => {
                let help = "a message holds one value, or a head and a `Vec` or `String` after it: put the other fields into a \
                            struct";
                return wrong("has several fields", help);
            }
        };
        let head = head.map(|head| self.ty(head)).transpose();
        let (is_text, base) = match ty.map(|ty| (ty, records(ty))) {
            None => (false, Layout::nothing().map_err(|error| refused(&error, at.clone()))),
            Some((_, Records::Text)) => (true, Ok(Layout::basic(dtype_runtime::Basic::U8))),
            Some((ty, Records::One)) => (false, self.ty(ty)),
            Some((_, Records::Many(item))) => (false, self.ty(item)),
        };
        match head.and_then(|head| Ok((head, base?))) {
            // The number of records follows from the length of the message.
            Ok((Some(_), layout)) if layout.ty.size() == 0 => {
                wrong("has a list of records without data", "after a head, records must have data")
            }
            Ok((head, layout)) => Ok((Message { tag, name, is_text, head: None }, head, layout)),
            Err(NoData::Wrong(problems)) => Err(problems),
            Err(NoData::Foreign { what, help, .. }) => wrong(&format!("holds {what}"), help),
        }
    }
}

/// The records of a message.
enum Records<'a> {
    One,
    /// A `Vec` of these.
    Many(&'a Type),
    /// A `String`.
    Text,
}

fn records(ty: &Type) -> Records<'_> {
    let Type::Path(path) = ty else { return Records::One };
    let Some(last) = path.path.segments.last() else { return Records::One };
    match (&last.arguments, last.ident.to_string().as_str()) {
        (PathArguments::None, "String") => Records::Text,
        (PathArguments::AngleBracketed(arguments), "Vec") => match arguments.args.first() {
            Some(GenericArgument::Type(item)) => Records::Many(item),
            _ => Records::One,
        },
        _ => Records::One,
    }
}
