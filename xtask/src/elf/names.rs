//! The functions of a program that was not stripped of their names.

use super::{entries, half, long, word};

/// `sh_type` of the table of names.
const SYMBOLS: u32 = 2;
/// Bytes of one entry of it, and the type of one that is a function.
const SYMBOL_BYTES: usize = 24;
const FUNCTION: u8 = 2;

/// A function that has a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) address: u64,
    /// Where in the file it begins.
    pub(crate) offset: usize,
}

/// All functions that have names; none in a file that was stripped of them.
pub(crate) fn functions(bytes: &[u8]) -> Result<Vec<Function>, String> {
    let table = |section: usize| usize::try_from(long(bytes, section + 24)?).ok();
    let read = || {
        let sections = entries(bytes, (40, 58, 60))?;
        let mut functions = Vec::new();
        for section in sections.iter().filter(|section| word(bytes, **section + 4) == Some(SYMBOLS)) {
            let names = table(*sections.get(usize::try_from(word(bytes, section + 40)?).ok()?)?)?;
            let (start, size) = (table(*section)?, usize::try_from(long(bytes, section + 32)?).ok()?);
            for symbol in (start..start + size).step_by(SYMBOL_BYTES) {
                // What is in no section is in another program's file.
                let home = Some(half(bytes, symbol + 6)?).filter(|home| *home > 0);
                let home = home.and_then(|home| sections.get(usize::from(home)));
                let (Some(home), FUNCTION) = (home, bytes.get(symbol + 4)? & 15) else { continue };
                let address = long(bytes, symbol + 8)?;
                let offset = usize::try_from(address.checked_sub(long(bytes, home + 16)?)?).ok()? + table(*home)?;
                let name = bytes.get(names + usize::try_from(word(bytes, symbol)?).ok()?..)?.split(|byte| *byte == 0);
                let name = String::from_utf8_lossy(name.into_iter().next()?).into_owned();
                functions.push(Function { name, address, offset });
            }
        }
        Some(functions)
    };
    read().ok_or_else(|| "has names that cannot be read".to_owned())
}
