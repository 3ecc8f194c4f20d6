//! Types of other crates, each enabled by the feature with the crate's name.

use dtype_runtime::{Basic, Datatype, Type, pack, runs, unpack};
use half::{bf16, f16};
use num_complex::Complex;

#[derive(Datatype, Clone, Debug, PartialEq)]
#[repr(C)]
struct Spectrum {
    gain: f16,
    weight: bf16,
    flag: u8,
    single: Complex<f32>,
    double: [Complex<f64>; 2],
}

#[test]
fn types_of_other_crates_are_basic_datatypes() {
    let basics: Vec<Basic> = Type::of::<Spectrum>().type_map().map(|entry| entry.basic).collect();
    assert_eq!(basics, [Basic::F16, Basic::Bf16, Basic::U8, Basic::C32, Basic::C64, Basic::C64]);
    assert_eq!(runs::<Spectrum>().len(), 2 + 2 + 1 + 8 + 32);
    // A complex number has another signature than a pair of floats.
    let pair = <(f32, f32)>::TYPE_MAP.signature_hash();
    assert_ne!(Complex::<f32>::TYPE_MAP.signature_hash(), pair);
}

#[test]
fn types_of_other_crates_are_packed_and_unpacked() {
    let spectra: Vec<Spectrum> = (0_u8..9)
        .map(|i| Spectrum {
            gain: f16::from_f32(f32::from(i) / 8.0),
            weight: bf16::from_f32(-f32::from(i)),
            flag: i,
            single: Complex::new(f32::from(i), 0.5),
            double: [Complex::new(1.0, f64::from(i)), Complex::new(f64::MIN, f64::MAX)],
        })
        .collect();
    let bytes = pack(&spectra);
    assert_eq!(bytes.len(), 9 * 45);
    assert_eq!(bytes[..2], spectra[0].gain.to_ne_bytes());
    assert_eq!(bytes[5..9], spectra[0].single.re.to_ne_bytes());
    assert_eq!(unpack::<Spectrum>(&bytes).unwrap(), spectra);
}
