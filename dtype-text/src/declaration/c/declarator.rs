//! Declarators in C: a name with its pointers, lengths and widths.

use std::ops::Range;
use std::sync::Arc;

use dtype_runtime::types::Named;
use dtype_runtime::{Error, basic};

use super::super::layout::{Layout, NoData, pointer};
use super::attributes::Attributes;
use super::{Read, Reader};
use crate::problem::Problem;
use crate::structure::{Described, What};
use crate::token::{Kind, Token};

/// A declarator such as `*name[3]`.
#[derive(Debug, Default)]
pub(super) struct Declarator<'s> {
    pub(super) name: Option<Token<'s>>,
    /// The `*`.
    pointer: Option<Range<usize>>,
    /// The parameters.
    function: Option<Range<usize>>,
    /// The `[]`.
    open: Option<Range<usize>>,
    /// The width of a bit-field, and where it is, with its colon.
    bits: Option<(Option<u64>, Range<usize>)>,
    /// The lengths of an array, the outermost first.
    pub(super) lengths: Vec<u64>,
    /// How many of these come before the end of the brackets around a pointer: `(*name[3])[4]` is an array of 3 pointers.
    inside: Option<usize>,
    /// The attributes, and mistakes in a length.
    pub(super) attributes: Attributes,
    pub(super) span: Range<usize>,
}

impl Declarator<'_> {
    /// What is declared, and where, if it is not data of the type.
    pub(super) fn foreign(&self) -> Option<(NoData, Range<usize>)> {
        let (what, help, span) = if let Some(pointer) = &self.pointer {
            if self.function.is_some() {
                ("a function pointer", "a function cannot be sent", pointer)
            } else {
                let help = "what it points to is not part of the struct: describe that by a type of its own, or write \
                            `uintptr_t` to treat the address as a number";
                ("a pointer", help, pointer)
            }
        } else if let Some(function) = &self.function {
            ("a function", "a struct of C has no functions: leave it out", function)
        } else if let Some(open) = &self.open {
            let help = "a datatype has a fixed size: write the length, or leave the field out and describe its \
                        elements by a type of their own";
            ("an array without a length", help, open)
        } else {
            let help = "a datatype consists of whole bytes: replace the bit-fields that share an integer by one field \
                        of the integer's type";
            ("a bit-field", help, &self.bits.as_ref()?.1)
        };
        Some((NoData::Foreign { what, help, place: None }, span.clone()))
    }
}

impl Declarator<'_> {
    /// The lengths of an array of pointers.
    pub(super) fn own_lengths(&self) -> Vec<u64> {
        self.lengths[..self.inside.unwrap_or(self.lengths.len())].to_vec()
    }

    /// The width of a bit-field of a type, if the type can have such a one.
    pub(super) fn bits(&self, of: &Layout) -> Option<u64> {
        let (width, _) = self.bits.as_ref()?;
        let is_alone = self.pointer.is_none() && self.function.is_none() && self.open.is_none();
        let basic = match of.ty.named() {
            Some(Named::Basic(basic)) if is_alone && self.lengths.is_empty() => basic,
            _ => return None,
        };
        let most = match basic.kind() {
            basic::Kind::Logical => 1,
            basic::Kind::Float | basic::Kind::Complex => return None,
            _ => 8 * of.size,
        };
        width.filter(|width| *width <= most && (*width > 0 || self.name.is_none()))
    }

    /// A type that is no data and has a place: a pointer, or an array without a length. `name` is that of the type, and `element`
    /// its layout.
    pub(super) fn with_place(
        &self,
        name: &str,
        element: Option<&Layout>,
    ) -> Option<Result<Layout, Error>> {
        if self.pointer.is_some() {
            let to: String = self.lengths[self.own_lengths().len()..]
                .iter()
                .fold(String::new(), |text, length| format!("{text}[{length}]"));
            let (what, sign) = match self.function {
                Some(_) => ("a function pointer", "(*)()".into()),
                None if to.is_empty() => ("a pointer", "*".into()),
                None => ("a pointer", format!("(*){to}")),
            };
            return Some(Layout::foreign(pointer(what, &format!("{name} {sign}"), 1)));
        }
        let element = element.filter(|_| self.open.is_some() && self.lengths.is_empty())?;
        let align = Some(element.align);
        let open = What::Open(Arc::new(element.described()));
        let name = format!("{name}[]").into();
        Some(Layout::foreign(Described { name, ..Described::new(open, Some(0), align) }))
    }
}

impl<'s> Reader<'s, '_> {
    /// A declarator, which may be empty.
    pub(super) fn declarator(&mut self) -> Read<Declarator<'s>> {
        let start = self.peek().start;
        let mut declarator = Declarator::default();
        loop {
            let attributes = self.attributes(true)?;
            let token = self.peek();
            declarator.attributes.join(attributes, &token.span());
            match token.text {
                "*" => declarator.pointer = declarator.pointer.take().or(Some(token.span())),
                "const" | "volatile" | "restrict" | "__restrict" | "__const" => {}
                _ => break,
            }
            self.next();
        }
        let token = self.peek();
        match token.kind {
            Kind::Word => declarator.name = Some(self.next()),
            Kind::Sign if token.text == "(" => {
                let inner = self.nested(token, |reader| {
                    reader.next();
                    let inner = reader.declarator()?;
                    reader.text.cursor.expect(")")?;
                    Ok(inner)
                })?;
                let mut attributes = declarator.attributes;
                attributes.join(inner.attributes.clone(), &inner.span);
                let is_pointer = inner.pointer.is_some();
                declarator = Declarator {
                    pointer: declarator.pointer.or(inner.pointer.clone()),
                    inside: inner.inside.or(is_pointer.then_some(inner.lengths.len())),
                    attributes,
                    ..inner
                };
            }
            _ => {}
        }
        self.suffixes(&mut declarator)?;
        declarator.span = start..self.text.cursor.last().end.max(start);
        Ok(declarator)
    }

    fn suffixes(&mut self, declarator: &mut Declarator<'s>) -> Read<()> {
        loop {
            let attributes = self.attributes(true)?;
            let token = self.peek();
            declarator.attributes.join(attributes, &token.span());
            match (token.kind, token.text) {
                (Kind::Sign, "[") => self.length(declarator)?,
                (Kind::Sign, "(") => {
                    self.text.cursor.skip_brackets();
                    declarator.function = Some(token.start..self.text.cursor.last().end);
                }
                (Kind::Sign, ":") => {
                    self.next();
                    // A width that is no number has its mistake reported as one of a bit-field.
                    let width = self.constant().ok().and_then(|width| u64::try_from(width).ok());
                    declarator.bits = Some((width, token.start..self.text.cursor.last().end));
                }
                _ => return Ok(()),
            }
        }
    }

    fn length(&mut self, declarator: &mut Declarator<'s>) -> Read<()> {
        let open = self.text.cursor.expect("[")?;
        if let Some(close) = self.text.cursor.take("]") {
            declarator.open = Some(open.start..close.end);
            return Ok(());
        }
        let value = self.constant();
        if value.is_err() {
            self.skip_to(&["]", ";", "}"]);
        }
        let close = self.text.cursor.expect("]")?;
        match value.map(u64::try_from) {
            Ok(Ok(length)) => declarator.lengths.push(length),
            Ok(Err(_)) => {
                let message = "the length of an array is from 0 to 2^64 - 1";
                let span = open.end..close.start;
                declarator.attributes.refuse(Box::new(Problem::new(message, span, "out of range")));
            }
            Err(problem) => declarator.attributes.refuse(problem),
        }
        Ok(())
    }
}
