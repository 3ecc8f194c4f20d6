//! The modes that `DTYPE_PRELOAD` selects.

use std::env;
use std::sync::OnceLock;

use crate::boundary::say;

/// The environment variable that selects the mode.
pub const VARIABLE: &str = "DTYPE_PRELOAD";

/// The mode of this library. Without `DTYPE_PRELOAD`, the library is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "words that can be combined")]
pub struct Mode {
    /// Whether the library replaces any calls at all.
    pub on: bool,
    /// Whether the original also runs on every fragment, and the results are compared.
    pub verify: bool,
    /// Whether a report is printed at exit.
    pub stats: bool,
    /// Whether this engine also takes messages for which it is not faster.
    pub all: bool,
    /// Whether this library is loaded in all ranks, by the user's word: long messages then go to ranks that can receive them as
    /// packed bytes, which receivers of MPICH 4.0 to 4.3 alone cannot. It implies [`all`](Self::all), because no receive may be
    /// left to such a receiver.
    pub everywhere: bool,
}

impl Mode {
    /// The mode for a value of the variable, which is words separated by commas, and the first unknown word. If there is an
    /// unknown word, the library is off, and the other words have no effect.
    ///
    /// ```
    /// use dtype_preload::mode::Mode;
    /// let (mode, unknown) = Mode::parse("verify,stats");
    /// assert!(mode.on && mode.verify && mode.stats && unknown.is_none());
    /// assert!(Mode::parse("everywhere").0.all);
    /// assert_eq!(Mode::parse("of").1, Some("of"));
    /// ```
    pub fn parse(value: &str) -> (Self, Option<&str>) {
        let nothing =
            Self { on: false, verify: false, stats: false, all: false, everywhere: false };
        let mut mode = Self { on: true, ..nothing };
        for word in value.split(',').map(str::trim) {
            match word {
                "" | "on" => {}
                "off" => mode.on = false,
                "verify" => mode.verify = true,
                "stats" => mode.stats = true,
                "all" => mode.all = true,
                "everywhere" => (mode.all, mode.everywhere) = (true, true),
                unknown => return (nothing, Some(unknown)),
            }
        }
        (mode, None)
    }

    /// Whether the process reports at its end what was done, or why nothing was.
    pub fn reports(self) -> bool {
        self.verify || self.stats
    }

    /// The mode of this process. The variable is read once.
    pub fn get() -> Self {
        static MODE: OnceLock<Mode> = OnceLock::new();
        *MODE.get_or_init(|| {
            let value = env::var(VARIABLE).unwrap_or_default();
            let (mode, unknown) = Self::parse(&value);
            if let Some(word) = unknown {
                say(format_args!(
                    "dtype-preload: {VARIABLE} has the word {word:?}; it knows on, off, verify, stats, all and \
                     everywhere. Everything is left to the MPI library.\n"
                ));
            }
            mode
        })
    }
}
