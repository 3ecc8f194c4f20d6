//! Arrays of integers in as few bytes as the greatest of them needs: the arguments of a call, which a type keeps
//! for its lifetime.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

/// What is kept: an integer of 64 bits.
pub(crate) trait Integer: Copy + Ord {
    const IS_SIGNED: bool;

    fn from_bits(bits: i64) -> Self;
    fn bits(self) -> i64;
}

impl Integer for i64 {
    const IS_SIGNED: bool = true;

    fn from_bits(bits: i64) -> Self {
        bits
    }

    fn bits(self) -> i64 {
        self
    }
}

impl Integer for u64 {
    const IS_SIGNED: bool = false;

    fn from_bits(bits: i64) -> Self {
        bits.cast_unsigned()
    }

    fn bits(self) -> i64 {
        self.cast_signed()
    }
}

/// An array of integers.
#[derive(Clone, Debug)]
pub(crate) struct Integers<T> {
    array: Array,
    of: PhantomData<T>,
}

#[derive(Clone, Debug)]
enum Array {
    U8(Numbers<u8, 22>),
    U16(Numbers<u16, 11>),
    I32(Numbers<i32, 5>),
    I64(Numbers<i64, 2>),
}

/// Up to `FEW` numbers in place, more of them on the heap.
#[derive(Clone, Debug)]
enum Numbers<N, const FEW: usize> {
    /// The numbers, followed by unused ones, and how many they are.
    Few([N; FEW], u8),
    Many(Box<[N]>),
}

impl<N: Copy + Default, const FEW: usize> Numbers<N, FEW> {
    /// `len` zeros.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 256")]
    fn zeros(len: usize) -> Self {
        if len > FEW {
            Self::Many(alloc::vec![N::default(); len].into())
        } else {
            Self::Few([N::default(); FEW], len as u8)
        }
    }
}

impl<N, const FEW: usize> Deref for Numbers<N, FEW> {
    type Target = [N];

    #[inline(always)]
    fn deref(&self) -> &[N] {
        match self {
            Self::Few(numbers, number) => numbers.get(..usize::from(*number)).unwrap_or(&[]),
            Self::Many(numbers) => numbers,
        }
    }
}

impl<N, const FEW: usize> DerefMut for Numbers<N, FEW> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [N] {
        match self {
            Self::Few(numbers, number) => {
                numbers.get_mut(..usize::from(*number)).unwrap_or(&mut [])
            }
            Self::Many(numbers) => numbers,
        }
    }
}

impl<T: Integer> Integers<T> {
    /// No integers.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { array: Array::U8(Numbers::Few([0; 22], 0)), of: PhantomData }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.array {
            Array::U8(all) => all.len(),
            Array::U16(all) => all.len(),
            Array::I32(all) => all.len(),
            Array::I64(all) => all.len(),
        }
    }

    pub(crate) fn get(&self, index: usize) -> T {
        T::from_bits(match &self.array {
            Array::U8(all) => all[index].into(),
            Array::U16(all) => all[index].into(),
            Array::I32(all) => all[index].into(),
            Array::I64(all) => all[index],
        })
    }

    /// The least and the greatest.
    pub(crate) fn range(&self) -> Option<(T, T)> {
        let of_bits = |(least, greatest)| (T::from_bits(least), T::from_bits(greatest));
        match &self.array {
            Array::U8(all) => range(all).map(|(least, most)| of_bits((least.into(), most.into()))),
            Array::U16(all) => range(all).map(|(least, most)| of_bits((least.into(), most.into()))),
            Array::I32(all) if T::IS_SIGNED => {
                range(all).map(|(least, most)| of_bits((least.into(), most.into())))
            }
            Array::I64(all) if T::IS_SIGNED => range(all).map(of_bits),
            // The numbers above 63 bits come after the others.
            Array::I32(_) | Array::I64(_) => {
                let mut all = self.iter();
                let first = all.next()?;
                Some(all.fold((first, first), |(least, greatest), value| {
                    (least.min(value), greatest.max(value))
                }))
            }
        }
    }

    /// Calls a function with each of these integers and the integer of another array that has the same index.
    pub(crate) fn each_with<U: Integer>(&self, others: &Integers<U>, mut with: impl FnMut(T, U)) {
        const AT_ONCE: usize = 64;
        let (mut these, mut those) = ([T::from_bits(0); AT_ONCE], [U::from_bits(0); AT_ONCE]);
        for from in (0..self.len()).step_by(AT_ONCE) {
            let number = self.read(from, &mut these).min(others.read(from, &mut those));
            for (this, that) in these.iter().zip(&those).take(number) {
                with(*this, *that);
            }
        }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = T> + Clone {
        (0..self.len()).map(|index| self.get(index))
    }

    pub(crate) fn to_vec(&self) -> Vec<T> {
        self.iter().collect()
    }

    /// Replaces the integers by others.
    ///
    /// They are written in place, as the processor cannot move several small numbers as one large one before they have left
    /// the store buffer: a function that returned them would take twice as long.
    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seen to fit")]
    pub(crate) fn set(&mut self, values: &[T]) {
        fn fill<N, T: Copy>(numbers: &mut [N], values: &[T], convert: impl Fn(T) -> N) {
            for (number, value) in numbers.iter_mut().zip(values) {
                *number = convert(*value);
            }
        }
        // All bits that occur in the values, and in their distances from the least value of 32 bits. The distance of a value
        // below that wraps to a large one.
        let (mut bits, mut above) = (0, 0);
        for value in values {
            bits |= value.bits();
            above |= value.bits().wrapping_sub(i32::MIN.into());
        }
        let len = values.len();
        self.array = if u8::try_from(bits).is_ok() {
            Array::U8(Numbers::zeros(len))
        } else if u16::try_from(bits).is_ok() {
            Array::U16(Numbers::zeros(len))
        } else if u32::try_from(above).is_ok() {
            Array::I32(Numbers::zeros(len))
        } else {
            Array::I64(Numbers::zeros(len))
        };
        match &mut self.array {
            Array::U8(all) => fill(all, values, |value| value.bits() as u8),
            Array::U16(all) => fill(all, values, |value| value.bits() as u16),
            Array::I32(all) => fill(all, values, |value| value.bits() as i32),
            Array::I64(all) => fill(all, values, T::bits),
        }
    }

    /// Copies integers from index `from` on to the front of `out`, and returns the number copied.
    pub(crate) fn read(&self, from: usize, out: &mut [T]) -> usize {
        fn copy<N: Copy + Into<i64>, T: Integer>(all: &[N], from: usize, out: &mut [T]) -> usize {
            let rest = all.get(from..).unwrap_or(&[]);
            for (out, value) in out.iter_mut().zip(rest) {
                *out = T::from_bits((*value).into());
            }
            rest.len().min(out.len())
        }
        match &self.array {
            Array::U8(all) => copy(all, from, out),
            Array::U16(all) => copy(all, from, out),
            Array::I32(all) => copy(all, from, out),
            Array::I64(all) => copy(all, from, out),
        }
    }
}

/// The least and the greatest of some numbers.
#[inline(always)]
pub(super) fn range<N: Copy + Ord>(all: &[N]) -> Option<(N, N)> {
    let first = *all.first()?;
    Some(
        all.iter().fold((first, first), |(least, greatest), value| {
            (least.min(*value), greatest.max(*value))
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back_and_take_no_more_than_they_need() {
        fn kept<T: Integer + PartialEq + core::fmt::Debug>(values: &[T]) -> usize {
            let mut integers = Integers::new();
            integers.set(values);
            assert_eq!(integers.to_vec(), values);
            let mut out = [T::from_bits(77); 3];
            assert_eq!(integers.read(1, &mut out), values.len().saturating_sub(1).min(3));
            assert!(out.iter().zip(values.iter().skip(1)).all(|(a, b)| a == b));
            assert_eq!(integers.read(values.len() + 1, &mut out), 0);
            match integers.array {
                Array::U8(_) => 1,
                Array::U16(_) => 2,
                Array::I32(_) => 4,
                Array::I64(_) => 8,
            }
        }
        let (least, greatest) = (i64::from(i32::MIN), i64::from(i32::MAX));
        assert_eq!(kept::<i64>(&[]), 1);
        assert_eq!(kept(&[0_i64, 255, 3]), 1);
        assert_eq!(kept(&[0_i64, 256, 3, 5, 9]), 2);
        assert_eq!(kept(&[0_i64, -1]), 4);
        assert_eq!(kept(&[0_i64, 65_536]), 4);
        assert_eq!(kept(&[least, greatest]), 4);
        assert_eq!(kept(&[0, greatest + 1]), 8);
        assert_eq!(kept(&[least - 1]), 8);
        assert_eq!(kept(&[i64::MIN, i64::MAX]), 8);
        assert_eq!(kept(&[255_u64, 7]), 1);
        assert_eq!(kept(&[65_535_u64]), 2);
        assert_eq!(kept(&[u64::MAX, 0]), 4);
        assert_eq!(kept(&[u64::MAX - (1 << 33), 0]), 8);
        // More of them than fit in place.
        assert_eq!(kept(&[7_u64; 30]), 1);
        assert_eq!(kept(&[300_u64; 30]), 2);
        assert_eq!(kept(&[-1_i64; 30]), 4);
        assert_eq!(kept(&[i64::MIN; 30]), 8);
    }
}
