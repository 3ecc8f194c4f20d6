//! Declarators in C: a name with its pointers, lengths and widths.

use std::ops::Range;

use super::super::layout::Base;
use super::super::token::{Kind, Token};
use super::attributes::Attributes;
use super::cpp::{LEAVE_OUT, cpp};
use super::{Read, Reader};
use crate::problem::Problem;

/// `*name[3]` and the like.
#[derive(Debug, Default)]
pub(super) struct Declarator<'s> {
    pub(super) name: Option<Token<'s>>,
    /// The `*`.
    pub(super) pointer: Option<Range<usize>>,
    /// The `&` of C++.
    pub(super) reference: Option<Range<usize>>,
    /// The parameters.
    pub(super) function: Option<Range<usize>>,
    /// The `[]`.
    pub(super) flexible: Option<Range<usize>>,
    /// The width of a bit-field, with its colon.
    pub(super) bits: Option<Range<usize>>,
    /// The lengths of an array, the outermost first.
    pub(super) lengths: Vec<u64>,
    /// Also what is wrong with a length.
    pub(super) attributes: Attributes,
    pub(super) span: Range<usize>,
}

impl Declarator<'_> {
    fn refuse(&mut self, problem: Box<Problem>) {
        self.attributes.problem = self.attributes.problem.take().or(Some(problem));
    }

    /// Whether it declares something other than data of the type.
    pub(super) fn is_indirect(&self) -> bool {
        self.foreign().is_some()
    }

    /// What it declares, if that is not data of the type.
    pub(super) fn foreign(&self) -> Option<Base> {
        let (what, help) = if self.pointer.is_some() && self.function.is_some() {
            ("a function pointer", "a function cannot be sent")
        } else if self.pointer.is_some() {
            (
                "a pointer",
                "what it points to is not part of the struct: describe that by a type of its own, \
                 or write `uintptr_t` to treat the address as a number",
            )
        } else if self.reference.is_some() {
            (
                "a reference, which is C++",
                "it is stored as a pointer: write `uintptr_t` to treat the address as a number, or \
                 leave the field out and describe what it refers to by a type of its own",
            )
        } else if self.function.is_some() {
            ("a function, which is C++", LEAVE_OUT)
        } else if self.flexible.is_some() {
            (
                "an array without a length",
                "a datatype has a fixed size: write the length, or leave the field out and \
                 describe its elements by a type of their own",
            )
        } else if self.bits.is_some() {
            (
                "a bit-field",
                "a datatype consists of whole bytes: replace the bit-fields that share an integer \
                 by one field of the integer's type",
            )
        } else {
            return None;
        };
        Some(Base::Foreign { what, help })
    }

    /// The position of what is not data.
    pub(super) fn foreign_span(&self) -> Range<usize> {
        let parts = [&self.pointer, &self.reference, &self.function, &self.flexible, &self.bits];
        let first = parts.into_iter().flatten().next();
        first.cloned().unwrap_or(self.span.clone())
    }
}

impl<'s> Reader<'s, '_> {
    /// A declarator, which may be empty.
    pub(super) fn declarator(&mut self) -> Read<Declarator<'s>> {
        let start = self.cursor.peek().start;
        let mut all = Declarator::default();
        self.pointers(&mut all)?;
        let token = self.cursor.peek();
        match token.kind {
            Kind::Word => {
                all.name = Some(self.cursor.next());
                // `int P::*member;`
                if self.is_scope(0) {
                    let what = format!("the scope `{}::`", token.text);
                    let help = "write integers of C with the size of the pointer to a member";
                    return Err(Box::new(cpp(&what, token.span(), help)));
                }
            }
            Kind::Sign if token.text == "(" => {
                let inner = self.nested(token, |reader| {
                    reader.cursor.next();
                    let inner = reader.declarator()?;
                    reader.cursor.expect(")")?;
                    Ok(inner)
                })?;
                let mut attributes = all.attributes;
                attributes.join(inner.attributes.clone());
                let pointer = all.pointer.or(inner.pointer.clone());
                let reference = all.reference.or(inner.reference.clone());
                all = Declarator { pointer, reference, attributes, ..inner };
            }
            _ => {}
        }
        self.suffixes(&mut all)?;
        all.span = start..self.cursor.last().end.max(start);
        Ok(all)
    }

    fn pointers(&mut self, all: &mut Declarator<'s>) -> Read<()> {
        loop {
            let attributes = self.attributes()?;
            all.attributes.join(attributes);
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::Sign, "&") => {
                    all.reference = all.reference.take().or(Some(token.span()));
                }
                (Kind::Sign, "*" | "^") => {
                    all.pointer = all.pointer.take().or(Some(token.span()));
                }
                (
                    Kind::Word,
                    "const" | "volatile" | "restrict" | "__const" | "__volatile__" | "__restrict"
                    | "__restrict__" | "_Atomic" | "_Nonnull" | "_Nullable",
                ) => {}
                _ => return Ok(()),
            }
            self.cursor.next();
        }
    }

    fn suffixes(&mut self, all: &mut Declarator<'s>) -> Read<()> {
        loop {
            let attributes = self.attributes()?;
            all.attributes.join(attributes);
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::Sign, "[") => self.length(all)?,
                (Kind::Sign, "(") => {
                    self.cursor.skip_brackets();
                    all.function = Some(token.start..self.cursor.last().end);
                }
                (Kind::Sign, ":") => {
                    self.cursor.next();
                    // Its value does not matter: bit-fields are refused.
                    let _ = self.constant();
                    all.bits = Some(token.start..self.cursor.last().end);
                }
                // A label for the assembler.
                (Kind::Word, "asm" | "__asm__") => {
                    self.cursor.next();
                    self.cursor.skip_brackets();
                }
                _ => return Ok(()),
            }
        }
    }

    fn length(&mut self, all: &mut Declarator<'s>) -> Read<()> {
        let open = self.cursor.expect("[")?;
        if let Some(close) = self.cursor.take("]") {
            all.flexible = Some(open.start..close.end);
            return Ok(());
        }
        let value = self.nested(open, Self::constant);
        let close = self.cursor.expect("]")?;
        let span = open.end..close.start;
        match value.map(|number| u64::try_from(number.value)) {
            Ok(Ok(length)) => all.lengths.push(length),
            Ok(Err(_)) => {
                let message = "the length of an array is from 0 to 2^64 - 1";
                all.refuse(Box::new(Problem::new(message, span, "out of range")));
            }
            Err(problem) => all.refuse(problem),
        }
        Ok(())
    }
}
