// A variant of an enum of messages gets the advice that a field of a struct gets, once for each variant.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::SystemTime;

use dtype_message::Messages;

#[derive(Messages)]
enum Owned {
    Text(&'static str),
    Bytes(&'static [u8]),
    Records(Vec<&'static u8>),
    Pointer(*const u8),
    Function(fn()),
    Object(Box<dyn Send>),
}

#[derive(Messages)]
enum Map {
    Map(HashMap<String, u8>),
}

#[derive(Messages)]
enum Kinds {
    Optional(Option<u8>),
    Boxed(Box<u8>),
    Shared(Rc<u8>),
    Changing(Cell<u8>),
    At(SystemTime),
    Texts(Vec<String>),
    Optionals(Vec<Option<u8>>),
}

fn main() {}
