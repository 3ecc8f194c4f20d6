//! Fragments of `macro_rules!` that are operations, such as `A + B`, stay together wherever the derive repeats them.
use std::marker::PhantomData;

use dtype_message::Messages;
use dtype_runtime::{Datatype, Type};

macro_rules! resized {
    ($name:ident, $words:expr) => {
        #[derive(Datatype)]
        #[dtype(resize(lb = -8 * $words, extent = 8 * $words))]
        struct $name(u64);

        impl $name {
            const EXTENT: i64 = 8 * $words;
        }
    };
}

// The fragment goes through two macros.
macro_rules! forwarded {
    ($name:ident, $words:expr) => {
        resized!($name, $words);
    };
}

macro_rules! marked {
    ($name:ident, $lb:literal, $ub:expr) => {
        #[derive(Datatype)]
        #[dtype(lb = 8 - $lb.pow(2), ub = { $ub * 2 })]
        struct $name(u64);
    };
}

macro_rules! looked_up {
    ($name:ident, $table:expr) => {
        #[derive(Datatype)]
        #[dtype(resize(lb = 0, extent = $table[1]))]
        struct $name(u64);
    };
}

const TABLE: [i64; 2] = [8, 16];

resized! { Sum, 1 + 2 }
resized! { Cast, 3_u8 as i64 }
resized! { Call, i64::pow(3, 1) }
forwarded! { Forwarded, 1 + 2 }
marked! { Marked, -4_i64, 9 + 1 }
looked_up! { LookedUp, &TABLE }

struct Block<const N: usize>;
struct Signed<T, const N: i32>(PhantomData<T>);
trait Allowed {}
impl Allowed for Block<4> {}

macro_rules! generic {
    ($name:ident, $n:expr, $signed:literal, $object:ty) => {
        #[derive(Datatype)]
        #[dtype(name = "generic")]
        struct $name<T>
        where
            Block<{ 2 * $n }>: Allowed,
        {
            values: [T; 2 * $n],
            signed: PhantomData<Signed<T, $signed>>,
            object: PhantomData<(T, &'static $object)>,
        }
    };
}

macro_rules! forwarded_generic {
    ($name:ident, $n:expr, $signed:literal, $object:ty) => {
        generic! { $name, $n, $signed, $object }
    };
}

generic! { Generic, 1 + 1, -1, dyn Send + Sync }
forwarded_generic! { ForwardedGeneric, 1 + 1, -1, dyn Send + Sync }

#[derive(Datatype)]
struct Elsewhere {
    value: u64,
}

macro_rules! remote {
    ($path:path, $n:expr) => {
        #[derive(Datatype)]
        #[dtype(remote = Foreign::<{ 2 * $n }>)]
        struct Local {
            values: [$path; 2 * $n],
        }
    };
}

struct Foreign<const N: usize> {
    values: [Elsewhere; N],
}

remote! { Elsewhere, 1 + 2 }

#[derive(Datatype)]
struct Holder {
    #[dtype(with = Local)]
    foreign: Foreign<6>,
}

macro_rules! messages {
    ($name:ident, $n:expr) => {
        #[derive(Messages)]
        #[allow(dead_code, reason = "only its layout is looked at")]
        enum $name {
            Block([u8; 2 * $n]),
        }
    };
}

messages! { Sent, 1 + 1 }

#[test]
fn main() {
    assert_eq!((Sum::EXTENT, Cast::EXTENT, Call::EXTENT, Forwarded::EXTENT), (24, 24, 24, 24));
    for ty in [Type::of::<Sum>(), Type::of::<Cast>(), Type::of::<Call>(), Type::of::<Forwarded>()] {
        assert_eq!((ty.lb(), ty.extent()), (-24, 24));
    }
    let marked = Type::of::<Marked>();
    assert_eq!((marked.lb(), marked.ub()), (-8, 20));
    assert_eq!(Type::of::<LookedUp>().extent(), 16);
    assert_eq!(Generic::<u16>::TYPE_MAP.size(), 8);
    assert_eq!(ForwardedGeneric::<u16>::TYPE_MAP.size(), 8);
    assert_eq!(Holder::TYPE_MAP.size(), 48);
}
