//! The values of an enum's variants in Rust.

use proc_macro2::TokenTree;

use super::Reader;
use super::representation::Representation;
use super::tokens::is_sign;
use crate::problem::Problem;

impl Reader<'_, '_> {
    /// Checks that the variants of an enum with `#[repr(C)]` alone fit C's `int`: with other values it has another size.
    pub(super) fn values_of_int(
        &mut self,
        representation: &Representation,
        values: &[Option<Vec<TokenTree>>],
    ) -> Result<(), Box<Problem>> {
        if representation.has_integer() || !representation.is_c {
            return Ok(());
        }
        let (mut next, mut span) = (0_i128, 0..0);
        for value in values {
            if let Some(tokens) = value {
                span = self.span(tokens);
                let is_negative = is_sign(tokens.first(), '-');
                let digits = if is_negative { &tokens[1..] } else { tokens };
                let found = self.constant(digits, &span).ok().flatten();
                let Some(found) = found
                    .and_then(|value| if is_negative { value.checked_neg() } else { Some(value) })
                else {
                    let problem = Problem::new("the value of this variant is unknown", span, "");
                    let help = "write the number, or the integer that the enum is: `#[repr(i32)]`";
                    return Err(Box::new(problem.help(help)));
                };
                next = found;
            }
            if i32::try_from(next).is_err() {
                let message =
                    "the values of this enum do not fit C's `int`, so its size is not fixed";
                let problem = Problem::new(message, span, "out of range from here on");
                return Err(Box::new(problem.help("add the integer that it is: `#[repr(i64)]`")));
            }
            next += 1;
        }
        Ok(())
    }
}
