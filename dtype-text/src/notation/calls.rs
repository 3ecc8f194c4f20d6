//! The constructors of the notation: those in the library's table of calls, and one that selects MPICH's rules for
//! bounds.

use dtype_runtime::types::call::{ArgumentKind, Call, Parameter};
use dtype_runtime::types::{self, Combiner};
use dtype_runtime::{BoundsRule, Error, Type};

/// An argument, in the form that its parameter takes.
pub(super) type Argument = types::Argument<'static, Type>;

/// The meaning of a call in the notation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Constructor {
    /// A constructor of the library.
    Call(Combiner),
    /// The type with the bounds of MPICH's rules.
    MpichBounds,
}

/// The names that are not in the table of calls.
const OTHER_NAMES: &[(&str, Constructor)] = &[
    ("struct", Constructor::Call(Combiner::Structure)),
    ("mpich_bounds", Constructor::MpichBounds),
];

/// All names with their meanings.
fn all() -> impl Iterator<Item = (&'static str, Constructor)> {
    let named =
        |&combiner: &Combiner| Some((combiner.signature()?.name, Constructor::Call(combiner)));
    Combiner::ALL.iter().filter_map(named).chain(OTHER_NAMES.iter().copied())
}

/// The names of the constructors.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|(name, _)| name)
}

/// The expected kind of argument, in the words of a message.
pub(super) fn expected(kind: ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Length(_)
        | ArgumentKind::Count(_)
        | ArgumentKind::Offset(_)
        | ArgumentKind::Range => "a number",
        ArgumentKind::Counts(_) | ArgumentKind::Offsets(_) => "a list of numbers",
        ArgumentKind::Type => "a type",
        ArgumentKind::Types => "a list of types",
        ArgumentKind::Order => "`C` or `fortran`",
        ArgumentKind::Distributions => {
            "a list of `none`, `block`, `block(n)`, `cyclic` and `cyclic(n)`"
        }
        ArgumentKind::Digits => "a number or `undefined`",
    }
}

impl Constructor {
    pub(super) fn find(name: &str) -> Option<Self> {
        all().find(|(known, _)| *known == name).map(|(_, constructor)| constructor)
    }

    /// The parameters, in the order of MPI's call. Lists have lengths, so there are no parameters for lengths.
    pub(super) fn parameters(self) -> Vec<Parameter> {
        let combiner = match self {
            Self::Call(combiner) => combiner,
            // The parameter is a type, as for `Dup`.
            Self::MpichBounds => Combiner::Dup,
        };
        let all = combiner.signature().map_or(&[][..], |signature| signature.parameters);
        all.iter()
            .filter(|parameter| !matches!(parameter.kind, ArgumentKind::Length(_)))
            .copied()
            .collect()
    }

    /// Makes the call.
    pub(super) fn call(self, arguments: Vec<Argument>) -> Result<Type, Error> {
        match self {
            Self::Call(combiner) => Call { combiner, arguments }.make(),
            Self::MpichBounds => {
                let same = Call { combiner: Combiner::Dup, arguments };
                match same.types().next() {
                    Some(ty) => ty.with_bounds_rule(BoundsRule::Mpich),
                    // `make` returns the error for the missing call.
                    None => same.make(),
                }
            }
        }
    }
}
