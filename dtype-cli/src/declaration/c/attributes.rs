//! Attributes and alignments in C.

use super::super::layout::Base;
use super::super::token::Kind;
use super::{Read, Reader, alignment};
use crate::problem::{Problem, quoted};

/// Attributes that change a layout in other ways, and what to write instead.
const REFUSED: &[(&str, &str)] = &[
    ("vector_size", VECTOR),
    ("ext_vector_type", VECTOR),
    ("neon_vector_type", VECTOR),
    ("mode", "write the type that is meant, for example `int64_t`"),
    ("no_unique_address", "leave it out, with the field, if that has no bytes"),
    ("scalar_storage_order", ORDER),
    ("ms_struct", "leave it out if the struct has no bit-fields"),
];

const VECTOR: &str = "write an array, with `__attribute__((aligned(n)))` for its alignment";

/// What to write instead of a byte order.
pub(super) const ORDER: &str =
    "leave it out; `--representation` names the byte order of the values where they are read";

/// The attributes that change a layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    pub(super) is_packed: bool,
    /// The last alignment of an attribute, which is the one that counts for a type.
    pub(super) last: Option<u64>,
    /// The greatest alignment of an attribute, which is the one that counts for a field.
    pub(super) most: Option<u64>,
    /// The greatest alignment of `alignas`.
    pub(super) alignas: Option<u64>,
    /// What is wrong with them.
    pub(super) problem: Option<Box<Problem>>,
}

impl Attributes {
    /// Adds the attributes that follow these.
    pub(super) fn join(&mut self, other: Self) {
        self.is_packed |= other.is_packed;
        self.last = other.last.or(self.last);
        self.most = self.most.max(other.most);
        self.alignas = self.alignas.max(other.alignas);
        self.problem = self.problem.take().or(other.problem);
    }

    fn align(&mut self, align: Option<u64>) {
        self.last = align.or(self.last);
        self.most = self.most.max(align);
    }

    fn refuse(&mut self, problem: Box<Problem>) {
        self.problem = self.problem.take().or(Some(problem));
    }
}

impl Reader<'_, '_> {
    /// All attributes here: `__attribute__((…))`, `[[…]]`, `alignas(…)` and `__declspec(…)`.
    pub(super) fn attributes(&mut self) -> Read<Attributes> {
        let mut all = Attributes::default();
        loop {
            all.join(self.attributes_of_type()?);
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::Sign, "[") if self.cursor.peek_after(1).is("[") => {
                    all.join(self.standard_attributes()?);
                }
                (Kind::Word, "alignas" | "_Alignas") => {
                    self.cursor.next();
                    match self.alignment()? {
                        Ok(align) => all.alignas = all.alignas.max(align),
                        Err(problem) => all.refuse(problem),
                    }
                }
                _ => return Ok(all),
            }
        }
    }

    /// `[[…]]`
    pub(super) fn standard_attributes(&mut self) -> Read<Attributes> {
        self.cursor.expect("[")?;
        self.cursor.expect("[")?;
        let all = self.attribute_list("]")?;
        self.cursor.expect("]")?;
        Ok(all)
    }

    /// The attributes that belong to a type also after its closing brace, where others belong to what is declared.
    pub(super) fn attributes_of_type(&mut self) -> Read<Attributes> {
        let mut all = Attributes::default();
        loop {
            let token = self.cursor.peek();
            match (token.kind, token.text) {
                (Kind::Word, "__attribute__" | "__attribute" | "__declspec") => {
                    self.cursor.next();
                    self.cursor.expect("(")?;
                    all.join(self.attribute_list(")")?);
                }
                (Kind::Word, "__packed") => {
                    self.cursor.next();
                    all.is_packed = true;
                }
                (Kind::Word, "__extension__") => drop(self.cursor.next()),
                _ => return Ok(all),
            }
        }
    }

    /// Attributes up to the closing bracket.
    fn attribute_list(&mut self, close: &str) -> Read<Attributes> {
        let mut all = Attributes::default();
        loop {
            let token = self.cursor.peek();
            let name = token.text.strip_prefix("__").and_then(|name| name.strip_suffix("__"));
            match (token.kind, name.unwrap_or(token.text)) {
                (Kind::End, _) | (Kind::Sign, ";" | "{" | "}") => {
                    return Err(self.cursor.unexpected(&format!("`{close}`")));
                }
                (Kind::Sign, text) if text == close => {
                    self.cursor.next();
                    return Ok(all);
                }
                // The second bracket of `__attribute__((`.
                (Kind::Sign, "(") => {
                    let inner = self.nested(token, |reader| {
                        reader.cursor.next();
                        reader.attribute_list(")")
                    })?;
                    all.join(inner);
                }
                (Kind::Word, "packed") => {
                    self.cursor.next();
                    all.is_packed = true;
                }
                (Kind::Word, "aligned" | "align") => {
                    self.cursor.next();
                    if self.cursor.peek().is("(") {
                        match self.alignment()? {
                            Ok(align) => all.align(align),
                            Err(problem) => all.refuse(problem),
                        }
                    } else {
                        all.align(Some(16));
                    }
                }
                (kind, name) => {
                    let refused = REFUSED.iter().find(|(one, _)| *one == name);
                    if let Some((_, help)) = refused.filter(|_| kind == Kind::Word) {
                        let message = format!("the attribute {} changes the layout", quoted(name));
                        let problem = Problem::new(message, token.span(), "not supported");
                        all.refuse(Box::new(problem.help(*help)));
                    }
                    if matches!(kind, Kind::Macro | Kind::Branches) {
                        all.refuse(self.cursor.unexpected("an attribute"));
                    }
                    self.cursor.next();
                    if self.cursor.peek().is("(") {
                        self.cursor.skip_brackets();
                    }
                }
            }
        }
    }

    /// `(number)` or `(type)`: the alignment, or what is wrong with it.
    fn alignment(&mut self) -> Read<Result<Option<u64>, Box<Problem>>> {
        let open = self.cursor.expect("(")?;
        if self.starts_type(0) {
            return Ok(match self.nested(open, Self::type_in_brackets)? {
                Base::Known(layout) => Ok(Some(layout.align)),
                Base::Wrong(problems) if !problems.is_empty() => Err(Box::new(problems[0].clone())),
                _ => {
                    let span = open.end..self.cursor.last().start.max(open.end);
                    Err(Box::new(Problem::new("the alignment of this type is unknown", span, "")))
                }
            });
        }
        let start = self.cursor.peek().start;
        let value = self.nested(open, Self::constant);
        let span = start..self.cursor.last().end.max(start);
        self.cursor.expect(")")?;
        Ok(value.and_then(|number| match (number.value, alignment(number.value)) {
            // `alignas(0)` has no effect.
            (0, _) => Ok(None),
            (_, Some(align)) => Ok(Some(align)),
            (_, None) => {
                let message = "an alignment is a power of two, at most 2^28";
                Err(Box::new(Problem::new(message, span, "not an alignment")))
            }
        }))
    }
}
