//! The switch between the rules for bounds.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Bounds, Constructor, Inner, Member, Type, array};
use crate::error::Error;

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
    /// same calls have there. Calls on a type of 6 % of random types differ in their extent between the
    /// libraries; types without markers and padding never do.
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
        Remake { rules, made: BTreeMap::new() }.remake(self)
    }
}

/// Whether the members of a structure, markers aside, are not all of one type.
pub(super) fn are_mixed(types: &[Type], are_equal: fn(&Type, &Type) -> bool) -> bool {
    let mut members = types
        .iter()
        .filter(|ty| !matches!(ty.constructor(), Constructor::LbMarker | Constructor::UbMarker));
    members.next().is_some_and(|first| members.any(|other| !first.passes_for(other, are_equal)))
}

impl Type {
    /// Whether MPICH takes this type and `other` for the same, perhaps by way of `dup`. It compares handles;
    /// here, where a type is a value, equal ones are one, as if each had been made once and used repeatedly.
    fn passes_for(&self, other: &Self, are_equal: fn(&Self, &Self) -> bool) -> bool {
        let (ours, theirs) = (self.original(), other.original());
        match (ours.constructor(), theirs.constructor()) {
            (Constructor::Basic(ours), Constructor::Basic(theirs)) => ours == theirs,
            _ => are_equal(ours, theirs),
        }
    }

    /// What this type is a `dup` of, at any number of removes.
    fn original(&self) -> &Self {
        let mut ty = self;
        while let Constructor::Dup { old } = ty.constructor() {
            ty = old;
        }
        ty
    }
}

/// Makes types again.
struct Remake {
    rules: Bounds,
    /// By address what was made of each part. Parts are shared, and there can be exponentially more paths to
    /// them than parts.
    made: BTreeMap<*const (), Type>,
}

impl Remake {
    fn remake(&mut self, ty: &Type) -> Result<Type, Error> {
        // A type by the rules of a library may have parts by those of the standard, not the other way round.
        if (ty.0.rules, self.rules) == (Bounds::Literal, Bounds::Literal) {
            return Ok(ty.clone());
        }
        if let Some(made) = self.made.get(&ty.address()) {
            return Ok(made.clone());
        }
        let made = self.call(ty)?;
        self.made.insert(ty.address(), made.clone());
        Ok(made)
    }

    fn call(&mut self, ty: &Type) -> Result<Type, Error> {
        match ty.constructor() {
            // The bounds of predefined datatypes are the same by all rules.
            Constructor::Basic(_)
            | Constructor::LbMarker
            | Constructor::UbMarker
            | Constructor::Pair { .. }
            | Constructor::Fortran { .. } => {
                Ok(Type(Arc::new(Inner { rules: self.rules, ..(*ty.0).clone() })))
            }
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
                let array::Subarray { sizes, subsizes, starts, order } = &**arguments;
                Type::subarray(sizes, subsizes, starts, *order, &self.remake(old)?)
            }
            Constructor::Darray { arguments, old, .. } => {
                let array::Darray { size, rank, gsizes, distributions, psizes, order } =
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
        Type::structure(&blocklengths, &displacements, &types?)
    }
}
