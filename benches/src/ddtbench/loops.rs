//! Loops that several applications have in common.

use std::marker::PhantomData;

use super::{ByHand, Element};

/// Rows of one length, in planes.
#[derive(Clone, Debug)]
pub(super) struct Rows<E> {
    pub(super) base: usize,
    pub(super) planes: usize,
    /// Elements from one plane to the next.
    pub(super) plane: usize,
    pub(super) count: usize,
    /// Elements from one row to the next.
    pub(super) row: usize,
    /// Elements of a row that are packed.
    pub(super) length: usize,
    pub(super) element: PhantomData<E>,
}

impl<E: Element> ByHand for Rows<E> {
    type Element = E;

    fn pack(&self, memory: &[E], out: &mut [E]) {
        let mut out = out.chunks_exact_mut(self.length);
        for plane in 0..self.planes {
            let rows = memory[self.base + plane * self.plane..].chunks(self.row);
            for (row, out) in rows.take(self.count).zip(&mut out) {
                out.copy_from_slice(&row[..self.length]);
            }
        }
    }

    fn unpack(&self, packed: &[E], memory: &mut [E]) {
        let mut packed = packed.chunks_exact(self.length);
        for plane in 0..self.planes {
            let rows = memory[self.base + plane * self.plane..].chunks_mut(self.row);
            for (row, packed) in rows.take(self.count).zip(&mut packed) {
                row[..self.length].copy_from_slice(packed);
            }
        }
    }
}

/// Rows of a length known at compile time, one after another.
#[derive(Clone, Debug)]
pub(super) struct ShortRows<E, const LENGTH: usize> {
    pub(super) base: usize,
    /// Elements from one row to the next.
    pub(super) row: usize,
    pub(super) element: PhantomData<E>,
}

impl<E: Element, const LENGTH: usize> ByHand for ShortRows<E, LENGTH> {
    type Element = E;

    fn pack(&self, memory: &[E], out: &mut [E]) {
        let rows = memory[self.base..].chunks(self.row);
        for (row, out) in rows.zip(out.chunks_exact_mut(LENGTH)) {
            out.copy_from_slice(&row[..LENGTH]);
        }
    }

    fn unpack(&self, packed: &[E], memory: &mut [E]) {
        let rows = memory[self.base..].chunks_mut(self.row);
        for (row, packed) in rows.zip(packed.chunks_exact(LENGTH)) {
            row[..LENGTH].copy_from_slice(packed);
        }
    }
}

/// Single elements at one stride, in planes.
#[derive(Clone, Debug)]
pub(super) struct Strided<E> {
    pub(super) base: usize,
    pub(super) planes: usize,
    /// Elements from one plane to the next.
    pub(super) plane: usize,
    pub(super) count: usize,
    pub(super) stride: usize,
    pub(super) element: PhantomData<E>,
}

impl<E: Element> ByHand for Strided<E> {
    type Element = E;

    fn pack(&self, memory: &[E], out: &mut [E]) {
        for (plane, out) in out.chunks_exact_mut(self.count).take(self.planes).enumerate() {
            let from = memory[self.base + plane * self.plane..].iter().step_by(self.stride);
            for (out, &from) in out.iter_mut().zip(from) {
                *out = from;
            }
        }
    }

    fn unpack(&self, packed: &[E], memory: &mut [E]) {
        for (plane, packed) in packed.chunks_exact(self.count).take(self.planes).enumerate() {
            let to = memory[self.base + plane * self.plane..].iter_mut().step_by(self.stride);
            for (to, &packed) in to.zip(packed) {
                *to = packed;
            }
        }
    }
}

/// Points of a fixed number of elements each, at the indices in a list.
#[derive(Clone, Debug)]
pub(super) struct Listed<E, const EACH: usize> {
    /// The element from which the list counts.
    pub(super) base: usize,
    pub(super) list: Vec<u32>,
    pub(super) element: PhantomData<E>,
}

impl<E: Element, const EACH: usize> ByHand for Listed<E, EACH> {
    type Element = E;

    fn pack(&self, memory: &[E], out: &mut [E]) {
        let memory = &memory[self.base..];
        for (out, &place) in out.chunks_exact_mut(EACH).zip(&self.list) {
            let at = EACH * place as usize;
            out.copy_from_slice(&memory[at..at + EACH]);
        }
    }

    fn unpack(&self, packed: &[E], memory: &mut [E]) {
        let memory = &mut memory[self.base..];
        for (packed, &place) in packed.chunks_exact(EACH).zip(&self.list) {
            let at = EACH * place as usize;
            memory[at..at + EACH].copy_from_slice(packed);
        }
    }
}

/// Several parts of different kinds, one after another.
macro_rules! sequence {
    ($($name:ident: $number:tt),*) => {
        impl<E: Element, $($name: ByHand<Element = E>),*> ByHand for ($(Part<$name>,)*) {
            type Element = E;

            fn pack(&self, memory: &[E], out: &mut [E]) {
                let mut rest = out;
                $(
                    let (out, other) = rest.split_at_mut(self.$number.elements);
                    self.$number.by_hand.pack(memory, out);
                    rest = other;
                )*
                debug_assert!(rest.is_empty());
            }

            fn unpack(&self, packed: &[E], memory: &mut [E]) {
                let mut rest = packed;
                $(
                    let (packed, other) = rest.split_at(self.$number.elements);
                    self.$number.by_hand.unpack(packed, memory);
                    rest = other;
                )*
                debug_assert!(rest.is_empty());
            }
        }
    };
}

sequence!(A: 0, B: 1);
sequence!(A: 0, B: 1, C: 2, D: 3);
sequence!(A: 0, B: 1, C: 2, D: 3, F: 4, G: 5);

/// A part of a sequence, and the number of elements it packs.
#[derive(Clone, Debug)]
pub(super) struct Part<H> {
    pub(super) elements: usize,
    pub(super) by_hand: H,
}

/// Parts of the same kind, one after another.
impl<H: ByHand> ByHand for Vec<Part<H>> {
    type Element = H::Element;

    fn pack(&self, memory: &[H::Element], out: &mut [H::Element]) {
        let mut rest = out;
        for part in self {
            let (out, other) = rest.split_at_mut(part.elements);
            part.by_hand.pack(memory, out);
            rest = other;
        }
    }

    fn unpack(&self, packed: &[H::Element], memory: &mut [H::Element]) {
        let mut rest = packed;
        for part in self {
            let (packed, other) = rest.split_at(part.elements);
            part.by_hand.unpack(packed, memory);
            rest = other;
        }
    }
}
