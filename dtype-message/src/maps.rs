//! The type maps of the kinds of message.

use dtype_runtime::TypeMap;

/// The maps of the kinds of message, for each tag that of the head, if there is one, and that of the records.
#[derive(Debug, Default)]
pub struct Maps(pub(crate) Vec<(u32, Option<&'static TypeMap>, &'static TypeMap)>);

impl Maps {
    pub(crate) fn insert(
        &mut self,
        tag: u32,
        head: Option<&'static TypeMap>,
        records: &'static TypeMap,
    ) {
        self.0.push((tag, head, records));
    }
}
