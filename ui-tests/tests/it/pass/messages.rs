// An enum of messages, in a module with names of its own.

const MOST: u64 = 2;

mod packets {
    #![forbid(unsafe_code)]
    #![deny(missing_docs, missing_debug_implementations, unreachable_pub, clippy::pedantic)]

    type Result = u8;
    #[allow(dead_code, reason = "a name that the derive must not pick up")]
    type Vec = Result;

    #[derive(Debug, PartialEq, dtype_message::Messages)]
    #[dtype(crate = dtype_message)]
    pub(crate) enum Packet {
        Bytes(std::vec::Vec<u8>),
        #[dtype(tag = 0x7fff_ffff)]
        r#Type(String),
        Nothing,
        Number(u32),
        #[dtype(max_records = super::MOST, max_text_bytes = 1 + 1, max_payload_bytes = 3)]
        Headed(u8, std::vec::Vec<u8>),
        Named {
            r#type: u8,
            text: String,
        },
        Empty {},
        Braces(),
    }
}

#[test]
fn main() {
    use dtype_message::{Framing, Limits};
    use packets::Packet;

    let packets = [
        Packet::Bytes(vec![1, 2]),
        Packet::r#Type("text".to_owned()),
        Packet::Nothing,
        Packet::Number(7),
        Packet::Headed(1, vec![2, 3]),
        Packet::Named { r#type: 1, text: "text".to_owned() },
        Packet::Empty {},
        Packet::Braces(),
    ];
    for packet in packets {
        let mut bytes = Vec::new();
        dtype_message::encode(&mut bytes, &packet, Framing::new()).unwrap();
        let read = dtype_message::decode::<Packet>(&mut &bytes[..], &Limits::new()).unwrap();
        assert_eq!(read, Some(packet));
    }
}
