//! Gives the shared library that cargo builds the name that `link.sh` gives the installed one.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtapewise.so.0");
}
