//! Extreme arguments in every constructor, and then every call on the resulting type. No call panics or runs forever.

use dtype_runtime::Buffer;
use dtype_runtime::BufferMut;
use dtype_runtime::types::BoundsRule;
use dtype_test_support::cases::cases;
use dtype_test_support::extreme::{counts, types};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(4000, 10),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_panics(
        ty in types(),
        count in prop_oneof![0..4_usize, Just(usize::MAX), Just(1_usize << 40)],
        origin in prop_oneof![0..100_usize, Just(usize::MAX), Just(1_usize << 63)],
        number in counts(),
    ) {
        let Ok(ty) = ty else { return Ok(()) };
        prop_assert_eq!(ty.ub().checked_sub(ty.lb()), Some(ty.extent()));
        prop_assert!(ty.true_extent() >= 0);
        let committed = ty.commit();
        let _ = (ty.flags(), format!("{ty:?} {:?}", ty.signature()));
        let _ = (ty.is_monotonic(), ty.exceeds_extent());
        let _ = (ty.element_count(number), ty.instance_count(number), ty.element_bytes(number));
        let _ = ty.type_map().take(100).count();
        let _ = format!("{:?}", committed.optimized_description());
        for description in [ty.description(), committed.optimized_description()] {
            let _ = description.stack(number, number / 2);
        }
        if let Ok(contents) = ty.contents() {
            let again = contents.rebuild();
            prop_assert_eq!(again.map(|again| again.size()), Ok(ty.size()));
        }
        if let Ok(mpich) = ty.with_bounds_rule(BoundsRule::Mpich) {
            prop_assert_eq!(mpich.ub().checked_sub(mpich.lb()), Some(mpich.extent()));
            prop_assert_eq!(mpich.signature(), ty.signature());
            let again = mpich.with_bounds_rule(BoundsRule::Literal).unwrap();
            prop_assert_eq!((again.lb(), again.ub()), (ty.lb(), ty.ub()));
            let _ = mpich.commit().pack(Buffer::new(&[1; 100]).origin(origin as i64), count, &mut [0; 200]);
        }
        // Memory of a hundred bytes: data outside of it are refused.
        let (mut memory, mut packed) = (vec![1; 100], vec![2; 200]);
        let _ = committed.pack(Buffer::new(&memory).origin(origin as i64), count, &mut packed);
        if let Ok(size) = committed.packed_size(count)
            && size <= packed.len()
        {
            let _ = committed.unpack(&packed[..size], BufferMut::new(&mut memory).origin(origin as i64), count);
        }
    }
}
