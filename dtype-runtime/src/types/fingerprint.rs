//! The fingerprint of a type's signature.

use super::{Constructor, Type};
use crate::signature::Fingerprint;

impl Type {
    /// The fingerprint of the type signature. The first call takes time linear in the number of parts (shared parts count
    /// once); later calls take constant time.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let [value, power] = &self.0.fingerprint;
        let value = value.get_or(|| self.work_out_fingerprint().parts().0);
        let power = power.get_or(|| self.work_out_fingerprint().parts().1);
        Fingerprint::from_parts(value, power, self.elements())
    }

    fn work_out_fingerprint(&self) -> Fingerprint {
        match self.constructor() {
            Constructor::Basic(basic) | Constructor::Fortran { basic, .. } => {
                Fingerprint::leaf(basic.canonical().code())
            }
            Constructor::Structure { members } => {
                members.iter().fold(Fingerprint::EMPTY, |all, member| {
                    all.then(member.ty.fingerprint().repeated(member.blocklength))
                })
            }
            Constructor::Pair { built, .. } => built.fingerprint(),
            // A marker has no parts.
            other => other.part(0).map_or(Fingerprint::EMPTY, |old| {
                let copies = self.elements().checked_div(old.elements());
                old.fingerprint().repeated(copies.unwrap_or(0))
            }),
        }
    }
}
