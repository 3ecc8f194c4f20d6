//! UCX's settings, from the environment or the program.

use std::ffi::{CString, c_char};
use std::ptr;
use std::slice;

use crate::error::{Error, check};
use crate::raw;

/// The line that UCX prints if its new protocols are enabled, whatever the spelling of the setting.
const ENABLED: &[u8] = b"UCX_PROTO_ENABLE=y";

/// Settings that can be read and changed before a context is made.
pub(crate) struct Config(raw::Config);

impl Config {
    /// Reads the settings from the environment variables.
    pub(crate) fn read() -> Result<Self, Error> {
        let mut config = ptr::null_mut();
        // SAFETY: without a prefix and a file, UCX reads the environment.
        let status = unsafe { raw::ucp_config_read(ptr::null(), ptr::null(), &raw mut config) };
        check("ucp_config_read", status)?;
        Ok(Self(config))
    }

    /// Changes a setting.
    pub(crate) fn set(&self, name: &str, value: &str) -> Result<(), Error> {
        let refused = || Error::Setting { name: name.to_owned(), value: value.to_owned() };
        let texts = (CString::new(name), CString::new(value));
        let (Ok(c_name), Ok(c_value)) = texts else { return Err(refused()) };
        // SAFETY: the configuration was read, and UCX copies the texts.
        let status = unsafe { raw::ucp_config_modify(self.0, c_name.as_ptr(), c_value.as_ptr()) };
        check("ucp_config_modify", status).map_err(|_| refused())
    }

    pub(crate) fn handle(&self) -> raw::Config {
        self.0
    }

    /// Whether UCX's new protocols are enabled (`PROTO_ENABLE`).
    pub(crate) fn has_new_protocols(&self) -> bool {
        let flags = raw::CONFIG_PRINT_CONFIG | raw::CONFIG_PRINT_HIDDEN;
        let (mut text, mut len) = (ptr::null_mut::<c_char>(), 0);
        // UCX has no call that returns a setting, but one that prints all. SAFETY: the configuration was read. The stream is
        // closed after UCX has written to it; the memory then has `len` bytes, which are freed after their last use.
        unsafe {
            let stream = raw::open_memstream(&raw mut text, &raw mut len);
            if stream.is_null() {
                // No memory for a few lines: the answer that is safe in either case.
                return true;
            }
            raw::ucp_config_print(self.0, stream, ptr::null(), flags);
            raw::fclose(stream);
            if text.is_null() {
                return true;
            }
            let printed = slice::from_raw_parts(text.cast_const().cast::<u8>(), len);
            let enabled = printed.split(|&byte| byte == b'\n').any(|line| line == ENABLED);
            raw::free(text.cast());
            enabled
        }
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: the configuration was read, and a context keeps a copy of what it needs.
        unsafe { raw::ucp_config_release(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use crate::{Context, Error};

    #[test]
    fn new_protocols_are_noticed_however_they_are_spelled() {
        let has = |settings: &[(&str, &str)]| {
            let context = Context::with_settings(settings.iter().copied())?;
            Ok::<_, Error>(context.has_new_protocols())
        };
        for yes in ["y", "Y", "yes", "1"] {
            assert_eq!(has(&[("PROTO_ENABLE", yes)]), Ok(true), "{yes}");
            assert_eq!(has(&[("PROTO_ENABLE", yes), ("PROTO_ENABLE", "n")]), Ok(false));
        }
        for no in ["n", "no", "0"] {
            assert_eq!(has(&[("PROTO_ENABLE", no)]), Ok(false), "{no}");
        }
    }
}
