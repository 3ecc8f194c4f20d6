//! Links to libucp. The crate can be checked and documented without the library: only the linker needs it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=UCX_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let folders = match env::var_os("UCX_DIR") {
        Some(root) => vec![Path::new(&root).join("lib")],
        None => known_to_pkg_config().unwrap_or_else(usual_folders),
    };
    if let Some(folder) = folders.iter().find(|folder| folder.join("libucp.so").exists()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
    } else {
        let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        println!(
            "cargo:warning=libucp.so was not found in {}: programs with dtype-ucx will not link. Install UCX 1.13 or \
             later (Debian's libucx-dev), or set UCX_DIR to the folder that it was installed to",
            folders.join(", ")
        );
    }
    println!("cargo:rustc-link-lib=ucp");
    println!("cargo:rustc-link-lib=ucs");
}

/// The folder that UCX's file for pkg-config names.
fn known_to_pkg_config() -> Option<Vec<PathBuf>> {
    let output = Command::new("pkg-config").args(["--variable=libdir", "ucx"]).output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    let folder = folder.trim();
    (output.status.success() && !folder.is_empty()).then(|| vec![PathBuf::from(folder)])
}

/// Where distributions install libraries.
fn usual_folders() -> Vec<PathBuf> {
    let machine = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let debian = format!("/usr/lib/{machine}-linux-gnu");
    ["/usr/local/lib", &debian, "/usr/lib64", "/usr/lib"].map(PathBuf::from).to_vec()
}
