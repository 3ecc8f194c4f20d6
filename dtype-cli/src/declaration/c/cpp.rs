//! C++, which is not read: what is said of it, and what to write instead.

use std::ops::Range;

use super::super::token::{Kind, Token};
use super::names::{header, is_reversed};
use super::specifiers::{Specified, is_beside_type};
use super::{Named, Read, Reader, report, wrong};
use crate::problem::{Problem, quoted};

/// What to do with what has no bytes in a struct.
pub(super) const LEAVE_OUT: &str = "leave it out: it does not change the layout";

const WRITE_TYPE: &str = "write the type that is meant";

/// Words that a declaration of C does not start with, and what to do.
const WORDS: &[(&str, &str)] = &[
    ("public", LEAVE_OUT),
    ("private", LEAVE_OUT),
    ("protected", LEAVE_OUT),
    ("friend", LEAVE_OUT),
    ("explicit", LEAVE_OUT),
    ("operator", LEAVE_OUT),
    ("constexpr", "write a `#define` for a constant"),
    ("consteval", LEAVE_OUT),
    ("constinit", LEAVE_OUT),
    ("mutable", LEAVE_OUT),
    ("using", "write a `typedef` before the struct"),
    ("namespace", "take the declarations out of the namespace"),
    ("class", "write `struct`, with the fields alone"),
    ("template", "write the struct with the types that are meant"),
    ("typename", WRITE_TYPE),
    ("decltype", WRITE_TYPE),
    ("auto", WRITE_TYPE),
    (
        "virtual",
        "an object with virtual functions begins with a pointer to them: write a struct of its data alone",
    ),
];

/// Types of the standard library, and what C has for them.
const STANDARD: &[(&str, &str)] = &[
    ("array", "write an array: `double x[3]`"),
    ("atomic", "write `_Atomic` before the type"),
    ("byte", "write `unsigned char`"),
    ("complex", "write `double _Complex`, for example"),
];

/// The mistake that something is C++.
pub(super) fn cpp(what: &str, span: Range<usize>, help: &str) -> Problem {
    Problem::new(format!("{what} is C++"), span, "C++").help(help)
}

/// The mistake of a function in a struct.
pub(super) fn function(span: Range<usize>) -> Box<Problem> {
    Box::new(Problem::new("a struct of C has no functions", span, "C++").help(LEAVE_OUT))
}

impl<'s> Reader<'s, '_> {
    /// The mistake of a word that a declaration of C does not start with.
    fn cpp_word(&self, first: Token<'_>) -> Option<Problem> {
        let (word, help) = WORDS.iter().find(|(word, _)| first.is(word))?;
        let is_type = first.kind != Kind::Word || self.types.contains_key(first.text);
        (!is_type).then(|| cpp(&format!("`{word}`"), first.span(), help))
    }

    /// The mistake of a member that a struct of C does not have.
    pub(super) fn cpp_member(&self, first: Token<'_>) -> Option<Box<Problem>> {
        if let Some(problem) = self.cpp_word(first) {
            return Some(Box::new(problem));
        }
        if first.is("~") {
            return Some(function(first.span()));
        }
        // `P(int x);`, `P() : x(0) {}`, `P() = default;`
        if !self.is_call(first) {
            return None;
        }
        let after = self.cursor.peek_after(self.after_brackets(1));
        let is_function = ["{", ":", "=", "noexcept"].iter().any(|sign| after.is(sign));
        let is_constructor = self.inside.last() == Some(&first.text);
        (is_function || is_constructor).then(|| function(first.span()))
    }

    /// The mistake of a member that is not stored in the struct.
    pub(super) fn cpp_storage(specified: &Specified<'_>) -> Option<Box<Problem>> {
        let storage = specified.storage.as_ref()?;
        let what = format!("`{}` in a struct", storage.text);
        Some(Box::new(cpp(&what, storage.span(), LEAVE_OUT)))
    }

    /// Passes over a declaration of C++, whose names have its mistake. Returns whether there is one.
    pub(super) fn cpp_declaration(&mut self) -> bool {
        let first = self.cursor.peek();
        self.cpp_constant();
        let Some(problem) = self.cpp_word(first) else { return false };
        if first.is("template") {
            self.cursor.next();
            self.skip_angles();
        }
        let [keyword, name, sign] = [0, 1, 2].map(|number| self.cursor.peek_after(number));
        let names_type = match keyword.text {
            "class" | "struct" | "union" => !is_beside_type(name.text),
            "using" => sign.is("="),
            _ => false,
        };
        if names_type && name.kind == Kind::Word {
            self.cpp_name(name, &problem);
        }
        report(&mut self.mistakes, [problem]);
        // After the keyword, so that a template ends with its struct.
        self.cursor.next();
        self.skip_declaration();
        true
    }

    /// Keeps a name that a declaration of C++ gives.
    pub(super) fn cpp_name(&mut self, name: Token<'s>, problem: &Problem) {
        let named = Named::of(wrong(problem.clone()), name.span());
        self.types.insert(name.text, named);
    }

    /// Keeps the name of a variable here that only C++ takes for a constant: `const int N = 3;`.
    fn cpp_constant(&mut self) {
        /// The number of tokens before such a name.
        const LONGEST: usize = 32;
        let mut is_constant = false;
        for number in 0..LONGEST {
            let [token, next] = [number, number + 1].map(|number| self.cursor.peek_after(number));
            is_constant |= token.is("const") || token.is("constexpr");
            if is_constant && token.kind == Kind::Word && (next.is("=") || next.is("{")) {
                let message = format!(
                    "{} is a variable, which is a constant only in C++",
                    quoted(token.text)
                );
                let problem = Problem::new(message, token.span(), "C++");
                let help = format!("write `#define {}` with its value", token.text);
                let problem = Box::new(problem.help(help));
                self.constants.entry(token.text).or_insert(Err(problem));
            }
            let is_end = ["=", ";", "{", "}", "(", "["].iter().any(|sign| next.is(sign));
            if is_end || next.kind == Kind::End {
                return;
            }
        }
    }

    /// Skips `<…>`.
    fn skip_angles(&mut self) {
        let mut depth = 0_usize;
        while self.cursor.peek().kind != Kind::End {
            let token = self.cursor.next();
            depth += usize::from(token.is("<"));
            depth = depth.saturating_sub(usize::from(token.is(">")));
            if depth == 0 {
                return;
            }
        }
    }

    /// Whether `::` follows `number` tokens.
    pub(super) fn is_scope(&self, number: usize) -> bool {
        let [first, second] = [number, number + 1].map(|number| self.cursor.peek_after(number));
        // The positions of tokens that a macro stands for are those of its name.
        let is_joined = first.text.as_bytes().as_ptr_range().end == second.text.as_ptr();
        first.is(":") && second.is(":") && is_joined
    }

    /// Passes over the scope of a type, `std::` or `::` before a name of a C header. Other names in a scope, and templates,
    /// are mistakes.
    pub(super) fn scope(&mut self) -> Read<()> {
        let (first, start) = (self.cursor.peek(), self.cursor.index());
        if self.is_scope(0) {
            self.cursor.next();
            self.cursor.next();
        }
        let is_standard = self.cursor.peek().is("std");
        if is_standard && self.is_scope(1) {
            for _ in 0..3 {
                self.cursor.next();
            }
        }
        let name = self.cursor.peek();
        let is_known = header(name.text).is_some() && !is_reversed(name.text);
        let is_template = self.cursor.peek_after(1).is("<");
        let is_scoped = start < self.cursor.index();
        if !is_template && !self.is_scope(1) && (!is_scoped || is_known) {
            return Ok(());
        }
        let standard = STANDARD.iter().find(|(known, _)| is_standard && name.is(known));
        let help = standard.map_or(
            "write the type of C that it stands for, if its data lie in the struct",
            |(_, help)| help,
        );
        let scope = if is_standard { "std::" } else { "" };
        let what = match (is_template, self.is_scope(1)) {
            (true, _) => format!("the template `{scope}{}`", name.text),
            (_, true) => format!("the scope `{}::`", name.text),
            _ => format!("`{scope}{}`", name.text),
        };
        Err(Box::new(cpp(&what, first.start..name.end.max(first.start), help)))
    }
}
