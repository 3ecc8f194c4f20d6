//! The columns of records: the leaves of their shape.

use std::rc::Rc;

use super::values::is_text;
use crate::failure::Failure;
use crate::field_paths::MAX_NAME_BYTES;
use crate::shape::{Kind, Shape};

/// The maximum number of columns.
const MAX_COLUMNS: usize = 1 << 14;

/// A column: one value, or an array of values.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The path: `cells[1].mass`; `value` if the type is not a structure.
    pub(super) name: String,
    pub(super) shape: Rc<Shape>,
}

/// The columns of a shape. With `arrays`, an array of values is one column; otherwise each of its elements is one. Text is
/// always one column.
pub(super) fn of(shape: &Rc<Shape>, arrays: bool) -> Result<Vec<Column>, Failure> {
    let mut columns = Vec::new();
    add(&mut columns, &mut 0, shape, "", arrays)?;
    for column in &mut columns {
        if column.name.is_empty() {
            column.name.push_str("value");
        }
    }
    Ok(columns)
}

/// Adds the columns of a shape; `name_bytes` counts the bytes of all names, which repeat those of the structs around.
fn add(
    columns: &mut Vec<Column>,
    name_bytes: &mut usize,
    shape: &Rc<Shape>,
    path: &str,
    arrays: bool,
) -> Result<(), Failure> {
    match &shape.kind {
        Kind::Nothing => {}
        Kind::Structure(members, _) => {
            let dot = if path.is_empty() { "" } else { "." };
            for member in members {
                let path = format!("{path}{dot}{}", member.name);
                add(columns, name_bytes, &member.shape, &path, arrays)?;
            }
        }
        Kind::Repeated(count, inner) if !(arrays && shape.is_value() || is_text(inner)) => {
            for index in 0..*count {
                add(columns, name_bytes, inner, &format!("{path}[{index}]"), arrays)?;
            }
        }
        Kind::Value(..) | Kind::Repeated(..) | Kind::Meant(..) => {
            if columns.len() >= MAX_COLUMNS {
                return Err(Failure::Usage(format!(
                    "a record has more than {MAX_COLUMNS} columns; `--as json` has no such limit"
                )));
            }
            *name_bytes += path.len();
            if *name_bytes > MAX_NAME_BYTES {
                return Err(Failure::Usage(format!(
                    "the columns' names have more than {MAX_NAME_BYTES} bytes; `--as json` has no such limit"
                )));
            }
            columns.push(Column { name: path.to_owned(), shape: Rc::clone(shape) });
        }
    }
    Ok(())
}
