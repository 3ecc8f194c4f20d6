//! The vectors, matrices and quaternions of the `glam` crate.
//!
//! Most of them are arrays of their components. Some are SIMD registers, depending on the processor, the target
//! features and the features of `glam`. Assertions in constants compare every layout that the impls rely on with the compiled
//! types, byte by byte: with another `glam` the crate does not compile.
//!
//! `Vec3A` has a fourth lane, which is not packed. The map has it as a skipped field, because a register with an
//! uninitialised lane is not valid. So `unpack_into` accepts `Vec3A`, `Mat3A`, `Affine3A` and structs that contain
//! them, and `unpack` does not compile.
//!
//! `BVec3A` and `BVec4A` are missing: the width of these masks differs between processors. Send `BVec3` and `BVec4`.

use core::mem::offset_of;

use ::glam::{
    Affine2, Affine3, Affine3A, BVec2, BVec3, BVec4, DAffine2, DAffine3, DMat2, DMat3, DMat4,
    DQuat, DVec2, DVec3, DVec4, I8Vec2, I8Vec3, I8Vec4, I16Vec2, I16Vec3, I16Vec4, I64Vec2,
    I64Vec3, I64Vec4, ISizeVec2, ISizeVec3, ISizeVec4, IVec2, IVec3, IVec4, Mat2, Mat3, Mat3A,
    Mat4, Quat, U8Vec2, U8Vec3, U8Vec4, U16Vec2, U16Vec3, U16Vec4, U64Vec2, U64Vec3, U64Vec4,
    USizeVec2, USizeVec3, USizeVec4, UVec2, UVec3, UVec4, Vec2, Vec3, Vec3A, Vec4,
};

use super::Datatype;
use super::proof::begins_with;
use crate::typemap::{Field, Markers, TypeMap};

/// Types that are arrays of their components. Each row has a value of the type, and the array of that value's components.
macro_rules! arrays {
    ($($type:ident: [$element:ty; $count:literal] = $value:expr, $array:expr;)*) => {$(
        // SAFETY: the assertion shows that the bytes of a value are the bytes of its components, in order. Safe code can
        // set each component to anything, so every pattern of the components is a value.
        #[diagnostic::do_not_recommend]
        unsafe impl Datatype for $type {
            const TYPE_MAP: &'static TypeMap = {
                let array: [$element; $count] = $array;
                // SAFETY: this is the initialiser of a constant, evaluated at compile time.
                let same = unsafe { begins_with::<$type, [$element; $count]>($value, array) };
                assert!(
                    same && size_of::<$type>() == size_of::<[$element; $count]>(),
                    concat!("in this glam, ", stringify!($type), " is not the array of its components")
                );
                <[$element; $count]>::TYPE_MAP
            };
        }
    )*};
}

/// The vectors of each element type, with four values of it.
macro_rules! vectors {
    ($($element:ty, $x:literal $y:literal $z:literal $w:literal: $two:ident $three:ident $four:ident;)*) => {
        arrays! {$(
            $two: [$element; 2] = $two::new($x, $y), [$x, $y];
            $three: [$element; 3] = $three::new($x, $y, $z), [$x, $y, $z];
            $four: [$element; 4] = $four::new($x, $y, $z, $w), [$x, $y, $z, $w];
        )*}
    };
}

vectors! {
    f32, 1.0 2.0 3.0 4.0: Vec2 Vec3 Vec4;
    f64, 1.0 2.0 3.0 4.0: DVec2 DVec3 DVec4;
    i8, 1 2 3 4: I8Vec2 I8Vec3 I8Vec4;
    u8, 1 2 3 4: U8Vec2 U8Vec3 U8Vec4;
    i16, 1 2 3 4: I16Vec2 I16Vec3 I16Vec4;
    u16, 1 2 3 4: U16Vec2 U16Vec3 U16Vec4;
    i32, 1 2 3 4: IVec2 IVec3 IVec4;
    u32, 1 2 3 4: UVec2 UVec3 UVec4;
    i64, 1 2 3 4: I64Vec2 I64Vec3 I64Vec4;
    u64, 1 2 3 4: U64Vec2 U64Vec3 U64Vec4;
    isize, 1 2 3 4: ISizeVec2 ISizeVec3 ISizeVec4;
    usize, 1 2 3 4: USizeVec2 USizeVec3 USizeVec4;
}

/// Components that all differ.
macro_rules! components {
    ($element:ident, $count:literal) => {{
        let mut all = [1.0 as $element; $count];
        let mut i = 1;
        while i < $count {
            all[i] = all[i - 1] + 1.0;
            i += 1;
        }
        all
    }};
}

arrays! {
    Quat: [f32; 4] = Quat::from_xyzw(1.0, 2.0, 3.0, 4.0), components!(f32, 4);
    DQuat: [f64; 4] = DQuat::from_xyzw(1.0, 2.0, 3.0, 4.0), components!(f64, 4);
    Mat2: [f32; 4] = Mat2::from_cols_array(&components!(f32, 4)), components!(f32, 4);
    Mat3: [f32; 9] = Mat3::from_cols_array(&components!(f32, 9)), components!(f32, 9);
    Mat4: [f32; 16] = Mat4::from_cols_array(&components!(f32, 16)), components!(f32, 16);
    DMat2: [f64; 4] = DMat2::from_cols_array(&components!(f64, 4)), components!(f64, 4);
    DMat3: [f64; 9] = DMat3::from_cols_array(&components!(f64, 9)), components!(f64, 9);
    DMat4: [f64; 16] = DMat4::from_cols_array(&components!(f64, 16)), components!(f64, 16);
    Affine3: [f32; 12] = Affine3 {
        matrix3: Mat3::from_cols_array(&components!(f32, 9)),
        translation: Vec3::new(10.0, 11.0, 12.0),
    }, components!(f32, 12);
    DAffine2: [f64; 6] = DAffine2 {
        matrix2: DMat2::from_cols_array(&components!(f64, 4)),
        translation: DVec2::new(5.0, 6.0),
    }, components!(f64, 6);
    DAffine3: [f64; 12] = DAffine3 {
        matrix3: DMat3::from_cols_array(&components!(f64, 9)),
        translation: DVec3::new(10.0, 11.0, 12.0),
    }, components!(f64, 12);
}

/// Structs with public fields, at the offsets that the compiler reports.
macro_rules! structures {
    ($($type:ident { $($field:ident: $of:ty),+ };)*) => {$(
        // SAFETY: the pattern has no `..` and compiles, so the fields are public and there are no others: any values
        // of the fields make a value, and the other bytes are padding. The offsets come from the compiler, and each
        // field has the map of its type, which the annotations in `all` pin.
        #[diagnostic::do_not_recommend]
        unsafe impl Datatype for $type {
            const TYPE_MAP: &'static TypeMap = {
                const fn all(value: &$type) {
                    let $type { $($field),+ } = value;
                    $(let _: &$of = $field;)+
                }
                let _ = all;
                &TypeMap::structure::<Self>(
                    stringify!($type),
                    const {
                        &[$(Field::new(
                            stringify!($field),
                            offset_of!($type, $field),
                            <$of as Datatype>::TYPE_MAP,
                        )),+]
                    },
                    Markers::NONE,
                )
            };
        }
    )*};
}

structures! {
    // Padded at the end where `Mat2` is a register.
    Affine2 { matrix2: Mat2, translation: Vec2 };
    BVec2 { x: bool, y: bool };
    BVec3 { x: bool, y: bool, z: bool };
    BVec4 { x: bool, y: bool, z: bool, w: bool };
}

// SAFETY: the assertion shows that the first twelve of a value's 16 bytes are its components, which safe code can set to
// anything. The other four are padding or a lane of the register, and the map skips them.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for Vec3A {
    const TYPE_MAP: &'static TypeMap = {
        // SAFETY: this is the initialiser of a constant, evaluated at compile time.
        let same = unsafe {
            begins_with::<Vec3A, [f32; 3]>(Vec3A::new(1.0, 2.0, 3.0), components!(f32, 3))
        };
        assert!(same && size_of::<Vec3A>() == 16, "in this glam, Vec3A is not three of four lanes");
        &TypeMap::structure::<Self>(
            "Vec3A",
            const { &[Field::new("xyz", 0, <[f32; 3]>::TYPE_MAP), Field::skipped("w", 12, 4)] },
            Markers::NONE,
        )
    };
}

// SAFETY: the pattern and the assertion show three public fields, one after another and nothing else; `Vec3A` gives its
// guarantees for each.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for Mat3A {
    const TYPE_MAP: &'static TypeMap = {
        let Mat3A { x_axis: _, y_axis: _, z_axis: _ } = Mat3A::ZERO;
        assert!(
            offset_of!(Mat3A, x_axis) == 0
                && offset_of!(Mat3A, y_axis) == size_of::<Vec3A>()
                && offset_of!(Mat3A, z_axis) == 2 * size_of::<Vec3A>()
                && size_of::<Mat3A>() == 3 * size_of::<Vec3A>(),
            "in this glam, Mat3A is not three of Vec3A"
        );
        &TypeMap::array(Vec3A::TYPE_MAP, 3)
    };
}

// SAFETY: the pattern and the assertion show two public fields, a `Mat3A` and a `Vec3A`, one after the other and nothing
// else; four `Vec3A` have the same bytes, and `Vec3A` gives its guarantees for each.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for Affine3A {
    const TYPE_MAP: &'static TypeMap = {
        let Affine3A { matrix3, translation } = Affine3A::ZERO;
        let _: (Mat3A, Vec3A) = (matrix3, translation);
        assert!(
            offset_of!(Affine3A, matrix3) == 0
                && offset_of!(Affine3A, translation) == size_of::<Mat3A>()
                && size_of::<Affine3A>() == size_of::<Mat3A>() + size_of::<Vec3A>(),
            "in this glam, Affine3A is not four of Vec3A"
        );
        &TypeMap::array(Vec3A::TYPE_MAP, 4)
    };
}
