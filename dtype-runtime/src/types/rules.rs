//! The switch between the rules for bounds.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::marshal::Table;
use super::parts::Parts;
use super::{Bounds, Constructor, Inner, Integers, Member, Type, array};
use crate::basic::{Basic, Kind};
use crate::error::Error;
use crate::shared::Shared;

impl Type {
    /// By which rules the bounds were found: [`Bounds::Literal`] unless the type, or one that it was built
    /// from, came from [`with_bounds`](Self::with_bounds).
    pub fn bounds(&self) -> Bounds {
        self.0.rules
    }

    /// This type made again, with the bounds of all its parts by other rules. What is built from it follows
    /// the same rules: a type that has parts of both kinds follows those that are not the standard's.
    ///
    /// With the rules of a library the type has the bounds, and therefore the places of its copies, that the
    /// same calls have there. Of random types a tenth have other bounds in MPICH; types without markers and
    /// padding never do.
    ///
    /// # Errors
    ///
    /// Those of the constructors: displacements that fit by one set of rules may overflow by the other.
    ///
    /// ```
    /// use dtype_runtime::types::Bounds;
    /// use dtype_runtime::{Basic, Type};
    /// // A marker that sticks, and one that does not.
    /// let wide = Type::resized(&Type::basic(Basic::I32), -4, 16)?;
    /// let pair = Type::structure(&[1, 1], &[0, 8], &[wide, Type::basic(Basic::F64)])?;
    /// assert_eq!(pair.extent(), 16);
    /// assert_eq!(pair.with_bounds(Bounds::Mpich)?.extent(), 24);
    /// # Ok::<(), dtype_runtime::Error>(())
    /// ```
    pub fn with_bounds(&self, rules: Bounds) -> Result<Self, Error> {
        let nodes = Table::by_calls(&[self]);
        Remake { rules, nodes, made: BTreeMap::new() }.remake(self)
    }

    /// This datatype, which is made of no others, for what is built from it to follow these rules. Its own
    /// bounds are the same by all of them.
    pub(super) fn by(&self, rules: Bounds) -> Self {
        Self(Shared::new(|| Inner { rules, ..(*self.0).clone() }))
    }
}

/// What a structure adds, by MPICH's rules, to the bounds of the copies that it is made of: the markers
/// among its members, of which the last one counts, and, if the other members are not all of one type,
/// padding and the places of members without data.
pub(super) fn structure(parts: &mut Parts, members: &[Member], are_equal: fn(&[&Type]) -> bool) {
    for member in members {
        match member.ty.constructor() {
            Constructor::LbMarker => parts.bounds.own.lb = Some(member.displacement),
            Constructor::UbMarker => parts.bounds.own.ub = Some(member.displacement),
            _ => {}
        }
    }
    let others = members.iter().filter(|member| {
        !matches!(member.ty.constructor(), Constructor::LbMarker | Constructor::UbMarker)
    });
    let types: Vec<&Type> = others.clone().map(|member| member.ty.original()).collect();
    if parts.bounds.data.is_none() || are_one(&types, are_equal) {
        return;
    }
    parts.mixed = true;
    for Member { blocklength, displacement, ty } in others {
        if ty.size() == 0 && *blocklength > 0 {
            let last = i128::from(blocklength - 1) * i128::from(ty.extent());
            let place = i128::from(*displacement);
            let lb = place + i128::from(ty.lb()) + last.min(0);
            parts.bounds.stretch(lb, place + i128::from(ty.ub()) + last.max(0));
        }
    }
}

/// Whether MPICH takes all of these for one type. It compares handles; here, where a type is a value, equal
/// ones are one, as if each had been made once and used repeatedly.
fn are_one(types: &[&Type], are_equal: fn(&[&Type]) -> bool) -> bool {
    match types.first().and_then(|first| first.single()) {
        Some(first) => types
            .iter()
            .all(|other| other.single().is_some_and(|other| same_in_mpich(first, other))),
        None => are_equal(types),
    }
}

/// Whether these are all equal, for parts of which no two that are equal have different addresses.
pub(super) fn same_address(types: &[&Type]) -> bool {
    types.windows(2).all(|pair| pair[0].address() == pair[1].address())
}

impl Type {
    /// What this type is when the calls that change nothing are taken away.
    fn original(&self) -> &Self {
        let mut ty = self;
        while let Some(inner) = ty.without_call().or_else(|| ty.whole_array()) {
            ty = inner;
        }
        ty
    }

    /// What this type is made of, if the call that made it changed nothing.
    fn without_call(&self) -> Option<&Self> {
        let one_at_0 = |places: &Integers<i64>| places.len() == 1 && places.iter().eq([0]);
        match self.constructor() {
            Constructor::Dup { old }
            | Constructor::Contiguous { count: 1, old }
            | Constructor::Vector { count: 1, blocklength: 1, old, .. }
            | Constructor::Hvector { count: 1, blocklength: 1, old, .. } => Some(old),
            Constructor::Indexed { blocklengths, displacements, old }
            | Constructor::Hindexed { blocklengths, displacements, old }
                if one_at_0(displacements) && blocklengths.iter().eq([1]) =>
            {
                Some(old)
            }
            Constructor::IndexedBlock { blocklength: 1, displacements, old }
            | Constructor::HindexedBlock { blocklength: 1, displacements, old }
                if one_at_0(displacements) =>
            {
                Some(old)
            }
            Constructor::Structure { members } => match &**members {
                [Member { blocklength: 1, displacement: 0, ty }] if ty.size() > 0 => Some(ty),
                _ => None,
            },
            Constructor::Resized { old } if (old.lb(), old.extent()) == self.resize() => Some(old),
            _ => None,
        }
    }

    /// What simpler constructors make of a part of an array, and the element's type.
    pub(crate) fn built_array(&self) -> Option<(Self, &Self)> {
        match self.constructor() {
            Constructor::Subarray { arguments, old } => Some((arguments.build(old).ok()?.0, old)),
            Constructor::Darray { arguments, old } => Some((arguments.nest.build(old).ok()?, old)),
            _ => None,
        }
    }

    /// What this type is the whole of, if it is an array of one element with the element's bounds.
    fn whole_array(&self) -> Option<&Self> {
        let (built, old) = self.built_array()?;
        let built = &built;
        if (built.lb(), built.extent()) != self.resize() {
            return None;
        }
        // A call for each dimension, and not further: what `old` is made of is looked at once.
        let mut ty = built;
        while ty.address() != old.address() {
            ty = ty.without_call()?;
        }
        Some(old)
    }

    /// The single value that this type is.
    fn single(&self) -> Option<Basic> {
        match self.constructor() {
            Constructor::Basic(basic) | Constructor::Fortran { basic, .. } => Some(*basic),
            _ => None,
        }
    }
}

/// MPICH knows a basic datatype by its kind and width, and takes a truth value for an integer.
fn same_in_mpich(a: Basic, b: Basic) -> bool {
    let integer =
        |basic: Basic| matches!(basic.kind(), Kind::Integer | Kind::Unsigned | Kind::Logical);
    a.canonical() == b.canonical() || integer(a) && integer(b) && a.size() == b.size()
}

/// Makes types again.
struct Remake {
    rules: Bounds,
    /// The parts. They are shared, and there can be exponentially more paths to them than parts.
    nodes: Table,
    /// What was made of each node: one type of all parts that are equal then, so that their addresses tell
    /// whether two of them are.
    made: BTreeMap<u64, Type>,
}

impl Remake {
    fn remake(&mut self, ty: &Type) -> Result<Type, Error> {
        // A type by the rules of a library may have parts by those of the standard, not the other way round.
        if (ty.0.rules, self.rules) == (Bounds::Literal, Bounds::Literal) {
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
        match ty.constructor() {
            Constructor::Basic(_)
            | Constructor::LbMarker
            | Constructor::UbMarker
            | Constructor::Pair { .. }
            | Constructor::Fortran { .. } => Ok(ty.by(self.rules)),
            Constructor::Dup { old } => Type::dup(&self.remake(old)?),
            Constructor::Contiguous { count, old } => Type::contiguous(*count, &self.remake(old)?),
            Constructor::Vector { count, blocklength, stride, old } => {
                Type::vector(*count, *blocklength, *stride, &self.remake(old)?)
            }
            Constructor::Hvector { count, blocklength, stride, old } => {
                Type::hvector(*count, *blocklength, *stride, &self.remake(old)?)
            }
            Constructor::Indexed { blocklengths, displacements, old } => {
                Type::indexed(&blocklengths.to_vec(), &displacements.to_vec(), &self.remake(old)?)
            }
            Constructor::Hindexed { blocklengths, displacements, old } => {
                Type::hindexed(&blocklengths.to_vec(), &displacements.to_vec(), &self.remake(old)?)
            }
            Constructor::IndexedBlock { blocklength, displacements, old } => {
                Type::indexed_block(*blocklength, &displacements.to_vec(), &self.remake(old)?)
            }
            Constructor::HindexedBlock { blocklength, displacements, old } => {
                Type::hindexed_block(*blocklength, &displacements.to_vec(), &self.remake(old)?)
            }
            Constructor::Structure { members } => self.structure(members),
            Constructor::Subarray { arguments, old, .. } => {
                let (sizes, subsizes) = (arguments.sizes(), arguments.subsizes());
                let old = &self.remake(old)?;
                Type::subarray(sizes, subsizes, arguments.starts(), arguments.order, old)
            }
            Constructor::Darray { arguments, old, .. } => {
                let array::Darray { size, rank, gsizes, distributions, psizes, order, .. } =
                    &**arguments;
                let old = &self.remake(old)?;
                Type::darray(*size, *rank, gsizes, distributions, psizes, *order, old)
            }
            Constructor::Resized { old } => {
                let (lb, extent) = ty.resize();
                Type::resized(&self.remake(old)?, lb, extent)
            }
        }
    }

    fn structure(&mut self, members: &[Member]) -> Result<Type, Error> {
        let blocklengths: Vec<u64> = members.iter().map(|member| member.blocklength).collect();
        let displacements: Vec<i64> = members.iter().map(|member| member.displacement).collect();
        let types: Result<Vec<Type>, Error> =
            members.iter().map(|member| self.remake(&member.ty)).collect();
        let made = Type::structure_by(&blocklengths, &displacements, &types?, same_address)?;
        Ok(if members.is_empty() { made.by(self.rules) } else { made })
    }
}
