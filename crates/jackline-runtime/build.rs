//! Compiles the packs: their texts become bytes that a hook uses where they lie, instead of reading them at each call.

use std::path::{Path, PathBuf};
use std::{env, fs};

use jackline_core::packs::{PACKS, compile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no directory to write to")?);
    let mut table = String::from("&[\n");
    for pack in PACKS {
        let bytes = compile(pack).ok_or_else(|| format!("the pack `{}` is more than rules", pack.name))?;
        table.push_str(&row(&out, pack.name, &bytes)?);
    }
    table.push_str("]\n");
    Ok(fs::write(out.join("packs.rs"), table)?)
}

fn row(out: &Path, name: &str, bytes: &[u8]) -> std::io::Result<String> {
    let file = out.join(format!("{name}.pack"));
    fs::write(&file, bytes)?;
    Ok(format!("    ({name:?}, include_bytes!({file:?})),\n"))
}
