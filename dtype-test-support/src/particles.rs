//! The records of the tests.

use dtype_runtime::Datatype;
use half::f16;
use num_complex::Complex;

/// How a particle ends.
#[derive(Datatype, Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Wall {
    /// It bounces.
    Reflect = 1,
    /// It stays.
    Absorb = 2,
}

/// A part of a record.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
pub struct Spin {
    pub up: bool,
    pub phase: Complex<f32>,
}

/// A record with everything that HDF5 has a form for, in memory in whatever order the compiler chooses.
#[derive(Datatype, Clone, Debug, PartialEq)]
pub struct Particle {
    pub charge: i8,
    pub position: [f64; 3],
    pub spins: [Spin; 2],
    pub wall: Wall,
    pub id: u32,
    pub metric: [[f32; 3]; 2],
    pub weight: f16,
    pub symbol: char,
}

impl Particle {
    /// A record that Python computes by the same formula.
    pub fn new(i: u32) -> Self {
        let x = f64::from(i);
        #[allow(clippy::cast_possible_truncation, reason = "small numbers")]
        let f = x as f32;
        let spin = |up, sign: f32| Spin { up, phase: Complex::new(f, sign * 0.5) };
        Self {
            charge: if i.is_multiple_of(2) { 1 } else { -1 },
            position: [x, x / 2.0, -x],
            spins: [spin(i.is_multiple_of(3), 1.0), spin(true, -1.0)],
            wall: if i.is_multiple_of(2) { Wall::Reflect } else { Wall::Absorb },
            id: i,
            metric: [[f, f + 1.0, f + 2.0], [-f, 0.25, 1e10]],
            weight: f16::from_f64(x / 4.0),
            symbol: if i.is_multiple_of(2) { 'e' } else { 'ß' },
        }
    }

    /// The first records.
    pub fn several(count: u32) -> Vec<Self> {
        (0..count).map(Self::new).collect()
    }
}
