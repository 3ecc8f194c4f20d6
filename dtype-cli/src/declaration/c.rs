//! Reads declarations of structs in C.
//!
//! The reader knows as much of C as declarations of data need: structs, enums and typedefs, whose names it keeps in
//! the order of the text, and constants for the lengths of arrays. It passes over functions and variables. It does
//! not expand macros, except `#define NAME number`, and reads all branches of `#if`.
//!
//! A type without a layout, such as a union or a pointer, is a mistake only where the chosen struct contains it.

mod attributes;
mod constants;
mod declarator;
mod names;
mod specifiers;
mod structs;

use std::collections::HashMap;

use super::layout::{Base, MAX_ALIGN};
use super::token::{Comments, Cursor, Kind, Token};
use super::{Declared, MAX_NESTING, MOST_PROBLEMS};
use crate::notation::FieldNames;
use crate::problem::Problem;
use declarator::Declarator;

/// A mistake in the grammar, after which the text cannot be read on.
type Read<T> = Result<T, Box<Problem>>;

/// The structs that a text declares.
pub(super) fn read(source: &str, fields: &mut FieldNames) -> Result<Vec<Declared>, Vec<Problem>> {
    let mut reader = Reader {
        cursor: Cursor::new(source, Comments::C),
        fields,
        tags: HashMap::new(),
        types: HashMap::new(),
        constants: HashMap::new(),
        declared: Vec::new(),
        pack: Vec::new(),
        pack_now: None,
        depth: 0,
    };
    match reader.file() {
        Ok(()) => Ok(reader.declared),
        Err(problem) => Err(vec![*problem]),
    }
}

/// Something that a name stands for, and the struct's index in the list of declared ones.
#[derive(Clone)]
struct Named {
    base: Base,
    declared: Option<usize>,
}

struct Reader<'s, 'f> {
    cursor: Cursor<'s>,
    fields: &'f mut FieldNames,
    /// Structs, unions and enums.
    tags: HashMap<&'s str, Named>,
    /// Typedefs.
    types: HashMap<&'s str, Named>,
    /// The constants of enums and of `#define`.
    constants: HashMap<&'s str, i128>,
    declared: Vec<Declared>,
    /// The values that `#pragma pack(push)` saved, and the present one.
    pack: Vec<Option<u64>>,
    pack_now: Option<u64>,
    /// Levels of nested brackets and structs.
    depth: usize,
}

impl<'s> Reader<'s, '_> {
    fn file(&mut self) -> Read<()> {
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::End, _) => return Ok(()),
                (Kind::Directive, text) => {
                    self.cursor.next();
                    self.directive(text);
                }
                // The end of `extern "C" {`.
                (Kind::Sign, ";" | "}") => drop(self.cursor.next()),
                (Kind::Word, "extern") if self.cursor.peek_after(1).kind == Kind::Text => {
                    self.cursor.next();
                    self.cursor.next();
                    self.cursor.take("{");
                }
                (Kind::Word, "_Static_assert" | "static_assert") => self.skip_declaration(),
                _ if self.declares_a_type() => self.declaration()?,
                _ => self.skip_declaration(),
            }
        }
    }

    /// Whether the next declaration is a typedef, or declares a struct, a union or an enum.
    fn declares_a_type(&self) -> bool {
        for number in 0.. {
            let token = self.cursor.peek_after(number);
            match token.text {
                "typedef" | "struct" | "union" | "enum" => return token.kind == Kind::Word,
                "const" | "static" | "volatile" | "extern" | "__extension__" => {}
                _ => return false,
            }
        }
        false
    }

    fn declaration(&mut self) -> Read<()> {
        let specified = self.specifiers()?;
        if !specified.is_typedef {
            // Variables and functions of the type do not matter.
            self.skip_declaration();
            return Ok(());
        }
        loop {
            let declarator = self.declarator()?;
            self.typedef(&specified, declarator)?;
            if self.cursor.take(",").is_none() {
                break;
            }
        }
        self.cursor.expect(";").map(drop)
    }

    /// Keeps the name that a typedef gives.
    fn typedef(
        &mut self,
        specified: &specifiers::Specified,
        declarator: Declarator<'s>,
    ) -> Read<()> {
        let Some(name) = declarator.name else { return Err(self.cursor.unexpected("a name")) };
        let align = declarator.align.or(specified.align);
        let is_alias = !declarator.is_indirect();
        let mut base = match declarator.foreign() {
            Some(foreign) => foreign,
            None => specified.base.clone(),
        };
        if let Base::Known(layout) = &mut base
            && !declarator.lengths.is_empty()
        {
            match layout.array(&declarator.lengths) {
                Ok(array) => *layout = array,
                Err(error) => {
                    base = wrong(Problem::new(error.to_string(), declarator.span, ""));
                }
            }
        }
        if let (Base::Known(layout), Some(align)) = (&mut base, align) {
            layout.align = align;
        }
        let declared = specified.declared.filter(|_| is_alias);
        if let Some(index) = declared
            && declarator.lengths.is_empty()
            && let Some(one) = self.declared.get_mut(index)
            && one.name.is_empty()
        {
            name.text.clone_into(&mut one.name);
            one.span = name.span();
        }
        self.types.insert(name.text, Named { base, declared });
        Ok(())
    }

    /// Skips a declaration up to its semicolon, or a function up to the end of its body.
    fn skip_declaration(&mut self) {
        let mut has_value = false;
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::End, _) | (Kind::Sign, "}") => return,
                (Kind::Sign, ";") => {
                    self.cursor.next();
                    return;
                }
                (Kind::Sign, "{") => {
                    self.cursor.skip_brackets();
                    if !has_value {
                        return;
                    }
                }
                (Kind::Sign, "(" | "[") => self.cursor.skip_brackets(),
                (kind, text) => {
                    has_value |= (kind, text) == (Kind::Sign, "=");
                    self.cursor.next();
                }
            }
        }
    }

    /// `#define NAME number` and `#pragma pack`.
    fn directive(&mut self, text: &'s str) {
        let line = text.trim_start_matches('#').trim_start();
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("define"), Some(name)) => {
                let at = line.find(name).unwrap_or(0) + name.len();
                let value = line.get(at..).unwrap_or("");
                if let Some(value) = constants::number_of(value) {
                    self.constants.insert(name, value);
                }
            }
            (Some("pragma"), Some(word)) if word.starts_with("pack") => {
                let open = line.find('(').map_or(line.len(), |at| at + 1);
                let close = line.rfind(')').unwrap_or(line.len()).max(open);
                for argument in line.get(open..close).unwrap_or("").split(',').map(str::trim) {
                    match argument {
                        "push" => self.pack.push(self.pack_now),
                        "pop" => self.pack_now = self.pack.pop().flatten(),
                        "" => self.pack_now = None,
                        number => {
                            if let Ok(number) = number.parse::<u64>() {
                                self.pack_now = alignment(number.into());
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Marks a struct as part of another.
    fn is_part(&mut self, declared: Option<usize>) {
        if let Some(one) = declared.and_then(|index| self.declared.get_mut(index)) {
            one.is_part = true;
        }
    }

    /// Enters one more level of brackets, and leaves it after `inside`.
    fn nested<T>(&mut self, at: Token<'s>, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_NESTING {
            let message = format!("brackets nest deeper than {MAX_NESTING} levels");
            return Err(Box::new(Problem::new(message, at.span(), "one more level")));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }
}

/// A type with one mistake.
fn wrong(problem: Problem) -> Base {
    Base::Wrong(vec![problem])
}

/// Adds problems up to the limit.
fn report(all: &mut Vec<Problem>, more: impl IntoIterator<Item = Problem>) {
    let room = MOST_PROBLEMS.saturating_sub(all.len());
    for problem in more.into_iter().take(room) {
        // A struct that is used twice has the same mistakes twice.
        if !all.contains(&problem) {
            all.push(problem);
        }
    }
}

/// A valid alignment: a power of two.
fn alignment(number: i128) -> Option<u64> {
    u64::try_from(number).ok().filter(|align| align.is_power_of_two() && *align <= MAX_ALIGN)
}
