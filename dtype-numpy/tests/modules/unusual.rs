//! A Python module with records that are no items, and arrays that are not what they seem. `tests/python.rs` imports it.

use dtype_numpy::{Record, Records, into_array, packed_array, to_vec};
use dtype_runtime::Datatype;
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

/// A record that is an array.
type Point = [f64; 3];

const POINTS: [Point; 2] = [[1.0, 2.0, 3.0]; 2];

/// A module for Python.
#[pymodule]
mod unusual {
    use pyo3::prelude::*;

    use super::{
        POINTS, Pair, Point, PyArray1, PyUntypedArray, Record, Records, Unit, into_array,
        packed_array, to_vec,
    };

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
