//! A Python module with records that are no items, and arrays that are not what they seem. `tests/python.rs` imports it.

use dtype_numpy::{Record, Records, into_array, packed_array, to_vec};
use dtype_runtime::{Datatype, FixedStr};
use numpy::{PyArray1, PyUntypedArray};
use pyo3::pymodule;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Unit;

#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Pair {
    first: u64,
    second: u64,
}

/// Arrays of one element, and of arrays; and a name that is not Rust's.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Arrays {
    one: [f64; 1],
    #[dtype(rename = "größe [m] 'x'")]
    ones: [[u8; 1]; 3],
    matrix: [[i16; 3]; 2],
}

/// As a datatype, it has a larger extent than in a vector.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
#[dtype(resize(lb = 0, extent = 64))]
#[repr(C)]
struct Spaced {
    first: u64,
    second: u8,
}

/// A text beside padding.
#[derive(Datatype, Clone, Copy, Debug, PartialEq)]
struct Named {
    id: u8,
    name: FixedStr<6>,
    tags: [FixedStr<2>; 2],
}

/// A record that is an array.
type Point = [f64; 3];

const POINTS: [Point; 2] = [[1.0, 2.0, 3.0]; 2];

/// A module for Python.
#[pymodule]
mod unusual {
    use pyo3::prelude::*;

    use super::{
        Arrays, FixedStr, Named, POINTS, Pair, Point, PyArray1, PyUntypedArray, Record, Records,
        Spaced, Unit, into_array, packed_array, to_vec,
    };

    const ARRAYS: Arrays =
        Arrays { one: [0.5], ones: [[1], [2], [3]], matrix: [[1, 2, 3], [4, 5, 6]] };

    #[pyfunction]
    fn arrays(py: Python<'_>) -> PyResult<Bound<'_, PyArray1<Record<Arrays>>>> {
        Ok(into_array(py, vec![ARRAYS; 2])?)
    }

    #[pyfunction]
    fn packed_arrays(py: Python<'_>) -> PyResult<Bound<'_, PyUntypedArray>> {
        Ok(packed_array(py, &[ARRAYS; 2])?)
    }

    /// Whether these are two of the arrays above.
    #[pyfunction]
    fn are_arrays(array: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(to_vec::<Arrays>(array)? == [ARRAYS; 2])
    }

    #[pyfunction]
    fn spaced(py: Python<'_>) -> PyResult<Bound<'_, PyArray1<Record<Spaced>>>> {
        Ok(into_array(py, vec![Spaced { first: 7, second: 1 }; 3])?)
    }

    #[pyfunction]
    fn count_spaced(array: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
        Ok((to_vec::<Spaced>(array)?.len(), Records::<Spaced>::new(array)?.len()))
    }

    #[pyfunction]
    fn points(py: Python<'_>) -> PyResult<Bound<'_, PyArray1<Record<Point>>>> {
        Ok(into_array(py, POINTS.to_vec())?)
    }

    #[pyfunction]
    fn packed_points(py: Python<'_>) -> PyResult<Bound<'_, PyUntypedArray>> {
        Ok(packed_array(py, &POINTS)?)
    }

    /// The same without this crate's functions.
    #[pyfunction]
    fn element_points(py: Python<'_>) -> Bound<'_, PyArray1<Record<Point>>> {
        PyArray1::from_vec(py, Record::from_vec(POINTS.to_vec()))
    }

    #[pyfunction]
    fn units(py: Python<'_>) -> PyResult<Bound<'_, PyArray1<Record<Unit>>>> {
        Ok(into_array(py, vec![Unit; 5])?)
    }

    #[pyfunction]
    fn packed_units(py: Python<'_>) -> PyResult<Bound<'_, PyUntypedArray>> {
        Ok(packed_array(py, &[Unit; 5])?)
    }

    #[pyfunction]
    fn count_units(array: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(to_vec::<Unit>(array)?.len())
    }

    #[pyfunction]
    fn count_borrowed_units(array: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(Records::<Unit>::new(array)?.len())
    }

    fn named_record(id: u8, name: &str) -> Result<Named, dtype_runtime::Error> {
        Ok(Named { id, name: name.parse()?, tags: [FixedStr::new("a")?, FixedStr::new("é")?] })
    }

    /// Packed, or in memory layout.
    #[pyfunction]
    fn named(py: Python<'_>, name: &str, is_packed: bool) -> PyResult<Py<PyAny>> {
        let record = named_record(7, name).map_err(dtype_numpy::ArrayError::from)?;
        Ok(if is_packed {
            packed_array(py, &[record; 2])?.into_any().unbind()
        } else {
            into_array(py, vec![record; 2])?.into_any().unbind()
        })
    }

    /// Whether an array has two such records.
    #[pyfunction]
    fn are_named(array: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
        let record = named_record(7, name).map_err(dtype_numpy::ArrayError::from)?;
        Ok(to_vec::<Named>(array)? == [record; 2])
    }

    /// The pairs of an array.
    #[pyfunction]
    fn pairs(array: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u64)>> {
        let pairs: Vec<Pair> = to_vec(array)?;
        Ok(pairs.iter().map(|pair| (pair.first, pair.second)).collect())
    }

    /// The pairs of an array that was borrowed before Python code ran.
    #[pyfunction]
    fn pairs_after(array: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u64)>> {
        let records = Records::<Pair>::new(array)?;
        code.call0()?;
        let pairs = records.to_vec()?;
        Ok(pairs.iter().map(|pair| (pair.first, pair.second)).collect())
    }
}
