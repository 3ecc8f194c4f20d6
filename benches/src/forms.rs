//! Structs of other forms than the padded ones: wide, of many small fields, without padding, with skipped fields.

use crate::shape;

shape! {
    /// 69 bytes of 72: more than a vector register has.
    Wide = "8f64,u32,u8" { values: [f64; 8], id: u32, kind: u8, }
    places {
        values[0]: f64, values[1]: f64, values[2]: f64, values[3]: f64,
        values[4]: f64, values[5]: f64, values[6]: f64, values[7]: f64,
        id: u32, kind: u8,
    }
}

shape! {
    /// 198 bytes of 208: several cache lines, with padding in the middle and at the end.
    Widest = "u16,24f64,u32" { kind: u16, values: [f64; 24], id: u32, }
    places {
        kind: u16,
        values[0]: f64, values[1]: f64, values[2]: f64, values[3]: f64, values[4]: f64, values[5]: f64,
        values[6]: f64, values[7]: f64, values[8]: f64, values[9]: f64, values[10]: f64, values[11]: f64,
        values[12]: f64, values[13]: f64, values[14]: f64, values[15]: f64, values[16]: f64, values[17]: f64,
        values[18]: f64, values[19]: f64, values[20]: f64, values[21]: f64, values[22]: f64, values[23]: f64,
        id: u32,
    }
}

shape! {
    /// 24 bytes of 40: many small fields.
    Small12 = "12 small" {
        a: u8, b: u16, c: u8, d: u32, e: u8, f: i16, g: u8, h: u8, i: u32, j: u16, k: u8, l: u32,
    }
    places {
        a: u8, b: u16, c: u8, d: u32, e: u8, f: i16, g: u8, h: u8, i: u32, j: u16, k: u8, l: u32,
    }
}

shape! {
    /// 24 bytes of 24: no padding.
    Dense = "u64,f64,u32,u32" { a: u64, b: f64, c: u32, d: u32, }
    places { a: u64, b: f64, c: u32, d: u32, }
}

shape! {
    /// 13 bytes of 40: two fields are skipped.
    Partial = "f64,-,u32,-,u8" {
        a: f64,
        #[dtype(skip)]
        cache: u64,
        b: u32,
        #[dtype(skip)]
        owner: u64,
        c: u8,
    }
    places { a: f64, b: u32, c: u8, }
}
