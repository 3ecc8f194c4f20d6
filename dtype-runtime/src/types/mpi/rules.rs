//! Makes a type again under other rules for bounds: the standard's or MPICH's.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::nodes::{Table, same_address};
use crate::basic::{Basic, Kind};
use crate::error::Error;
use crate::shared::UninitShared;
use crate::types::blocks::Lengths;
use crate::types::parts::Parts;
use crate::types::{BoundsRule, Constructor, Inner, Member, Type};

impl Type {
    /// The rule by which the bounds were computed: [`BoundsRule::Literal`] unless the type, or one that it was built
    /// from, came from [`with_bounds_rule`](Self::with_bounds_rule).
    pub fn bounds_rule(&self) -> BoundsRule {
        self.0.rules
    }

    /// Makes this type again, with the bounds of all its parts by another rule. Types built from the result follow that rule,
    /// too. This holds even for a [basic](Self::basic) type, although its own bounds are the same by both rules. A type with
    /// parts of both kinds follows MPICH's rule.
    ///
    /// By [`BoundsRule::Mpich`], the type has the bounds that the same calls give in MPICH, and so the same displacements of
    /// its copies. One in ten random types has other bounds in MPICH; types without markers and padding never do.
    ///
    /// # Errors
    ///
    /// The errors of the constructors: displacements that fit by one rule may overflow by the other.
    ///
    /// ```
    /// use dtype_runtime::types::BoundsRule;
    /// use dtype_runtime::{Basic, Type};
    /// // A marker that sticks, and one that does not.
    /// let wide = Type::resized(&Type::basic(Basic::I32), -4, 16)?;
    /// let pair = Type::structure(&[1, 1], &[0, 8], &[wide, Type::basic(Basic::F64)])?;
    /// assert_eq!(pair.extent(), 16);
    /// assert_eq!(pair.with_bounds_rule(BoundsRule::Mpich)?.extent(), 24);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn with_bounds_rule(&self, rules: BoundsRule) -> Result<Self, Error> {
        let nodes = Table::new(&[self], false);
        Remake { rules, nodes, made: BTreeMap::new() }.remake(self)
    }

    /// Gives a type without parts this rule, for the types built from it. Its own bounds are the same by every rule.
    pub(super) fn by(&self, rules: BoundsRule) -> Self {
        match *self.constructor() {
            _ if self.0.rules == rules => self.clone(),
            Constructor::Pair { name, value, index, .. } => {
                Self::value_then_index(name, value, index, rules)
            }
            _ => Self(UninitShared::new().fill(Inner { rules, ..(*self.0).clone() })),
        }
    }
}

/// What a structure adds, by MPICH's rules, to the bounds of its copies: the markers among its members, of which the last one
/// counts; and, if the other members are not all of one type, padding and the bounds of members without data.
pub(in crate::types) fn structure(
    parts: &mut Parts,
    members: &[Member],
    are_equal: fn(&[&Type]) -> bool,
) {
    for member in members {
        match member.ty.constructor() {
            Constructor::LbMarker => parts.bounds.own.lb = Some(member.displacement),
            Constructor::UbMarker => parts.bounds.own.ub = Some(member.displacement),
            _ => {}
        }
    }
    let others = members.iter().filter(|member| !member.is_marker());
    // A single member is of one type.
    if parts.bounds.data.is_none() || others.clone().nth(1).is_none() {
        return;
    }
    let types: Vec<&Type> = others.clone().map(|member| member.ty.original()).collect();
    if are_one(&types, are_equal) {
        return;
    }
    parts.mixed = true;
    for Member { blocklength, displacement, ty } in others {
        if ty.size() == 0 && *blocklength > 0 {
            let last = i128::from(blocklength - 1) * i128::from(ty.extent());
            let displacement = i128::from(*displacement);
            let lb = displacement + i128::from(ty.lb()) + last.min(0);
            parts.bounds.stretch(lb, displacement + i128::from(ty.ub()) + last.max(0));
        }
    }
}

/// Whether MPICH treats all of these as one type. MPICH compares handles. Types here are values, so equal types count as one
/// handle that was used repeatedly.
fn are_one(types: &[&Type], are_equal: fn(&[&Type]) -> bool) -> bool {
    match types.first().and_then(|first| first.single()) {
        Some(first) => types
            .iter()
            .all(|other| other.single().is_some_and(|other| same_in_mpich(first, other))),
        None => are_equal(types),
    }
}

impl Type {
    /// The type that remains after calls without effect are removed.
    fn original(&self) -> &Self {
        let mut ty = self;
        while let Some(inner) = ty.without_call().or_else(|| ty.whole_array()) {
            ty = inner;
        }
        ty
    }

    /// The part of this type, if the call that made this type had no effect.
    fn without_call(&self) -> Option<&Self> {
        match self.constructor() {
            Constructor::Dup { old }
            | Constructor::Contiguous { count: 1, old }
            | Constructor::Vector { count: 1, blocklength: 1, old, .. } => Some(old),
            Constructor::Blocks { lengths, displacements, old, .. } => {
                let is_one = match lengths {
                    Lengths::Each(lengths) => **lengths == [1],
                    Lengths::Same(length) => *length == 1,
                };
                Some(old).filter(|_| is_one && **displacements == [0])
            }
            Constructor::Structure { members } => {
                let mut others = members.iter().filter(|member| !member.is_marker());
                match (others.next(), others.next()) {
                    // Markers have no effect where they repeat the bounds of the only other member.
                    (Some(Member { blocklength: 1, displacement: 0, ty }), None)
                        if (self.lb(), self.extent()) == (ty.lb(), ty.extent()) =>
                    {
                        Some(ty)
                    }
                    _ => None,
                }
            }
            Constructor::Resized { old } if (old.lb(), old.extent()) == self.resize() => Some(old),
            _ => None,
        }
    }

    /// The type of the only element, if this type is a whole array of one element with the element's bounds.
    fn whole_array(&self) -> Option<&Self> {
        let (built, old) = match self.constructor() {
            Constructor::Subarray { built, old, .. } => (built, old),
            Constructor::Darray { arguments, built, old } if !arguments.ends_in_shorter_block => {
                (built, old)
            }
            _ => return None,
        };
        if (built.lb(), built.extent()) != self.resize() {
            return None;
        }
        // One call for each dimension, and no further: the parts of `old` are visited once.
        let mut ty = built;
        while ty.as_ptr() != old.as_ptr() {
            ty = ty.without_call()?;
        }
        Some(old)
    }

    /// The basic datatype of a type that is a single value.
    fn single(&self) -> Option<Basic> {
        match self.constructor() {
            Constructor::Basic(basic) | Constructor::Fortran { basic, .. } => Some(*basic),
            _ => None,
        }
    }
}

/// Whether MPICH treats two basic datatypes as the same: by kind and width, with a truth value as an integer.
fn same_in_mpich(a: Basic, b: Basic) -> bool {
    let integer =
        |basic: Basic| matches!(basic.kind(), Kind::Integer | Kind::Unsigned | Kind::Logical);
    a.canonical() == b.canonical() || integer(a) && integer(b) && a.size() == b.size()
}

/// Makes types again.
struct Remake {
    rules: BoundsRule,
    /// The parts. Types share them, so there can be exponentially more paths to parts than parts.
    nodes: Table,
    /// The type made for each node. Parts that become equal get one type, so that comparing addresses tells whether two of them
    /// are equal.
    made: BTreeMap<u64, Type>,
}

impl Remake {
    fn remake(&mut self, ty: &Type) -> Result<Type, Error> {
        // A type under MPICH's rule may have parts under the standard's rule, but not the other way round.
        if (ty.0.rules, self.rules) == (BoundsRule::Literal, BoundsRule::Literal) {
            return Ok(ty.clone());
        }
        let number = self.nodes.number(ty);
        if let Some(made) = self.made.get(&number) {
            return Ok(made.clone());
        }
        let made = self.call(ty)?;
        self.made.insert(number, made.clone());
        Ok(made)
    }

    fn call(&mut self, ty: &Type) -> Result<Type, Error> {
        match ty.call() {
            Some(mut call) if !ty.constructor().has_no_parts() => {
                let parts = call.types().map(|part| self.remake(part));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                call.types_mut().zip(&parts).for_each(|(old, new)| *old = new);
                call.make_by(same_address)
            }
            _ => Ok(ty.by(self.rules)),
        }
    }
}
