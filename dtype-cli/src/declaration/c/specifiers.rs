//! The type at the start of a declaration in C.

use std::ops::Range;

use super::super::layout::{Base, Layout};
use super::super::token::{Kind, Token};
use super::names::{self, Words};
use super::{Named, Read, Reader, wrong};
use crate::notation::nearest;
use crate::problem::{Problem, quoted};
use dtype_runtime::Basic;

/// A type, and the words around it.
#[derive(Debug)]
pub(super) struct Specified {
    pub(super) base: Base,
    /// The index of the struct in the list of declared ones.
    pub(super) declared: Option<usize>,
    pub(super) is_typedef: bool,
    pub(super) align: Option<u64>,
    pub(super) is_packed: bool,
    pub(super) span: Range<usize>,
}

impl<'s> Reader<'s, '_> {
    /// Whether a type starts here.
    pub(super) fn starts_type(&self) -> bool {
        let token = self.cursor.peek();
        let is_name = |name: &str| {
            let mut words = Words::default();
            let keyword = matches!(name, "struct" | "union" | "enum" | "const" | "volatile");
            let known = || names::header(name).is_some() || self.types.contains_key(name);
            keyword || words.add(name) || known()
        };
        token.kind == Kind::Word && is_name(token.text)
    }

    /// The words and attributes up to the first declarator.
    pub(super) fn specifiers(&mut self) -> Read<Specified> {
        let first = self.cursor.peek();
        let mut words = Words::default();
        let mut found: Option<Named> = None;
        let (mut is_typedef, mut align, mut is_packed) = (false, None, false);
        loop {
            let attributes = self.attributes()?;
            align = align.max(attributes.align);
            is_packed |= attributes.is_packed;
            let token = self.cursor.peek();
            let is_open = found.is_none() && words.number == 0;
            match (token.kind, token.text) {
                (Kind::Word, "typedef") => is_typedef = true,
                (
                    Kind::Word,
                    "const" | "volatile" | "static" | "extern" | "register" | "inline" | "__inline"
                    | "__inline__" | "_Atomic" | "_Thread_local" | "restrict",
                ) => {}
                (Kind::Word, "struct") if is_open => {
                    found = Some(self.struct_specifier()?);
                    continue;
                }
                (Kind::Word, "union") if is_open => {
                    found = Some(self.union_specifier()?);
                    continue;
                }
                (Kind::Word, "enum") if is_open => {
                    found = Some(self.enum_specifier()?);
                    continue;
                }
                (Kind::Word, word) if found.is_none() && words.add(word) => {}
                (Kind::Word, word) if is_open => found = Some(self.type_name(word, token)),
                _ => break,
            }
            self.cursor.next();
        }
        let last = self.cursor.last();
        let span = first.start..last.span().end.max(first.start);
        let (base, declared) = match found {
            Some(named) => (named.base, named.declared),
            None if words.number == 0 => return Err(self.cursor.unexpected("a type")),
            None if words.is_void && words.number == 1 => {
                (Base::Foreign { what: "of type `void`", help: "`void` has no values" }, None)
            }
            None => {
                if let Some(basic) = words.basic() {
                    (Base::Known(Layout::basic(basic)), None)
                } else {
                    let problem = Problem::new("these words form no type", span.clone(), "");
                    (wrong(problem.help("for example `unsigned long long` is one")), None)
                }
            }
        };
        Ok(Specified { base, declared, is_typedef, align, is_packed, span })
    }

    /// A type with a name of its own.
    fn type_name(&mut self, word: &'s str, token: Token<'s>) -> Named {
        if let Some(named) = self.types.get(word) {
            return named.clone();
        }
        let base = if let Some(basic) = names::header(word) {
            Base::Known(Layout::basic(basic))
        } else {
            let message = format!("unknown type {}", quoted(word));
            let problem = Problem::new(message, token.span(), "unknown name");
            // The struct that was probably meant.
            self.is_part(self.tags.get(word).and_then(|named| named.declared));
            let mut defined: Vec<&str> = self.types.keys().copied().collect();
            defined.sort_unstable();
            let known = defined.into_iter().chain(names::all().map(|name: &str| name));
            let near = nearest(word, known);
            wrong(match (self.tags.contains_key(word), near) {
                (true, _) => {
                    let tagged = format!("struct {word}");
                    problem.help(format!("did you mean `{tagged}`?")).instead(tagged)
                }
                (false, Some(near)) => {
                    problem.help(format!("did you mean `{near}`?")).instead(near)
                }
                (false, None) => problem
                    .help("add its `typedef` to the text; files named by `#include` are not read"),
            })
        };
        Named { base, declared: None }
    }

    fn union_specifier(&mut self) -> Read<Named> {
        self.cursor.next();
        self.attributes()?;
        let name = (self.cursor.peek().kind == Kind::Word).then(|| self.cursor.next());
        if self.cursor.peek().is("{") {
            self.cursor.skip_brackets();
            self.attributes()?;
        }
        let base = Base::Foreign {
            what: "a union",
            help: "which of its members is meant is not known: write the one that is in use, and \
                   after it `char _pad[n]` up to the union's size",
        };
        let named = Named { base, declared: None };
        if let Some(name) = name {
            self.tags.insert(name.text, named.clone());
        }
        Ok(named)
    }

    /// An enum is an `int`; its constants can be lengths.
    fn enum_specifier(&mut self) -> Read<Named> {
        self.cursor.next();
        let mut is_packed = self.attributes()?.is_packed;
        let name = (self.cursor.peek().kind == Kind::Word).then(|| self.cursor.next());
        let mut base = Base::Known(Layout::basic(Basic::Int));
        if self.cursor.take(":").is_some() {
            base = self.specifiers()?.base;
        }
        let mut all = Vec::new();
        if let Some(open) = self.cursor.take("{") {
            let mut value = Some(0);
            while self.cursor.peek().kind == Kind::Word {
                let constant = self.cursor.next();
                self.attributes()?;
                if self.cursor.take("=").is_some() {
                    value = self.nested(open, Self::constant)?;
                }
                if let Some(value) = value {
                    self.constants.insert(constant.text, value);
                    all.push(value);
                }
                value = value.and_then(|value| value.checked_add(1));
                if self.cursor.take(",").is_none() {
                    break;
                }
            }
            if self.cursor.take("}").is_none() {
                return Err(self.cursor.unexpected("`,` or `}`"));
            }
            is_packed |= self.attributes()?.is_packed;
        } else if let Some(name) = name
            && let Some(known) = self.tags.get(name.text)
        {
            return Ok(known.clone());
        }
        if let (Some(least), Some(greatest)) = (all.iter().min(), all.iter().max()) {
            if is_packed {
                base = Base::Known(Layout::basic(narrowest(*least, *greatest)));
            } else if *least < i32::MIN.into() || *greatest > u32::MAX.into() {
                base = Base::Known(Layout::basic(if *least < 0 {
                    Basic::Long
                } else {
                    Basic::UnsignedLong
                }));
            }
        }
        let named = Named { base, declared: None };
        if let Some(name) = name {
            self.tags.insert(name.text, named.clone());
        }
        Ok(named)
    }
}

/// The smallest integer type for the values of a packed enum.
fn narrowest(least: i128, greatest: i128) -> Basic {
    let fits = |low: i128, high: i128| low <= least && greatest <= high;
    if fits(0, u8::MAX.into()) {
        Basic::UnsignedChar
    } else if fits(i8::MIN.into(), i8::MAX.into()) {
        Basic::SignedChar
    } else if fits(0, u16::MAX.into()) {
        Basic::UnsignedShort
    } else if fits(i16::MIN.into(), i16::MAX.into()) {
        Basic::Short
    } else {
        Basic::Int
    }
}
