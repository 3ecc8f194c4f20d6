//! Links Yaksa. MPICH's shared library hides its functions; the static one has them.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-link-arg=-l:libmpich.a");
}
