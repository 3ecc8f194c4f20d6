//! The structs that the benches pack, each with the loop that a person would write for it, and the code that prints
//! the benches' figures.
//!
//! A hand-written loop copies field by field, in chunks of the record's packed size, so that the compiler knows
//! every length and removes every bounds check. The tests check that it does the same work as the library.

#![forbid(unsafe_code)]

pub mod checked;
pub mod ddtbench;
pub mod figures;
pub mod forms;
pub mod machine;
pub mod noise;
pub mod peer;
pub mod placed;
pub mod shape;
pub mod tables;
pub mod turns;

pub use shape::Shape;

shapes! {}

#[cfg(test)]
mod tests {
    use super::*;

    fn same_work<S: Shape>() {
        for count in [0, 1, 2, 17] {
            let items: Vec<S> = (0..count).map(S::sample).collect();
            let packed = dtype_runtime::pack(&items);
            let mut by_hand = vec![0; packed.len()];
            S::pack_by_hand(&items, &mut by_hand);
            assert_eq!(packed, by_hand, "{}", S::NAME);
            let mut back = vec![S::sample(99); count];
            S::unpack_by_hand(&by_hand, &mut back);
            assert_eq!(back, items, "{}", S::NAME);
        }
        assert_ne!(S::sample(1), S::sample(2));
    }

    #[test]
    fn the_loops_do_the_same_work_as_the_library() {
        same_work::<Tail>();
        same_work::<Hole>();
        same_work::<Small>();
        same_work::<Body>();
        same_work::<Mixed>();
        same_work::<Scattered>();
        same_work::<Nested>();
        same_work::<forms::Wide>();
        same_work::<forms::Widest>();
        same_work::<forms::Small12>();
        same_work::<forms::Dense>();
        same_work::<forms::Partial>();
    }
}
