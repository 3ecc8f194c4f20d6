//! Reads declarations of structs in C: a few structs with their typedefs and enums, and constants for the lengths of arrays.
//!
//! There is no preprocessor. Anything that depends on one, or on attributes that few structs have, is a mistake whose help is
//! the command that compiles the file: the command `dtype` then reads the layout from debug information.
//!
//! A type that is no data, such as a union or a pointer, is a mistake only if the chosen struct contains it and data alone is
//! wanted. A declaration that the reader does not understand is a mistake only if the chosen struct needs it; otherwise it is
//! skipped, as functions and variables are.

mod attributes;
mod constants;
mod declarator;
mod directives;
mod enums;
mod specifiers;
mod structs;

use std::collections::HashMap;
use std::ops::Range;

use super::hints::Hints;
use super::layout::Base;
use super::{Declared, MAX_NESTING, MAX_PROBLEMS};
use crate::notation::FieldNames;
use crate::problem::{Problem, quoted};
use crate::token::{Kind, Token};
use constants::constant;
use directives::Text;

/// A mistake that makes it impossible to read on in a declaration.
type Read<T> = Result<T, Box<Problem>>;

/// Help for declarations that cannot be read. The placeholders in the command are replaced by the names of the file and of the
/// struct, if these are known.
const BY_COMPILER: &str = "the compiler knows the layout: `cc -g -c -x c -fno-eliminate-unused-debug-types \
                                 FILE.h -o FILE.o && dtype FILE.o:NAME`";

/// Words for declarations that exist in C++ but not in C.
const CPP: &[&str] = &[
    "class",
    "constexpr",
    "explicit",
    "friend",
    "mutable",
    "namespace",
    "operator",
    "private",
    "protected",
    "public",
    "template",
    "typename",
    "using",
    "virtual",
];

/// The structs that a text declares, and the mistakes in declarations that were skipped; also `wanted`, if it is the name of a
/// typedef, a union or an enum.
pub(super) fn read(
    source: &str,
    wanted: Option<&str>,
    fields: &mut FieldNames,
) -> Result<(Vec<Declared>, Vec<Problem>), Vec<Problem>> {
    let mut text = directives::read(source).map_err(|problem| vec![*problem])?;
    let values = std::mem::take(&mut text.values);
    let mut reader = Reader {
        text,
        values,
        fields,
        tags: HashMap::new(),
        types: HashMap::new(),
        declared: Vec::new(),
        unions: Vec::new(),
        mistakes: Vec::new(),
        hints: Hints::default(),
        depth: 0,
    };
    reader.file();
    if reader.declared.is_empty() && wanted.is_none() {
        reader.declared = reader.unions;
    } else if let Some(name) = wanted {
        let tag = reader.tags.get(name).filter(|named| named.declared.is_none()).cloned();
        if let Some(Named { base, span, .. }) = reader.alias(name).or(tag) {
            reader.declared.push(Declared { name: name.to_owned(), span, base, is_part: false });
        }
    }
    Ok((reader.declared, reader.mistakes))
}

/// A type that a name stands for.
#[derive(Clone)]
struct Named<'s> {
    base: Base,
    /// The struct's index in the list of declared ones.
    declared: Option<usize>,
    /// A tag that is not declared yet, if the base consists of the tag only.
    later: Option<&'s str>,
    /// The position of the name.
    span: Range<usize>,
}

impl Named<'_> {
    fn of(base: Base, span: Range<usize>) -> Self {
        Self { base, declared: None, later: None, span }
    }
}

struct Reader<'s, 'f> {
    text: Text<'s>,
    /// Macros that are numbers, and the constants of enums.
    values: HashMap<&'s str, i128>,
    fields: &'f mut FieldNames,
    /// Structs, unions and enums whose bodies were read.
    tags: HashMap<&'s str, Named<'s>>,
    /// Typedefs.
    types: HashMap<&'s str, Named<'s>>,
    declared: Vec<Declared>,
    unions: Vec<Declared>,
    /// Mistakes in declarations that were skipped.
    mistakes: Vec<Problem>,
    hints: Hints,
    /// Levels of nested brackets and structs.
    depth: usize,
}

impl<'s> Reader<'s, '_> {
    fn peek(&self) -> Token<'s> {
        self.text.cursor.peek()
    }

    fn next(&mut self) -> Token<'s> {
        self.text.cursor.next()
    }

    /// The mistake for an unexpected next token. If the token is a macro, only the compiler knows its meaning.
    fn unexpected(&self, expected: &str) -> Box<Problem> {
        let problem = self.text.cursor.unexpected(expected);
        match self.peek().kind {
            Kind::Word | Kind::Macro => Box::new(by_compiler(*problem)),
            _ => problem,
        }
    }

    fn file(&mut self) {
        loop {
            let (token, next) = (self.peek(), self.text.cursor.peek_after(1));
            match (token.kind, token.text) {
                (Kind::End, _) => return,
                // The end of `extern "C" {`.
                (Kind::Sign, ";" | "}") => drop(self.next()),
                (Kind::Word, "extern") if next.kind == Kind::Text => {
                    self.next();
                    self.next();
                    self.text.cursor.take("{");
                }
                _ if self.declares_a_type() => self.declaration(),
                (Kind::Word, word) if CPP.contains(&word) => {
                    let problem = cpp(token);
                    report(&mut self.mistakes, [problem]);
                    self.skip_declaration(false);
                }
                _ => self.skip_declaration(false),
            }
        }
    }

    /// Whether the next declaration is a typedef, or declares a struct, a union or an enum.
    fn declares_a_type(&self) -> bool {
        for number in 0.. {
            match self.text.cursor.peek_after(number).text {
                // An attribute is read together with what it belongs to.
                "typedef" | "struct" | "union" | "enum" | "__attribute__" | "__attribute"
                | "alignas" | "_Alignas" => return true,
                "const" | "static" | "volatile" | "extern" | "__extension__" | "register" => {}
                _ => return false,
            }
        }
        false
    }

    /// Reads a declaration. If it has a mistake, the rest is skipped: it is not known what it declares.
    fn declaration(&mut self) {
        let read = match self.specifiers() {
            Ok(one) if one.is_typedef => self.typedefs(&one),
            // Variables and functions of the type do not matter.
            Ok(_) => return self.skip_declaration(self.declares_a_type()),
            Err(problem) => Err(problem),
        };
        if let Err(problem) = read {
            report(&mut self.mistakes, [*problem]);
            self.skip_declaration(true);
        }
    }

    /// Skips the rest of a body, with its closing brace.
    fn skip_body(&mut self) {
        while !self.peek().is("}") && self.peek().kind != Kind::End {
            if self.peek().is("{") {
                self.text.cursor.skip_brackets();
            } else {
                self.next();
            }
        }
        self.next();
    }

    /// Skips a declaration, which may be that of a type, up to its semicolon, or a function up to the end of its body. It also
    /// ends before a type, since a macro needs no semicolon.
    fn skip_declaration(&mut self, is_type: bool) {
        let start = self.text.cursor.index();
        let mut has_value = false;
        loop {
            let token = self.peek();
            match (token.kind, token.text) {
                (Kind::End, _) | (Kind::Sign, "}") => return,
                (Kind::Word, "typedef" | "struct" | "union" | "enum")
                    if !is_type && !has_value && self.text.cursor.index() > start =>
                {
                    return;
                }
                (Kind::Sign, "{") => {
                    self.text.cursor.skip_brackets();
                    let next = self.peek();
                    if !has_value && !is_type && !next.is("=") {
                        return;
                    }
                    continue;
                }
                _ => {}
            }
            self.next();
            has_value |= token.is("=");
            if token.is(";") {
                return;
            }
        }
    }

    /// The value of the constant expression here.
    fn constant(&mut self) -> Read<i128> {
        let value = constant(&mut self.text.cursor, &|name| self.values.get(name).copied());
        value.map_err(|problem| match problem.help {
            Some(_) => problem,
            None => Box::new(by_compiler(*problem)),
        })
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

/// A mistake that would not arise with a compiler.
fn by_compiler(problem: Problem) -> Problem {
    problem.help(BY_COMPILER)
}

/// The mistake for a word of C++.
fn cpp(word: Token<'_>) -> Problem {
    let message = format!("{} is C++", quoted(word.text));
    let help = BY_COMPILER.replace("cc -g -c -x c ", "c++ -g -c -x c++ ");
    Problem::new(message, word.span(), "not C").help(help)
}

/// Adds problems up to the limit.
fn report(problems: &mut Vec<Problem>, more: impl IntoIterator<Item = Problem>) {
    let room = MAX_PROBLEMS.saturating_sub(problems.len());
    for problem in more.into_iter().take(room) {
        // A struct that is used twice would report its mistakes twice.
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
}
