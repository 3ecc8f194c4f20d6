//! Signatures of types: their lengths, their hashes, and how they are printed.

use std::hash::{BuildHasher, RandomState};

use dtype_runtime::types::Flags;
use dtype_runtime::{Basic, Error, Type};

fn basic(basic: Basic) -> Type {
    Type::basic(basic)
}

/// Alternating values of two types.
fn alternating(number: usize) -> Type {
    let types: Vec<Type> =
        (0..number).map(|i| basic(if i % 2 == 0 { Basic::U8 } else { Basic::F32 })).collect();
    let places: Vec<i64> = (0..number).map(|i| 4 * i64::try_from(i).unwrap()).collect();
    Type::structure(&vec![1; number], &places, &types).unwrap()
}

#[test]
fn a_signature_counts_the_basic_types() {
    let pairs = Type::vector(3, 2, 5, &alternating(2)).unwrap();
    let signature = pairs.signature();
    assert_eq!((signature.len(), signature.is_empty()), (12, false));
    assert_eq!(signature.hash(), pairs.signature_hash());
    for empty in [Type::lb_marker(), Type::contiguous(0, &pairs).unwrap()] {
        assert_eq!((empty.signature().len(), empty.signature().is_empty()), (0, true));
    }
    assert!(
        signature.runs().eq((0..12).map(|i| (if i % 2 == 0 { Basic::U8 } else { Basic::F32 }, 1)))
    );
}

#[test]
fn a_long_signature_is_cut_short_when_it_is_printed() {
    let shown = ["u8", "f32"].repeat(8).join(", ");
    assert_eq!(format!("{:?}", alternating(16).signature()), format!("{{{shown}}}"));
    assert_eq!(format!("{:?}", alternating(17).signature()), format!("{{{shown}, … 17 in all}}"));
}

#[test]
fn a_signature_from_elsewhere_is_compared() {
    let (ours, theirs) = (alternating(2), alternating(3));
    assert_eq!(ours.check_signature_hash(ours.signature_hash()), Ok(()));
    let (expected, actual) = (ours.signature_hash(), theirs.signature_hash());
    let refused = Err(Error::SignatureMismatch { expected, actual });
    assert_eq!(ours.check_signature_hash(actual), refused);
}

#[test]
fn types_of_another_signature_or_extent_have_another_hash() {
    let state = RandomState::new();
    let hash = |ty: &Type| state.hash_one(ty);
    let one = alternating(2);
    assert_eq!(hash(&one), hash(&alternating(2)));
    assert_ne!(hash(&one), hash(&alternating(3)));
    assert_ne!(hash(&one), hash(&Type::resized(&one, 0, 64).unwrap()));
}

#[test]
fn flags_are_printed_by_name() {
    assert_eq!(format!("{:?}", Flags::NONE), "NONE");
    assert_eq!(format!("{:?}", Flags::USER_UB | Flags::OVERLAP), "OVERLAP | USER_UB");
    let all = "PREDEFINED | COMMITTED | CONTIGUOUS | NO_GAPS | DATA";
    assert_eq!(format!("{:?}", basic(Basic::U8).flags()), all);
}
