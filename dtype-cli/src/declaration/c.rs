//! Reads declarations of structs in C.
//!
//! The reader knows as much of C as declarations of data need: structs, enums and typedefs, whose names it keeps in
//! the order of the text, and constants for the lengths of arrays. It passes over functions and variables. Macros
//! without arguments are expanded, and of a condition whose value is not known all branches are read; a struct whose
//! layout depends on one is a mistake.
//!
//! A type without a layout, such as a union or a pointer, is a mistake only where the chosen struct contains it. So is a
//! declaration that is not understood: it is passed over.

mod attributes;
mod conditions;
mod constants;
mod cpp;
mod declarator;
mod enums;
mod macros;
pub(super) mod names;
mod number;
mod pragma;
mod predefined;
mod preprocess;
mod specifiers;
mod structs;
mod truth;
mod typedefs;

use std::collections::HashMap;
use std::ops::Range;

use super::hints::Hints;
use super::layout::{Base, MAX_ALIGN};
use super::token::{Cursor, Kind, Token};
use super::{Declared, MAX_NESTING, MOST_PROBLEMS};
use crate::notation::FieldNames;
use crate::problem::{Problem, quoted};

/// A mistake in the grammar, after which the declaration cannot be read on.
type Read<T> = Result<T, Box<Problem>>;

/// The number of tokens that are read in vain before mistakes: beyond it, the text is not read on.
const MOST_IN_VAIN: usize = 1 << 22;

/// The structs that a text declares, and the mistakes of declarations that are passed over; also what is `wanted`, if
/// that is the name of a typedef, a union or an enum.
pub(super) fn read(
    source: &str,
    wanted: Option<&str>,
    fields: &mut FieldNames,
) -> Result<(Vec<Declared>, Vec<Problem>), Vec<Problem>> {
    let (cursor, lines) = preprocess::preprocess(source).map_err(|problem| vec![*problem])?;
    let mut reader = Reader {
        cursor,
        lines,
        fields,
        tags: HashMap::new(),
        types: HashMap::new(),
        constants: HashMap::new(),
        declared: Vec::new(),
        mistakes: Vec::new(),
        hints: Hints::default(),
        inside: Vec::new(),
        depth: 0,
        in_vain: 0,
    };
    reader.file().map_err(|problem| vec![*problem])?;
    if let Some(name) = wanted
        && let Some(named) = reader.named(name)
    {
        let Named { base, span, .. } = named;
        reader.declared.push(Declared { name: name.to_owned(), span, base, is_part: true });
    }
    Ok((reader.declared, reader.mistakes))
}

/// Something that a name stands for.
#[derive(Clone)]
struct Named<'s> {
    base: Base,
    /// The struct's index in the list of declared ones.
    declared: Option<usize>,
    /// A tag that is not declared yet, if the base says only that, and the alignment that its typedef asks for.
    later: Option<(&'s str, Option<u64>)>,
    /// The position of the name.
    span: Range<usize>,
}

impl<'s> Named<'s> {
    fn of(base: Base, span: Range<usize>) -> Self {
        Self { base, declared: None, later: None, span }
    }

    /// A tag that may be declared later.
    fn later(keyword: &str, tag: Token<'s>) -> Self {
        let message = format!("`{keyword} {}` is not declared", tag.text);
        let problem = Problem::new(message, tag.span(), "unknown name");
        let base = wrong(problem.help("add its declaration before this one"));
        Self { base, declared: None, later: Some((tag.text, None)), span: tag.span() }
    }
}

struct Reader<'s, 'f> {
    cursor: Cursor<'s>,
    lines: preprocess::Lines,
    fields: &'f mut FieldNames,
    /// Structs, unions and enums whose bodies were read.
    tags: HashMap<&'s str, Named<'s>>,
    /// Typedefs.
    types: HashMap<&'s str, Named<'s>>,
    /// The constants of enums.
    constants: HashMap<&'s str, constants::Value>,
    declared: Vec<Declared>,
    /// Mistakes of declarations that were passed over.
    mistakes: Vec<Problem>,
    hints: Hints,
    /// The tags of the structs around this place.
    inside: Vec<&'s str>,
    /// Levels of nested brackets and structs.
    depth: usize,
    /// The number of tokens that were read before mistakes.
    in_vain: usize,
}

impl<'s> Reader<'s, '_> {
    fn file(&mut self) -> Read<()> {
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::End, _) => return Ok(()),
                // The end of `extern "C" {`.
                (Kind::Sign, ";" | "}") => drop(self.cursor.next()),
                (Kind::Word, "extern") if self.cursor.peek_after(1).kind == Kind::Text => {
                    self.cursor.next();
                    self.cursor.next();
                    self.cursor.take("{");
                }
                (Kind::Word, "_Static_assert" | "static_assert") => self.skip_declaration(),
                _ if self.declares_a_type() => self.declaration()?,
                _ if self.cpp_declaration() => {}
                _ => self.skip_declaration(),
            }
        }
    }

    /// Whether the next declaration is a typedef, or declares a struct, a union or an enum.
    fn declares_a_type(&self) -> bool {
        let mut number = 0;
        loop {
            let token = self.cursor.peek_after(number);
            number += 1;
            match token.text {
                "typedef" | "struct" | "union" | "enum" => return true,
                "const" | "static" | "volatile" | "extern" | "__extension__" => {}
                "__attribute__" | "__attribute" | "__declspec" | "alignas" | "_Alignas" => {
                    number = self.after_brackets(number);
                }
                "[" => number = self.after_brackets(number - 1),
                _ => return false,
            }
        }
    }

    /// The number of tokens up to the end of the brackets that start after `number` tokens.
    fn after_brackets(&self, mut number: usize) -> usize {
        let mut depth = 0_usize;
        loop {
            let token = self.cursor.peek_after(number);
            match (token.kind, token.text) {
                (Kind::End, _) => return number,
                (Kind::Sign, "(" | "[" | "{") => depth += 1,
                (Kind::Sign, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            number += 1;
            if depth == 0 {
                return number;
            }
        }
    }

    /// A declaration. One with a mistake is passed over: it is not known what it declares.
    fn declaration(&mut self) -> Read<()> {
        let start = self.cursor.index();
        let (read, declared) = match self.specifiers() {
            Ok(one) if one.is_typedef => (self.typedefs(&one, start), one.declared),
            // Variables and functions of the type do not matter.
            Ok(_) => {
                self.skip_declaration();
                return Ok(());
            }
            Err(problem) => (Err(problem), None),
        };
        let Err(problem) = read else { return Ok(()) };
        let problem = self.go_back(start, problem)?;
        self.pass_over(&problem, declared);
        report(&mut self.mistakes, [problem]);
        Ok(())
    }

    /// Passes over a declaration with a mistake, up to its semicolon. The names of a typedef have the same mistake.
    fn pass_over(&mut self, problem: &Problem, declared: Option<usize>) {
        let is_typedef = self.cursor.peek().is("typedef");
        let mut depth = 0_usize;
        loop {
            let (token, next) = (self.cursor.peek(), self.cursor.peek_after(1));
            let is_last = next.is(";") || depth == 0 && (next.is(",") || next.is("["));
            match (token.kind, token.text) {
                (Kind::End, _) | (Kind::Sign, "}") => return,
                (Kind::Sign, "{") => {
                    self.cursor.skip_brackets();
                    continue;
                }
                (Kind::Sign, "(") => depth += 1,
                (Kind::Sign, ")") => depth = depth.saturating_sub(1),
                (Kind::Word, name) if is_typedef && is_last => {
                    let named = Named::of(wrong(problem.clone()), token.span());
                    self.types.insert(name, Named { declared, ..named });
                }
                _ => {}
            }
            self.cursor.next();
            if token.is(";") {
                return;
            }
        }
    }

    /// Goes back to the token with this number, where something starts that has a mistake.
    fn go_back(&mut self, start: usize, problem: Box<Problem>) -> Read<Problem> {
        self.in_vain += self.cursor.index() - start;
        if self.in_vain > MOST_IN_VAIN {
            return Err(problem);
        }
        self.cursor.rewind(start);
        Ok(*problem)
    }

    /// What stands between braces, or what is wrong with it.
    fn braces<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<Result<T, Problem>> {
        let start = self.cursor.index();
        let open = self.cursor.expect("{")?;
        match self.nested(open, inside) {
            Ok(found) => Ok(Ok(found)),
            Err(problem) => {
                let problem = self.go_back(start, problem)?;
                self.cursor.skip_brackets();
                Ok(Err(problem))
            }
        }
    }

    /// What a typedef or a tag of a union or an enum stands for.
    fn named(&self, name: &str) -> Option<Named<'s>> {
        let tag = || self.tags.get(name).filter(|named| named.declared.is_none());
        self.alias(name).or_else(|| tag().cloned())
    }

    /// The mistake of a name after the body of a struct or an enum that may be a macro for an attribute. The name of a
    /// typedef is not taken for one, unless another name is beside it.
    fn macro_after_body(&self, is_typedef: bool) -> Option<Problem> {
        let [token, next] = [self.cursor.peek(), self.cursor.peek_after(1)];
        let is_probable = |token: Token<'_>| is_probably_macro(token.text);
        let is_name =
            |token: Token<'_>| token.kind == Kind::Word && !specifiers::is_beside_type(token.text);
        let token = match (is_typedef, is_name(token) && is_name(next)) {
            (true, false) if token.kind == Kind::Word => return None,
            (true, true) if is_probable(next) && !is_probable(token) => next,
            _ => token,
        };
        match token.kind {
            Kind::Macro | Kind::Branches => Some(*self.cursor.unexpected("`;`")),
            Kind::Word if is_typedef || is_probable(token) => Some(undefined_macro(token)),
            _ => None,
        }
    }

    /// Skips a declaration up to its semicolon, or a function up to the end of its body. It also ends before a type,
    /// since a macro that this text does not define needs no semicolon.
    fn skip_declaration(&mut self) {
        let start = self.cursor.index();
        let mut has_value = false;
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::End, _) | (Kind::Sign, "}") => return,
                (Kind::Word, "typedef" | "struct" | "union" | "enum")
                    if !has_value && self.cursor.index() > start =>
                {
                    return;
                }
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

    /// The mistake of a condition since the token with this number.
    fn condition(&self, start: usize) -> Option<Problem> {
        let span = self.lines.condition(start..self.cursor.index())?;
        let problem = Problem::new("this condition changes a declaration", span, "not known");
        Some(problem.help("remove the lines of the condition, and the branches that do not apply"))
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

/// Whether a name that is not defined looks like a macro for an attribute.
fn is_probably_macro(name: &str) -> bool {
    let is_upper = !name.chars().any(char::is_lowercase);
    name.starts_with("__")
        || name == "aligned"
        || name.to_lowercase().contains("packed")
        || is_upper && (name.contains("PACK") || name.contains("ALIGN"))
}

/// The mistake of a name where an attribute may stand.
fn undefined_macro(name: Token<'_>) -> Problem {
    let message = format!("{} may be a macro for an attribute", quoted(name.text));
    let problem = Problem::new(message, name.span(), "not defined in this text");
    problem.help("write what it stands for, for example `__attribute__((packed))`")
}

/// A valid alignment: a power of two.
fn alignment(number: i128) -> Option<u64> {
    u64::try_from(number).ok().filter(|align| align.is_power_of_two() && *align <= MAX_ALIGN)
}
