//! Checks that packed bytes are values before they are written, as unpacking to a Rust type does.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use dtype_runtime::{Basic, Buffer, Committed};

use super::windows::Window;
use super::{FRAGMENT, resized};
use crate::failure::Failure;
use crate::shape::Shape;
use crate::value::unsigned;
use dtype_text::notation::{Meaning, Parsed, Restriction};

/// The checks of a type some of whose bytes are not values.
pub(super) struct Checks {
    rule: Rc<Rule>,
    committed: Committed,
    packed: Vec<u8>,
}

/// What the packed bytes of a value must be.
struct Rule {
    size: usize,
    part: Part,
}

enum Part {
    Any,
    One(Basic, Arc<Restriction>),
    Array(u64, Rc<Rule>),
    Fields(Vec<(String, Rc<Rule>)>),
    /// A length, and so many bytes of UTF-8.
    Text,
    /// A length, and so many items.
    List(u64, Rc<Rule>),
    /// A `bool`, and a value if it is true.
    Optional(Rc<Rule>),
}

/// The first invalid value: the path of its field, and what is wrong.
struct Invalid {
    path: String,
    reason: String,
}

impl Checks {
    /// `None` if any bytes are values.
    pub(super) fn of(parsed: &Parsed, committed: &Committed) -> Option<Self> {
        let rule = Rules::default().of(&Shape::of(parsed));
        let committed = committed.clone();
        (!rule.is_any()).then(|| Self { rule, committed, packed: Vec::new() })
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
        let size = self.rule.size;
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
                if let Err(Invalid { path, reason }) = self.rule.check(bytes) {
                    let record = first + (done + record) as u64;
                    return Err(Failure::Invalid { action, record, path, reason });
                }
            }
            done += count;
        }
        Ok(())
    }
}

/// Makes the rules of shapes. Shared parts are made once, keyed by their addresses.
#[derive(Default)]
struct Rules {
    known: HashMap<usize, Rc<Rule>>,
}

impl Rules {
    fn of(&mut self, shape: &Shape) -> Rc<Rule> {
        let key = std::ptr::from_ref(shape).addr();
        if let Some(rule) = self.known.get(&key) {
            return Rc::clone(rule);
        }
        let rule = match shape {
            Shape::Meant(meaning, fields) => self.meant(*meaning, fields),
            _ => Rc::new(self.make(shape)),
        };
        self.known.insert(key, Rc::clone(&rule));
        rule
    }

    fn make(&mut self, shape: &Shape) -> Rule {
        match shape {
            Shape::Nothing => Rule { size: 0, part: Part::Any },
            Shape::Value(basic, restriction) => {
                let restriction = match restriction {
                    Some(own) => Some(Arc::clone(own)),
                    None => Restriction::of_basic(*basic).map(Arc::new),
                };
                let part = restriction.map_or(Part::Any, |values| Part::One(*basic, values));
                Rule { size: basic.size(), part }
            }
            Shape::Repeated(count, inner) => {
                let inner = self.of(inner);
                let count_here = usize::try_from(*count).unwrap_or(usize::MAX);
                let size = inner.size.saturating_mul(count_here);
                let is_any = inner.is_any();
                Rule { size, part: if is_any { Part::Any } else { Part::Array(*count, inner) } }
            }
            Shape::Structure(members, _) => {
                let fields: Vec<(String, Rc<Rule>)> =
                    members.iter().map(|one| (one.name.clone(), self.of(&one.shape))).collect();
                let size = fields.iter().map(|(_, rule)| rule.size).fold(0, usize::saturating_add);
                let is_any = fields.iter().all(|(_, rule)| rule.is_any());
                Rule { size, part: if is_any { Part::Any } else { Part::Fields(fields) } }
            }
            Shape::Meant(_, fields) => self.make(fields),
        }
    }

    /// The rule for a value with a meaning.
    fn meant(&mut self, meaning: Meaning, fields: &Shape) -> Rc<Rule> {
        let inside = self.of(fields);
        let part = match meaning {
            Meaning::Text => Part::Text,
            Meaning::List { capacity } => Part::List(capacity, self.of(fields.item(capacity))),
            Meaning::Optional => Part::Optional(self.of(fields.item(1))),
            _ => return inside,
        };
        Rc::new(Rule { size: inside.size, part })
    }
}

impl Rule {
    fn is_any(&self) -> bool {
        matches!(self.part, Part::Any)
    }

    /// Checks the packed bytes of one value, of which there are `size`.
    fn check(&self, bytes: &[u8]) -> Result<(), Invalid> {
        let here = |reason: String| Err(Invalid { path: String::new(), reason });
        match &self.part {
            Part::Any => Ok(()),
            Part::One(basic, values) => {
                let value = unsigned(&bytes[..basic.size()]);
                if values.accepts(value) {
                    return Ok(());
                }
                here(format!("{value:#x} is not a valid {}", values.name))
            }
            Part::Array(count, element) => element.check_all(*count, bytes),
            Part::Fields(fields) => {
                let mut rest = bytes;
                for (name, rule) in fields {
                    let (this, after) = rest.split_at(rule.size);
                    rule.check(this).map_err(|invalid| invalid.inside(&format!(".{name}")))?;
                    rest = after;
                }
                Ok(())
            }
            Part::Text => {
                let (length, text) = counted(bytes);
                let text = usize::try_from(length).ok().and_then(|length| text.get(..length));
                match text.map(str::from_utf8) {
                    Some(Ok(_)) => Ok(()),
                    Some(Err(error)) => here(format!("not a valid FixedStr: {error}")),
                    None => {
                        let capacity = self.size - 4;
                        here(format!(
                            "not a valid FixedStr: the length is {length}, and the capacity {capacity}"
                        ))
                    }
                }
            }
            Part::List(capacity, item) => {
                let (length, items) = counted(bytes);
                if u64::from(length) > *capacity {
                    return here(format!(
                        "not a valid FixedVec: the length is {length}, and the capacity {capacity}"
                    ));
                }
                item.check_all(length.into(), items).map_err(|invalid| invalid.inside(".items"))
            }
            Part::Optional(value) => match bytes.split_first() {
                Some((0, _)) | None => Ok(()),
                Some((1, bytes)) => value.check(bytes).map_err(|invalid| invalid.inside(".value")),
                Some((other, _)) => here(format!("{other:#x} is not a valid bool"))
                    .map_err(|invalid: Invalid| invalid.inside(".present")),
            },
        }
    }

    /// Checks so many values, one after another.
    fn check_all(&self, count: u64, bytes: &[u8]) -> Result<(), Invalid> {
        if self.is_any() || self.size == 0 {
            return Ok(());
        }
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        for (index, bytes) in bytes.chunks_exact(self.size).take(count).enumerate() {
            self.check(bytes).map_err(|invalid| invalid.inside(&format!("[{index}]")))?;
        }
        Ok(())
    }
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
