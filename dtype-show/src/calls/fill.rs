//! Breaks the text of a program into lines.

use core::fmt::{self, Write};

/// The maximum number of columns in a line, unless a single word is longer.
const COLUMNS: usize = 100;

/// The start of the second and later lines of a statement.
const INDENT: &str = "    ";

/// Writes words one after another, and continues on the next line if a word does not fit. A space may become a
/// line break; line breaks in the text remain.
pub(super) struct Fill<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    /// The word that is not yet complete.
    word: String,
    /// The number of columns used in the line.
    column: usize,
}

impl<'a, 'f> Fill<'a, 'f> {
    pub(super) fn new(out: &'a mut fmt::Formatter<'f>) -> Self {
        Self { out, word: String::new(), column: 0 }
    }

    fn end_word(&mut self) -> fmt::Result {
        if self.word.is_empty() {
            return Ok(());
        }
        let width = self.word.chars().count();
        if self.column > 0 && self.column + 1 + width > COLUMNS {
            self.out.write_str("\n")?;
            self.out.write_str(INDENT)?;
            self.column = INDENT.len();
        } else if self.column > 0 {
            self.out.write_str(" ")?;
            self.column += 1;
        }
        self.column += width;
        self.out.write_str(&self.word)?;
        self.word.clear();
        Ok(())
    }
}

impl Write for Fill<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                ' ' => self.end_word()?,
                '\n' => {
                    self.end_word()?;
                    self.out.write_str("\n")?;
                    self.column = 0;
                }
                c => self.word.push(c),
            }
        }
        Ok(())
    }
}

/// Writes items with commas between them.
pub(super) fn list<T>(
    out: &mut Fill<'_, '_>,
    items: impl IntoIterator<Item = T>,
    mut one: impl FnMut(&mut Fill<'_, '_>, T) -> fmt::Result,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.write_str(", ")?;
        }
        one(out, item)?;
    }
    Ok(())
}
