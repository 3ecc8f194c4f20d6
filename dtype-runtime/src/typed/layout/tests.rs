//! What is chosen for slices is what is executed.

use alloc::vec;

use super::random::for_random;
use super::*;
use crate::kernel::tests::{Trace, recorded};
use crate::plan::choose::PerBlock;
use crate::plan::choose::tests::moves_of;

/// Compares the moves that copy `count` values with what is chosen for them. Returns what was chosen.
fn check<T: Datatype>(count: usize) -> &'static str {
    let size = T::TYPE_MAP.size();
    let (mut memory, mut packed) = (vec![1_u8; count * size_of::<T>()], vec![0_u8; count * size]);
    let (memory, to) = (memory.as_mut_ptr(), packed.as_mut_ptr());
    // SAFETY: the memory has the bytes of the values, and there is room for the packed ones.
    let moves = recorded(memory, || unsafe { Layout::<T>::values::<Trace>(memory, to, count) });
    assert!(packed.iter().all(|byte| *byte == 1), "each byte is packed");
    let lengths = || moves.iter().map(|(_, len)| *len);
    let map = T::TYPE_MAP;
    match Layout::<T>::kernel(count, &mut None) {
        Kernel::Nothing => assert!(lengths().sum::<u64>() == 0 && packed.is_empty(), "{map}"),
        Kernel::Permutation(_) => assert!(moves.is_empty(), "{map} {count}"),
        // The last records may be copied by moves.
        Kernel::Shuffle(_) => assert!(lengths().sum::<u64>() < packed.len() as u64, "{map}"),
        Kernel::Copy => assert!(lengths().sum::<u64>() >= packed.len() as u64, "{map}"),
        // By code that all types share.
        Kernel::Strided(PerBlock::Long) => return "strided",
        Kernel::Strided(per) => assert!(lengths().eq(moves_of(per).repeat(count)), "{map}"),
        Kernel::Walk => {
            assert!(lengths().sum::<u64>() >= packed.len() as u64, "{map}");
            return "walked";
        }
        other => panic!("{map}: {other:?}"),
    }
    "checked"
}

#[test]
fn slices_are_copied_as_chosen() {
    for count in [0, 1, 2, 3, 7, 16, 40, 100, 1000] {
        for_random!(|T| _ = check::<T>(count));
    }
    let long = if matches!(selected(), crate::isa::Isa::Avx512) { "strided" } else { "checked" };
    assert_eq!(check::<([u64; 9], u8)>(100), long);
    assert_eq!(check::<[(u8, u16); 80]>(100), "walked");
}
