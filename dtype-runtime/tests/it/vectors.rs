//! The types of the crates `glam` and `nalgebra`, alone and as fields.

use crate::interchangeable::interchangeable;
use dtype_runtime::{Basic, Datatype, Error, Type, gaps, pack, runs, unpack, unpack_into};
use glam::{Affine2, Affine3A, BVec3, IVec4, Mat2, Mat3A, Mat4, Quat, Vec2, Vec3, Vec3A, Vec4};
use nalgebra::{Matrix2x3, Matrix3, Point3, Quaternion, SMatrix, Scale2, Translation3, Vector3};

macro_rules! same {
    ($($type:ty: $as:ty;)*) => { $(interchangeable::<$type, $as>();)* };
}

#[test]
fn signatures_are_those_of_arrays() {
    same! {
        Vec2: [f32; 2]; Vec3: [f32; 3]; Vec3A: [f32; 3]; Vec4: [f32; 4]; Quat: [f32; 4];
        Mat2: [f32; 4]; glam::Mat3: [f32; 9]; Mat3A: [f32; 9]; Mat4: [f32; 16];
        Affine2: [f32; 6]; glam::Affine3: [f32; 12]; Affine3A: [f32; 12];
        glam::DVec2: [f64; 2]; glam::DVec3: [f64; 3]; glam::DVec4: [f64; 4]; glam::DQuat: [f64; 4];
        glam::DMat2: [f64; 4]; glam::DMat3: [f64; 9]; glam::DMat4: [f64; 16];
        glam::DAffine2: [f64; 6]; glam::DAffine3: [f64; 12];
        glam::I8Vec2: [i8; 2]; glam::I8Vec3: [i8; 3]; glam::I8Vec4: [i8; 4];
        glam::U8Vec2: [u8; 2]; glam::U8Vec3: [u8; 3]; glam::U8Vec4: [u8; 4];
        glam::I16Vec2: [i16; 2]; glam::I16Vec3: [i16; 3]; glam::I16Vec4: [i16; 4];
        glam::U16Vec2: [u16; 2]; glam::U16Vec3: [u16; 3]; glam::U16Vec4: [u16; 4];
        glam::IVec2: [i32; 2]; glam::IVec3: [i32; 3]; IVec4: [i32; 4];
        glam::UVec2: [u32; 2]; glam::UVec3: [u32; 3]; glam::UVec4: [u32; 4];
        glam::I64Vec2: [i64; 2]; glam::I64Vec3: [i64; 3]; glam::I64Vec4: [i64; 4];
        glam::U64Vec2: [u64; 2]; glam::U64Vec3: [u64; 3]; glam::U64Vec4: [u64; 4];
        glam::ISizeVec2: [isize; 2]; glam::ISizeVec3: [isize; 3]; glam::ISizeVec4: [isize; 4];
        glam::USizeVec2: [usize; 2]; glam::USizeVec3: [usize; 3]; glam::USizeVec4: [usize; 4];
        glam::BVec2: [bool; 2]; BVec3: [bool; 3]; glam::BVec4: [bool; 4];

        Vector3<f32>: [f32; 3]; Matrix2x3<u16>: [u16; 6]; SMatrix<(u8, f64), 2, 2>: [(u8, f64); 4];
        SMatrix<f64, 0, 3>: [f64; 0]; nalgebra::RowVector4<bool>: [bool; 4];
        Point3<f64>: [f64; 3]; Quaternion<f32>: [f32; 4]; Translation3<i32>: [i32; 3];
        Scale2<u64>: [u64; 2]; nalgebra::Point<char, 9>: [char; 9];
    }
}

#[test]
fn arrays_of_them_are_one_copy() {
    // Memory and packed bytes are equal, so the plan is a single copy.
    for ty in [
        Type::of::<[Vec3; 5]>(),
        Type::of::<[Mat4; 5]>(),
        Type::of::<[Matrix3<f64>; 5]>(),
        Type::of::<[Point3<f32>; 5]>(),
    ] {
        let bytes = Type::contiguous(ty.size(), &Type::basic(Basic::U8)).unwrap();
        let [ty, bytes] = [ty.commit(), bytes.commit()];
        assert_eq!(format!("{:?}", ty.plan()), format!("{:?}", bytes.plan()));
    }
}

#[test]
fn components_are_sent_in_order() {
    let bytes = |floats: &[f32]| floats.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>();
    let to = |n: u8| (1..=n).map(f32::from).collect::<Vec<_>>();
    let columns = |n: u8| bytes(&to(n));
    assert_eq!(pack(&[Vec3A::new(1.0, 2.0, 3.0)]), columns(3));
    assert_eq!(pack(&[Quat::from_xyzw(1.0, 2.0, 3.0, 4.0)]), columns(4));
    assert_eq!(pack(&[Mat2::from_cols_slice(&to(4))]), columns(4));
    assert_eq!(pack(&[Mat3A::from_cols_slice(&to(9))]), columns(9));
    assert_eq!(pack(&[Mat4::from_cols_slice(&to(16))]), columns(16));
    assert_eq!(pack(&[Affine2::from_cols_slice(&to(6))]), columns(6));
    assert_eq!(pack(&[Affine3A::from_cols_slice(&to(12))]), columns(12));
    // `nalgebra` lists the components by rows and stores them by columns.
    assert_eq!(pack(&[Matrix2x3::new(1.0_f32, 3.0, 5.0, 2.0, 4.0, 6.0)]), columns(6));
    assert_eq!(pack(&[Quaternion::new(4.0_f32, 1.0, 2.0, 3.0)]), columns(4));
    assert_eq!(pack(&[Point3::new(1.0_f32, 2.0, 3.0)]), columns(3));
    assert_eq!(pack(&[Translation3::new(1.0_f32, 2.0, 3.0)]), columns(3));
    assert_eq!(pack(&[Scale2::new(1.0_f32, 2.0)]), columns(2));
}

/// The unused lane of a `Vec3A`, if the type is a register.
#[cfg(target_feature = "sse2")]
fn lane(vector: &Vec3A) -> u32 {
    // SAFETY: a `Vec3A` is a register of four floats here.
    unsafe { core::mem::transmute::<Vec3A, [u32; 4]>(*vector)[3] }
}

#[test]
#[cfg(target_feature = "sse2")]
fn the_fourth_lane_is_neither_read_nor_written() {
    assert!(runs::<Vec3A>().iter().eq(core::iter::once(0..12)));
    assert!(runs::<Mat3A>().iter().eq([0..12, 16..28, 32..44]));
    for count in [1, 2, 3, 7, 64, 1000] {
        let sent: Vec<Vec3A> = (0_u16..count)
            .map(|i| Vec3A::from_vec4(Vec4::new(f32::from(i), 0.5, -f32::from(i), 77.0)))
            .collect();
        let bytes = pack(&sent);
        assert_eq!(bytes.len(), 12 * sent.len());
        let mut received = vec![Vec3A::from_vec4(Vec4::splat(55.0)); sent.len()];
        assert!(received.iter().all(|vector| lane(vector) == 55.0_f32.to_bits()));
        unpack_into(&bytes, &mut received).unwrap();
        assert_eq!(received, sent);
        assert!(received.iter().all(|vector| lane(vector) == 55.0_f32.to_bits()));
        // A peer may unpack plain vectors.
        let plain: Vec<Vec3> = unpack(&bytes).unwrap();
        assert!(plain.iter().zip(&sent).all(|(&plain, &sent)| plain == Vec3::from(sent)));
    }
}

#[derive(Datatype, Clone, Debug, PartialEq)]
struct Body {
    id: u8,
    place: Point3<f64>,
    velocity: Vec3,
    inertia: Matrix3<f64>,
    spin: Quat,
    pose: Affine2,
    locked: BVec3,
    seen: nalgebra::Matrix2<bool>,
}

fn body(i: u8) -> Body {
    let x = f32::from(i);
    Body {
        id: i,
        place: Point3::new(f64::from(i), 0.25, -1.0),
        velocity: Vec3::new(x, x + 1.0, x + 2.0),
        inertia: Matrix3::from_iterator((0..9).map(|n| f64::from(i) + f64::from(n))),
        spin: Quat::from_xyzw(x, 0.0, 1.0, 2.0),
        pose: Affine2::from_cols_array(&[x, 1.0, 2.0, 3.0, 4.0, 5.0]),
        locked: BVec3::new(i.is_multiple_of(2), i.is_multiple_of(3), true),
        seen: nalgebra::Matrix2::new(true, false, i % 2 == 1, false),
    }
}

/// The packed bytes, listed by hand.
fn listed(body: &Body) -> Vec<u8> {
    let mut bytes = vec![body.id];
    let mut f64s: Vec<f64> = body.place.iter().copied().collect();
    bytes.extend(f64s.drain(..).flat_map(f64::to_ne_bytes));
    bytes.extend(body.velocity.to_array().iter().flat_map(|x| x.to_ne_bytes()));
    for column in 0..3 {
        for row in 0..3 {
            bytes.extend(body.inertia[(row, column)].to_ne_bytes());
        }
    }
    bytes.extend(body.spin.to_array().iter().flat_map(|x| x.to_ne_bytes()));
    bytes.extend(body.pose.to_cols_array().iter().flat_map(|x| x.to_ne_bytes()));
    bytes.extend([body.locked.x, body.locked.y, body.locked.z].map(u8::from));
    bytes.extend([(0, 0), (1, 0), (0, 1), (1, 1)].map(|at| u8::from(body.seen[at])));
    bytes
}

#[test]
fn fields_of_structs() {
    for count in [1, 2, 9, 100] {
        let bodies: Vec<Body> = (0..count).map(body).collect();
        let bytes = pack(&bodies);
        assert_eq!(bytes, bodies.iter().flat_map(listed).collect::<Vec<_>>());
        assert_eq!(unpack::<Body>(&bytes).unwrap(), bodies);
        let runtime = Type::of::<Body>().commit();
        assert_eq!(runtime.size(), listed(&bodies[0]).len() as u64);

        // Every byte is 0xA5 before, and every gap is 0xA5 afterwards.
        let mut memory: Vec<core::mem::MaybeUninit<Body>> = Vec::with_capacity(bodies.len());
        let len = bodies.len() * size_of::<Body>();
        // SAFETY: the vector's own allocation of `len` bytes. All of them are initialised here, and accessed only as bytes.
        let image = unsafe {
            memory.as_mut_ptr().cast::<u8>().write_bytes(0xA5, len);
            core::slice::from_raw_parts_mut(memory.as_mut_ptr().cast::<u8>(), len)
        };
        runtime.unpack(&bytes, &mut *image, bodies.len()).unwrap();
        let mut number = 0;
        for record in image.chunks(size_of::<Body>()) {
            for gap in gaps::<Body>() {
                assert!(record[gap.clone()].iter().all(|&byte| byte == 0xA5), "{gap:?}");
                number += gap.len();
            }
        }
        assert_eq!(number + bytes.len(), len);
    }
}

#[test]
fn errors_name_the_component() {
    let bodies = [body(0), body(1)];
    let good = pack(&bodies);
    let size = good.len() / 2;
    let mut target = [body(7), body(8)];
    let mut refused = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] = 2;
        assert!(unpack::<Body>(&bytes).is_err());
        let error = unpack_into(&bytes, &mut target).unwrap_err();
        assert_eq!(target, [body(7), body(8)]);
        error
    };
    let invalid = |path: &str| Error::InvalidValue {
        record: 1,
        path: path.into(),
        expected: "bool",
        value: 2,
    };
    assert_eq!(refused(2 * size - 6), invalid("locked.y"));
    // The component in column 1, row 0.
    assert_eq!(refused(2 * size - 2), invalid("seen[1][0]"));
}

/// A struct with a skipped lane inside.
#[derive(Datatype, Clone, Debug, PartialEq)]
struct Aligned {
    mass: f32,
    place: Vec3A,
    frame: Affine3A,
    alive: bool,
}

#[test]
fn structs_with_lanes_go_over_existing_values() {
    let all: Vec<Aligned> = (0_u8..50)
        .map(|i| Aligned {
            mass: f32::from(i),
            place: Vec3A::splat(f32::from(i)),
            frame: Affine3A::from_translation(Vec3::splat(f32::from(i))),
            alive: i % 2 == 0,
        })
        .collect();
    let bytes = pack(&all);
    assert_eq!(bytes.len(), 50 * (4 + 12 + 48 + 1));
    const { assert!(Aligned::TYPE_MAP.skips_fields() && !Body::TYPE_MAP.skips_fields()) }
    let mut copy = vec![all[3].clone(); 50];
    unpack_into(&bytes, &mut copy).unwrap();
    assert_eq!(copy, all);
}
