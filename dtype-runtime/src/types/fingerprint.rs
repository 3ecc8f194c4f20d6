//! The fingerprint of a type's signature, computed on first use, because neither making nor packing a type needs it.

use core::sync::atomic::{AtomicU64, Ordering};

use super::{Constructor, Type};
use crate::signature::Fingerprint;

/// A fingerprint that is not known at first. Threads that race compute the same value.
pub(super) struct LazyFingerprint {
    /// `UNKNOWN` until both are known.
    value: AtomicU64,
    power: AtomicU64,
}

/// No element of the field.
const UNKNOWN: u64 = u64::MAX;

impl LazyFingerprint {
    pub(super) const fn new() -> Self {
        Self { value: AtomicU64::new(UNKNOWN), power: AtomicU64::new(UNKNOWN) }
    }

    fn get(&self, elements: u64) -> Option<Fingerprint> {
        let value = self.value.load(Ordering::Acquire);
        let power = self.power.load(Ordering::Relaxed);
        (value != UNKNOWN).then(|| Fingerprint::from_parts(value, power, elements))
    }

    fn set(&self, fingerprint: Fingerprint) {
        let (value, power) = fingerprint.parts();
        self.power.store(power, Ordering::Relaxed);
        self.value.store(value, Ordering::Release);
    }
}

impl Clone for LazyFingerprint {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Type {
    /// The fingerprint of the type signature. The first call takes time linear in the number of parts, shared ones
    /// counted once; later calls take constant time.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        if let Some(known) = self.0.fingerprint.get(self.elements()) {
            return known;
        }
        let fingerprint = self.work_out_fingerprint();
        self.0.fingerprint.set(fingerprint);
        fingerprint
    }

    fn work_out_fingerprint(&self) -> Fingerprint {
        match self.constructor() {
            Constructor::Basic(basic) | Constructor::Fortran { basic, .. } => {
                Fingerprint::of(basic.canonical().code())
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
