// What a variant holds has to be a message itself.

use dtype_message::Messages;

struct NotADatatype(u8);

#[derive(Messages)]
enum Packet {
    Unknown(NotADatatype),
}

fn main() {}
