//! Columns of fields whose names Rust cannot have.

use dtype_arrow::{from_arrow, into_arrow, schema};
use dtype_runtime::columns;
use dtype_test_support::odd_names::{NAMES, Step, steps};

#[test]
fn columns_have_the_names() {
    let names: Vec<_> =
        schema::<Step>().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, NAMES);
    let all = into_arrow(columns(&steps())).unwrap();
    assert_eq!(from_arrow::<Step>(&all).unwrap().to_records().unwrap(), steps());
}
