//! Recognizes the language of a text.

use super::language::Language;
use crate::token::{Blank, Cursor, Kind, tokens};

/// Words with which only declarations in C start.
const C_WORDS: &[&str] = &[
    "typedef",
    "union",
    "extern",
    "_Static_assert",
    "static_assert",
    "alignas",
    "_Alignas",
    // Words of C++, which are refused as such.
    "class",
    "constexpr",
    "namespace",
    "template",
    "using",
];

/// Words with which only Rust items start.
const RUST_WORDS: &[&str] =
    &["pub", "use", "fn", "impl", "mod", "type", "trait", "unsafe", "macro_rules"];

/// Lines that start with `#` and one of these words are C; others are comments of the notation.
const DIRECTIVES: &[&str] =
    &["include", "define", "pragma", "ifndef", "ifdef", "if", "endif", "undef", "error"];

/// The language of a text, recognized by its first words. If nothing else matches, the text is in the notation.
///
/// ```
/// use dtype_text::declaration::{Language, recognize};
/// assert_eq!(recognize("struct P { double x[3]; int id; };"), Language::C);
/// assert_eq!(recognize("#[repr(C)] struct P { x: [f64; 3] }"), Language::Rust);
/// assert_eq!(recognize("[('x', '<f8', (3,)), ('id', '<i4')]"), Language::Numpy);
/// assert_eq!(recognize("struct{x: [f64; 3], id: i32}"), Language::Notation);
/// ```
pub fn recognize(source: &str) -> Language {
    let source = source.trim_start_matches('\u{feff}').trim_start();
    if is_numpy(source) {
        return Language::Numpy;
    }
    if source.starts_with("#[") || source.starts_with("#!") {
        return Language::Rust;
    }
    // The notation does not have comments with slashes.
    let has_comment = source.starts_with("//") || source.starts_with("/*");
    let mut cursor = Cursor::new(tokens(source, Blank::C), source);
    loop {
        let token = cursor.peek();
        if token.kind == Kind::Directive {
            // `# if` with a space is a comment of the notation.
            let line = token.text.trim_start_matches('#');
            let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
            if token.text.starts_with("#[") {
                return Language::Rust;
            }
            if DIRECTIVES.contains(&word) && (line.len() > word.len() || word == "endif") {
                return Language::C;
            }
            cursor.next();
            continue;
        }
        return match (token.kind, token.text) {
            // Both languages have `extern "C" {`.
            (Kind::Word, "extern") => structure(cursor).unwrap_or(Language::C),
            (Kind::Word, word) if C_WORDS.contains(&word) => Language::C,
            (Kind::Word, word) if RUST_WORDS.contains(&word) => Language::Rust,
            (Kind::Word, "struct" | "enum" | "const" | "static") => structure(cursor)
                .unwrap_or(if has_comment { Language::C } else { Language::Notation }),
            (Kind::Word, _) if has_comment => structure(cursor).unwrap_or(Language::C),
            _ if has_comment => Language::C,
            _ => Language::Notation,
        };
    }
}

/// Whether a text is a Python expression for a dtype.
fn is_numpy(source: &str) -> bool {
    const CALLS: &[&str] = &["np.", "numpy.", "dtype(", "dict("];
    let compact: String = source.chars().filter(|c| !c.is_whitespace()).take(16).collect();
    let is_call = |text: &str| CALLS.iter().any(|call| text.starts_with(call));
    // `u'x'` means the same as `'x'`.
    let is_text = |text: &str| text.trim_start_matches(['u', 'U']).starts_with(['\'', '"']);
    let is_value = |text: &str| is_text(text) || is_call(text);
    match compact.strip_prefix(['[', '{', '(']) {
        None => is_value(&compact) || compact.starts_with(['<', '>', '|', '=']),
        Some(inside) if compact.starts_with('[') => {
            inside.strip_prefix('(').is_some_and(|field| is_text(field) || field.starts_with('('))
        }
        Some(inside) => is_value(inside) || inside.starts_with("[('"),
    }
}

/// The language of the first struct, recognized by what separates its fields.
fn structure(mut cursor: Cursor<'_>) -> Option<Language> {
    loop {
        let token = cursor.next();
        match (token.kind, token.text) {
            (Kind::End, _) => return None,
            (Kind::Word, "struct") => break,
            // A directive is an attribute of Rust.
            (Kind::Directive, line) if line.starts_with("#[") => return Some(Language::Rust),
            _ => {}
        }
    }
    let mut has_name = false;
    while cursor.peek().kind == Kind::Word {
        // `__attribute__((packed))`
        let word = cursor.next();
        has_name = true;
        let is_attribute = word.text.starts_with("__") || C_WORDS.contains(&word.text);
        if is_attribute && cursor.peek().is("(") {
            return Some(Language::C);
        }
    }
    match cursor.peek().text {
        "{" => cursor.next(),
        "<" | "(" if has_name => return Some(Language::Rust),
        ";" | "*" | ":" if has_name => return Some(Language::C),
        "[" => return Some(Language::C),
        _ => return None,
    };
    let (mut has_colon, mut has_pair) = (false, false);
    loop {
        let token = cursor.peek();
        match (token.kind, token.text) {
            // The end is missing: the text so far looks like `int x`, not like `x: i32`.
            (Kind::End, _) if has_name && has_pair && !has_colon => return Some(Language::C),
            (Kind::End, _) | (Kind::Sign, "}") => break,
            (Kind::Directive, line) if line.starts_with("#[") => return Some(Language::Rust),
            (Kind::Directive, _) | (Kind::Sign, ";") => return Some(Language::C),
            (Kind::Sign, "(" | "[" | "{") => {
                cursor.skip_brackets();
                continue;
            }
            (Kind::Sign, ":") => has_colon = true,
            (Kind::Word, word) => {
                has_pair |= word != "pub" && cursor.peek_after(1).kind == Kind::Word;
            }
            _ => {}
        }
        cursor.next();
    }
    if !has_name {
        return None;
    }
    cursor.next();
    let next = cursor.peek();
    let is_c = !has_colon && (next.is(";") || next.kind == Kind::Word);
    Some(if is_c { Language::C } else { Language::Rust })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words() {
        for (text, language) in [
            ("", Language::Notation),
            ("vector(4, 5, 6, u16)", Language::Notation),
            ("# A comment.\nlet n = 3; [f64; n]", Language::Notation),
            ("# if it rains\nf64", Language::Notation),
            ("#if X\nstruct P { int x; };", Language::C),
            ("struct{unsigned long, [u8; 3]}", Language::Notation),
            ("struct([1], [0], [u8])", Language::Notation),
            ("[(f64); 3]", Language::Notation),
            ("double x[3]", Language::Notation),
            ("/* P */ struct P { int x; }", Language::C),
            ("#include <stdint.h>\nstruct P { int x; };", Language::C),
            ("typedef struct { int x; } P;", Language::C),
            ("struct { int x; } p;", Language::C),
            ("struct P { int x : 3; };", Language::C),
            ("struct __attribute__((packed)) P { int x; };", Language::C),
            ("struct alignas(16) P { int x; };", Language::C),
            ("struct _Alignas(16) P { int x; };", Language::C),
            ("struct P { int a[3", Language::C),
            ("struct P { int a", Language::C),
            ("struct P { a: [u8; 3", Language::Rust),
            ("struct P { pub a", Language::Rust),
            ("struct P {};", Language::C),
            ("extern \"C\" { struct P { int x; }; }", Language::C),
            ("extern int f(void);", Language::C),
            ("extern \"C\" { fn f(); } struct P { x: u8, }", Language::Rust),
            ("extern \"C\" { fn f(); }\n#[repr(C)]\nstruct P { x: u8, }", Language::Rust),
            ("struct P {}", Language::Rust),
            ("struct P { x: [u8; 3] }", Language::Rust),
            ("struct P(f64, u8);", Language::Rust),
            ("// C or Rust\npub struct P { x: u8 }", Language::Rust),
            ("// P\nstruct P { x: u8, }", Language::Rust),
            ("#[derive(Debug)]\nstruct P { x: u8, }", Language::Rust),
            ("const N: usize = 3; #[repr(C)] struct P { x: [u8; N] }", Language::Rust),
            ("const struct P { int x; } p;", Language::C),
            ("np.dtype('f8')", Language::Numpy),
            ("<f8", Language::Numpy),
            ("'f8'", Language::Numpy),
            ("{'names': ['x']}", Language::Numpy),
            ("[ ( 'x', 'f8' ) ]", Language::Numpy),
            ("('<f8', (3,))", Language::Numpy),
        ] {
            assert_eq!(recognize(text), language, "{text}");
        }
    }
}
