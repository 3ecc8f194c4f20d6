//! A Python module that makes, reads and changes records in Rust. `tests/python.rs` builds it and imports it.
//!
//! ```console
//! PYO3_BUILD_EXTENSION_MODULE=1 cargo build -p dtype-numpy --example particles
//! cp target/debug/examples/libparticles.so particles.so
//! python3 -c 'import particles; print(particles.make(3)["position"])'
//! ```

use std::collections::HashMap;
use std::sync::Mutex;

use dtype_numpy::{Record, Records, into_array, packed_array, to_vec};
use dtype_runtime::Datatype;
use num_complex::Complex;
use numpy::{PyArray1, PyUntypedArray};
use pyo3::pymodule;

/// The behaviour of a particle at a wall.
#[derive(Datatype, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Wall {
    Reflect = 1,
    Absorb = 2,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Spin {
    up: bool,
    phase: Complex<f32>,
}

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Particle {
    charge: i8,
    position: [f64; 3],
    spins: [Spin; 2],
    wall: Wall,
    id: u32,
}

fn particle(id: u32) -> Particle {
    let at = f64::from(id);
    Particle {
        charge: if id.is_multiple_of(2) { 1 } else { -1 },
        position: [at, at / 2.0, -at],
        spins: [
            Spin { up: true, phase: Complex::new(1.0, 0.5) },
            Spin { up: false, phase: Complex::new(0.0, -1.0) },
        ],
        wall: if id.is_multiple_of(3) { Wall::Reflect } else { Wall::Absorb },
        id,
    }
}

/// The address of the last vector that was handed to NumPy.
static HANDED_OVER: Mutex<usize> = Mutex::new(0);

/// A module for Python.
#[pymodule]
mod particles {
    use pyo3::prelude::*;

    use super::{
        HANDED_OVER, HashMap, Particle, PyArray1, PyUntypedArray, Record, Records, into_array,
        packed_array, particle, to_vec,
    };

    /// Particles numbered from 0, without a copy.
    #[pyfunction]
    fn make(py: Python<'_>, count: u32) -> PyResult<Bound<'_, PyArray1<Record<Particle>>>> {
        let all: Vec<Particle> = (0..count).map(particle).collect();
        if let Ok(mut address) = HANDED_OVER.lock() {
            *address = all.as_ptr().addr();
        }
        Ok(into_array(py, all)?)
    }

    /// The address in Rust of the memory of the last array from `make`.
    #[pyfunction]
    fn address() -> usize {
        HANDED_OVER.lock().map_or(0, |address| *address)
    }

    /// The same particles, packed.
    #[pyfunction]
    fn make_packed(py: Python<'_>, count: u32) -> PyResult<Bound<'_, PyUntypedArray>> {
        let all: Vec<Particle> = (0..count).map(particle).collect();
        Ok(packed_array(py, &all)?)
    }

    /// For any array of particles, the sum of the charges, and the number of particles for each kind of wall.
    #[pyfunction]
    fn summary(array: &Bound<'_, PyAny>) -> PyResult<(i64, HashMap<String, usize>)> {
        let all: Vec<Particle> = to_vec(array)?;
        let mut walls = HashMap::new();
        for particle in &all {
            *walls.entry(format!("{:?}", particle.wall)).or_default() += 1;
        }
        Ok((all.iter().map(|particle| i64::from(particle.charge)).sum(), walls))
    }

    /// Whether the array has the particles with these numbers. The array is borrowed.
    #[pyfunction]
    #[expect(clippy::needless_pass_by_value, reason = "as Python's argument is extracted")]
    fn are(array: &Bound<'_, PyAny>, ids: Vec<u32>) -> PyResult<bool> {
        let records = Records::<Particle>::new(array)?;
        // SAFETY: this function holds the interpreter, so no Python code runs before the slice's last use.
        let borrowed = unsafe { records.as_slice() }?;
        let same = borrowed.iter().copied().eq(ids.iter().copied().map(particle));
        Ok(same && records.to_vec()? == borrowed)
    }

    /// The particles of an array as a new array, each at its mirrored position.
    #[pyfunction]
    fn mirrored<'py>(
        py: Python<'py>,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<Record<Particle>>>> {
        let mut all: Vec<Particle> = to_vec(array)?;
        for particle in &mut all {
            particle.position = particle.position.map(|x| -x);
        }
        Ok(into_array(py, all)?)
    }
}
