//! Checks that packed bytes are values before they are written, as unpacking to a Rust type does.

use std::rc::Rc;

use dtype_runtime::{Buffer, Committed};

use super::windows::Window;
use super::{FRAGMENT, resized};
use crate::failure::Failure;
use crate::shape::{Kind, Member, Shape};
use crate::value::unsigned;
use dtype_text::notation::{Meaning, Parsed};

/// The checks of a type some of whose bytes are not values.
pub(super) struct Checks {
    shape: Rc<Shape>,
    committed: Committed,
    packed: Vec<u8>,
}

/// The first invalid value: the path of its field, and what is wrong.
struct Invalid {
    path: String,
    reason: String,
}

impl Checks {
    /// `None` if any bytes are values.
    pub(super) fn of(parsed: &Parsed, committed: &Committed) -> Option<Self> {
        let (shape, committed) = (Shape::of(parsed), committed.clone());
        (!shape.is_any).then(|| Self { shape, committed, packed: Vec::new() })
    }

    /// Checks the instances in a window. `first` is the number of the first one.
    pub(super) fn window(
        &mut self,
        action: &'static str,
        window: &Window,
        bytes: &[u8],
        first: u64,
    ) -> Result<(), Failure> {
        let refused = |error| Failure::refused(action, error);
        let size = self.shape.size;
        let each = (FRAGMENT / size).max(1);
        let mut done = 0;
        while done < window.count {
            let count = each.min(window.count - done);
            let all = count.saturating_mul(size) as u64;
            let packed = resized(&mut self.packed, all)?;
            // All data lie in the window, whose length fits.
            let origin = window.origin as i64 + self.committed.extent() * done as i64;
            let memory = Buffer::new(bytes).origin(origin);
            self.committed.pack(memory, count, &mut *packed).map_err(refused)?;
            for (record, bytes) in packed.chunks_exact(size).take(count).enumerate() {
                if let Err(Invalid { path, reason }) = check(&self.shape, bytes) {
                    let record = first + (done + record) as u64;
                    return Err(Failure::Invalid { action, record, path, reason });
                }
            }
            done += count;
        }
        Ok(())
    }
}

/// Checks the packed bytes of one value.
fn check(shape: &Shape, bytes: &[u8]) -> Result<(), Invalid> {
    let here = |reason: String| Err(Invalid { path: String::new(), reason });
    match &shape.kind {
        _ if shape.is_any => Ok(()),
        Kind::Nothing | Kind::Value(_, None) => Ok(()),
        Kind::Value(_, Some(values)) => match unsigned(bytes) {
            value if values.accepts(value) => Ok(()),
            value => here(format!("{value:#x} is not a valid {}", values.name)),
        },
        Kind::Repeated(count, item) => check_all(item, *count, bytes),
        Kind::Structure(members, _) => {
            let mut rest = bytes;
            for Member { name, shape } in members {
                let (this, after) = rest.split_at(shape.size);
                check(shape, this).map_err(|invalid| invalid.inside(&format!(".{name}")))?;
                rest = after;
            }
            Ok(())
        }
        Kind::Meant(Meaning::Text, _) => {
            let (length, text) = counted(bytes);
            let used = usize::try_from(length).ok().and_then(|length| text.get(..length));
            match used.map(str::from_utf8) {
                Some(Ok(_)) => Ok(()),
                Some(Err(error)) => here(format!("not a valid FixedStr: {error}")),
                None => here(format!(
                    "not a valid FixedStr: the length is {length}, and the capacity {}",
                    text.len()
                )),
            }
        }
        Kind::Meant(Meaning::List { capacity }, fields) => {
            let (length, items) = counted(bytes);
            if u64::from(length) > *capacity {
                return here(format!(
                    "not a valid FixedVec: the length is {length}, and the capacity {capacity}"
                ));
            }
            let checked = check_all(fields.item(*capacity), length.into(), items);
            checked.map_err(|invalid| invalid.inside(".items"))
        }
        Kind::Meant(Meaning::Optional, fields) => match bytes.split_first() {
            Some((0, _)) | None => Ok(()),
            Some((1, bytes)) => {
                check(fields.item(1), bytes).map_err(|invalid| invalid.inside(".value"))
            }
            Some((other, _)) => here(format!("{other:#x} is not a valid bool"))
                .map_err(|invalid: Invalid| invalid.inside(".present")),
        },
        Kind::Meant(_, fields) => check(fields, bytes),
    }
}

/// Checks so many values, one after another.
fn check_all(shape: &Shape, count: u64, bytes: &[u8]) -> Result<(), Invalid> {
    if shape.is_any || shape.size == 0 {
        return Ok(());
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    for (index, bytes) in bytes.chunks_exact(shape.size).take(count).enumerate() {
        check(shape, bytes).map_err(|invalid| invalid.inside(&format!("[{index}]")))?;
    }
    Ok(())
}

impl Invalid {
    /// The same in a part of a value.
    fn inside(self, part: &str) -> Self {
        Self { path: format!("{part}{}", self.path), ..self }
    }
}

/// A length, and the bytes after it.
fn counted(bytes: &[u8]) -> (u32, &[u8]) {
    bytes
        .split_first_chunk()
        .map_or((0, bytes), |(length, rest)| (u32::from_ne_bytes(*length), rest))
}
