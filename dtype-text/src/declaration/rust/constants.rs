//! Constant expressions in Rust: the lengths of arrays, and the values of variants.

use std::ops::Range;

use dtype_attributes::{Errors, rename};
use dtype_runtime::Basic;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprPath, Lit, Stmt, Type, UnOp, Variant};

use super::super::MAX_NESTING;
use super::super::layout::NoData;
use super::attributes::{checked, condition};
use super::items::{Item, Kind};
use super::{Read, Reader, check, name_of, range};
use crate::problem::{Problem, quoted};

/// The value; `None` if it does not fit 128 bits.
type Value = Read<Option<i128>>;

impl Reader<'_> {
    /// The length of an array.
    pub(super) fn length(&mut self, length: &Expr) -> Read<u64> {
        let value = self.constant(length)?;
        value.and_then(|value| u64::try_from(value).ok()).ok_or_else(|| {
            let message = "the length of an array is from 0 to 2^64 - 1";
            Box::new(Problem::new(message, range(length.span()), "out of range"))
        })
    }

    fn constant(&mut self, expression: &Expr) -> Value {
        if self.depth >= MAX_NESTING {
            let message = format!("expressions nest deeper than {MAX_NESTING} levels");
            return Err(Box::new(Problem::new(message, range(expression.span()), "")));
        }
        self.depth += 1;
        let value = self.value(expression);
        self.depth -= 1;
        value
    }

    fn value(&mut self, expression: &Expr) -> Value {
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => Ok(number.base10_parse().ok()),
                other => {
                    let span = range(other.span());
                    let message = "expected an integer, found another constant";
                    Err(Box::new(Problem::new(message, span, "expected an integer")))
                }
            },
            Expr::Paren(inner) => self.constant(&inner.expr),
            Expr::Group(inner) => self.constant(&inner.expr),
            Expr::Block(block) => match &block.block.stmts[..] {
                [Stmt::Expr(inner, None)] => self.constant(inner),
                _ => Err(not_a_length(range(block.span()))),
            },
            Expr::Path(path) => self.named_value(path),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => self.named_value(path),
                other => Err(not_a_length(range(other.span()))),
            },
            Expr::Unary(minus) if matches!(minus.op, UnOp::Neg(_)) => {
                Ok(self.constant(&minus.expr)?.and_then(i128::checked_neg))
            }
            Expr::Binary(operation) => {
                let (left, right) =
                    (self.constant(&operation.left)?, self.constant(&operation.right)?);
                let Some((a, b)) = left.zip(right) else { return Ok(None) };
                let shift = u32::try_from(b).ok();
                Ok(match operation.op {
                    BinOp::Add(_) => a.checked_add(b),
                    BinOp::Sub(_) => a.checked_sub(b),
                    BinOp::Mul(_) => a.checked_mul(b),
                    BinOp::Div(_) => a.checked_div(b),
                    BinOp::Rem(_) => a.checked_rem(b),
                    BinOp::Shl(_) => {
                        let power = shift.and_then(|shift| 1_i128.checked_shl(shift));
                        power.and_then(|power| a.checked_mul(power))
                    }
                    BinOp::Shr(_) => shift.and_then(|shift| a.checked_shr(shift)),
                    _ => return Err(not_a_length(range(operation.op.span()))),
                })
            }
            Expr::Cast(cast) => {
                let value = self.constant(&cast.expr)?;
                match &*cast.ty {
                    Type::Path(ty) if value.is_none_or(|value| fits(value, ty)) => Ok(value),
                    _ => Err(not_a_length(range(cast.as_token.span()))),
                }
            }
            other => Err(not_a_length(range(other.span()))),
        }
    }

    /// The value of a constant in the text, even if it is named as `crate::N`. The values of other paths are not known.
    fn named_value(&mut self, path: &ExprPath) -> Value {
        let segments = &path.path.segments;
        let mut parts = segments.iter().map(|segment| &segment.ident);
        let is_here = |part: &&syn::Ident| *part == "crate" || *part == "self" || *part == "super";
        let Some(first) = parts.by_ref().find(|part| !is_here(part)) else {
            return Err(not_a_length(range(path.span())));
        };
        let (name, span) = (name_of(first), range(first.span()));
        if parts.next().is_some() || segments.iter().any(|segment| !segment.arguments.is_none()) {
            let message = format!("the value at the path {} is unknown", quoted(&name));
            let problem = Problem::new(message, span, "not a constant of the text");
            return Err(Box::new(problem.help("write the number")));
        }
        if let Some(known) = self.values.get(&name) {
            return Ok(*known);
        }
        let Some(item @ Item { kind: Kind::Constant(constant), .. }) = self.items.get(&name) else {
            let message = format!("the value of {} is unknown", quoted(&name));
            let problem = Problem::new(message, span, "unknown name");
            let help = format!("write the number, or add `const {name}: usize = …;`");
            return Err(Box::new(problem.help(help)));
        };
        check(&name, item)?;
        let constant = constant.clone();
        let value = self.constant(&constant)?;
        self.values.insert(name, value);
        Ok(value)
    }

    /// The variants of an enum with their bits, zero-extended; `None` if they are not all known. If the enum has only
    /// `#[repr(C)]`, they must fit C's `int`: with other values, it has another size.
    pub(super) fn variants(
        &mut self,
        basic: Basic,
        is_int: bool,
        variants: &[Variant],
    ) -> Result<Option<Vec<(String, u128)>>, NoData> {
        let (mut next, mut span) = (Some(0_i128), 0..0);
        let mut all = Vec::new();
        let mut errors = Errors::default();
        for variant in variants {
            if let Some((_, value)) = &variant.discriminant {
                span = range(value.span());
                next = self.constant(value).ok().flatten();
            }
            if is_int && next.is_none() {
                let problem = Problem::new("the value of this variant is unknown", span, "");
                let help = "write the number, or the integer that the enum is: `#[repr(i32)]`";
                return Err(problem.help(help).into());
            }
            if is_int && next.is_some_and(|value| i32::try_from(value).is_err()) {
                let message =
                    "the values of this enum do not fit C's `int`, so its size is not fixed";
                let problem = Problem::new(message, span, "out of range from here on");
                return Err(problem.help("add the integer that it is: `#[repr(i64)]`").into());
            }
            let rename = rename(&variant.attrs, &mut errors).map(|name| name.value());
            let is_there = condition(&variant.attrs).is_ok();
            let value = next.filter(|_| is_there).map(|value| {
                let unused = 128 - 8 * u32::try_from(basic.size()).unwrap_or(16);
                value.cast_unsigned() << unused >> unused
            });
            all.push(value.map(|bits| (rename.unwrap_or_else(|| name_of(&variant.ident)), bits)));
            next = next.and_then(|value| value.checked_add(1));
        }
        checked(errors).map_err(NoData::Wrong)?;
        Ok(all.into_iter().collect())
    }
}

fn not_a_length(span: Range<usize>) -> Box<Problem> {
    let help = "a length is an integer, a constant of the text, or a sum or a product of these";
    Box::new(Problem::new("this is not a length", span, "unexpected").help(help))
}

/// Whether a type of integers has this value.
fn fits(value: i128, ty: &syn::TypePath) -> bool {
    let Some(name) = ty.path.get_ident().map(name_of) else { return false };
    let bits = match name.get(1..) {
        Some("size") => usize::BITS,
        Some(bits) => bits.parse().unwrap_or(0),
        None => 0,
    };
    match (name.chars().next(), bits) {
        (Some('u'), 8..=64) => value >= 0 && value >> bits == 0,
        (Some('i'), 8..=64) => value >= -(1 << (bits - 1)) && value < 1 << (bits - 1),
        (Some('u'), 128) => value >= 0,
        (Some('i'), 128) => true,
        _ => false,
    }
}
