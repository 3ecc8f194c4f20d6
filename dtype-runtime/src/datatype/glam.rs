//! The vectors, matrices and quaternions of the `glam` crate.
//!
//! Most of them are the array of their components. Some are of SIMD registers or not, by the processor, the target
//! features and the features of `glam`; what is relied on here is asserted of the compiled types, byte by byte, so
//! that a `glam` that has changed its layout does not compile, and nothing is taken from its documentation.
//!
//! `Vec3A` has a fourth lane, which is not sent. It is a skipped field, as are those of `Mat3A` and `Affine3A`: an
//! uninitialised lane would be no valid register, so that these types, and structs of them, can be unpacked over
//! existing values but not made by `unpack`.
//!
//! Left out are `BVec3A` and `BVec4A`, masks of a width that differs between processors: send `BVec3` and `BVec4`.

use core::mem::offset_of;

use ::glam::{
    Affine2, Affine3, Affine3A, BVec2, BVec3, BVec4, DAffine2, DAffine3, DMat2, DMat3, DMat4,
    DQuat, DVec2, DVec3, DVec4, I8Vec2, I8Vec3, I8Vec4, I16Vec2, I16Vec3, I16Vec4, I64Vec2,
    I64Vec3, I64Vec4, ISizeVec2, ISizeVec3, ISizeVec4, IVec2, IVec3, IVec4, Mat2, Mat3, Mat3A,
    Mat4, Quat, U8Vec2, U8Vec3, U8Vec4, U16Vec2, U16Vec3, U16Vec4, U64Vec2, U64Vec3, U64Vec4,
    USizeVec2, USizeVec3, USizeVec4, UVec2, UVec3, UVec4, Vec2, Vec3, Vec3A, Vec4,
};

use super::Datatype;
use crate::typemap::{Field, Markers, TypeMap};

/// Whether `value` begins with the bytes of `array`.
///
/// # Safety
///
/// Evaluated at compile time, where reading a byte that is not initialised is an error.
const unsafe fn begins_with<V: Copy, A: Copy>(value: V, array: A) -> bool {
    if size_of::<V>() < size_of::<A>() {
        return false;
    }
    let (value, array) = ((&raw const value).cast::<u8>(), (&raw const array).cast::<u8>());
    let mut i = 0;
    while i < size_of::<A>() {
        // SAFETY: within both, as was just checked, and initialised, or an error at compile time.
        if unsafe { value.add(i).read() != array.add(i).read() } {
            return false;
        }
        i += 1;
    }
    true
}

/// Types that are the arrays of their components: each with one of its values, and the same as an array.
macro_rules! arrays {
    ($($type:ident: [$element:ty; $count:literal] = $value:expr, $array:expr;)*) => {$(
        // SAFETY: all bytes of a value are those of the components, in order, as is asserted. All of them can be set
        // to anything by safe code, one by one, so that every pattern of the components is a value.
        unsafe impl Datatype for $type {
            const TYPE_MAP: &'static TypeMap = {
                let array: [$element; $count] = $array;
                // SAFETY: a constant.
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

/// Vectors of each kind of element, with four values of it.
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

/// Components that differ.
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

/// Structs with public fields, which lie where the compiler says.
macro_rules! structures {
    ($($type:ident { $($field:ident: $of:ty),+ };)*) => {$(
        // SAFETY: the fields are public and all that there is, so that whatever values they have is a value, and the
        // rest is padding: the pattern names each of them, and the map is that of its type.
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

// SAFETY: the first twelve bytes of a value are its components, and the rest is one lane, as is asserted. The components
// can be set to anything by safe code. The lane is padding or part of a register, and skipped.
unsafe impl Datatype for Vec3A {
    const TYPE_MAP: &'static TypeMap = {
        // SAFETY: a constant.
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

// SAFETY: three public fields, one after another, as is asserted.
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

// SAFETY: two public fields, a `Mat3A` and a `Vec3A`, one after the other, as is asserted.
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
