//! Fieldless enums travel as their integer, and only their own values are accepted back.
use dtype_runtime::typemap::Node;
use dtype_runtime::{Basic, Datatype, Validity};

#[derive(Datatype)]
#[repr(u8)]
enum Explicit {
    Low = 3,
    High = 200,
}

#[derive(Datatype)]
#[repr(i16)]
enum Signed {
    Minus = -1,
    Zero,
    Least = i16::MIN as isize as i16,
}

#[derive(Datatype)]
#[repr(align(8), u64)]
enum Wide {
    All = u64::MAX,
}

#[derive(Datatype)]
#[repr(usize)]
enum Word {
    One = 1,
}

#[derive(Datatype)]
#[repr(isize)]
enum SignedWord {
    Minus = -1,
}

#[derive(Datatype)]
#[repr(i128)]
enum Widest {
    Minus = -1,
}

#[derive(Datatype)]
#[repr(u32)]
enum Shapes {
    Unit,
    Tuple(),
    Braces {},
}

const EIGHT: u8 = 8;

#[derive(Datatype)]
#[repr(u8)]
enum Expression<const N: usize> {
    Eight = EIGHT,
    Nine,
}

#[derive(Datatype)]
#[repr(u16)]
enum Dropped {
    Once = 5,
}

impl Drop for Dropped {
    fn drop(&mut self) {}
}

fn check<T: Datatype>(expected: Basic, values: &[u128]) {
    let map = T::TYPE_MAP;
    assert!(map.is_restricted() && map.is_dense());
    assert_eq!(map.stride(), size_of::<T>());
    let Node::Basic { basic, validity: Validity::Enum(set), .. } = map.node() else {
        panic!("{map:?}")
    };
    assert_eq!(*basic, expected);
    assert_eq!(set.values(), values);
}

#[test]
fn main() {
    check::<Explicit>(Basic::U8, &[3, 200]);
    check::<Signed>(Basic::I16, &[0xFFFF, 0, 0x8000]);
    check::<Wide>(Basic::U64, &[u64::MAX.into()]);
    check::<Word>(<usize as Datatype>::TYPE_MAP.basic_type(), &[1]);
    check::<SignedWord>(<isize as Datatype>::TYPE_MAP.basic_type(), &[usize::MAX as u128]);
    check::<Widest>(Basic::I128, &[u128::MAX]);
    check::<Shapes>(Basic::U32, &[0, 1, 2]);
    check::<Expression<7>>(Basic::U8, &[8, 9]);
    check::<Dropped>(Basic::U16, &[5]);
    drop(Dropped::Once);
    let Node::Basic { name, .. } = Explicit::TYPE_MAP.node() else { unreachable!() };
    assert_eq!(*name, "Explicit");
    let _ = [Explicit::Low, Explicit::High];
    let _ = [Signed::Minus, Signed::Zero, Signed::Least];
    let _ = (Wide::All, Word::One, SignedWord::Minus, Widest::Minus);
    let _ = [Shapes::Unit, Shapes::Tuple(), Shapes::Braces {}];
    let _ = [Expression::<1>::Eight, Expression::Nine];
}

trait BasicType {
    fn basic_type(&self) -> Basic;
}

impl BasicType for dtype_runtime::TypeMap {
    fn basic_type(&self) -> Basic {
        match self.node() {
            Node::Basic { basic, .. } => *basic,
            other => panic!("{other:?}"),
        }
    }
}
