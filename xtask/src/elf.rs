//! What a program's file says about how it starts: whether it is static, at a fixed address, and without relocations; and
//! where its functions begin. Reads 64-bit little-endian ELF files.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod names;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) use names::functions;

/// `e_type` of a program at a fixed address.
const EXECUTABLE: u16 = 2;
/// `p_type` of the table that a loader reads: a static program at a fixed address has none.
const DYNAMIC: u32 = 2;
/// `p_type` of the loader's name.
const INTERPRETER: u32 = 3;
/// `sh_type` of relocations with and without addends, and of the packed form.
const RELOCATIONS: [u32; 3] = [4, 9, 19];
/// Bytes of one relocation with its addend: `.rela.dyn` with less holds none.
const RELOCATION_BYTES: u64 = 24;

/// Complains about whatever would cost time at each start.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    if bytes.get(..6) != Some(b"\x7fELF\x02\x01") {
        return Err("the build is no 64-bit little-endian ELF file".to_owned());
    }
    if half(bytes, 16) != Some(EXECUTABLE) {
        return Err("the build is position-independent".to_owned());
    }
    let types = headers(bytes, (32, 54, 56), 0)?;
    if types.iter().any(|(kind, _)| [DYNAMIC, INTERPRETER].contains(kind)) {
        return Err("the build is dynamic".to_owned());
    }
    let sections = headers(bytes, (40, 58, 60), 4)?;
    let relocated: u64 = sections.iter().filter(|(kind, _)| RELOCATIONS.contains(kind)).map(|(_, size)| size).sum();
    if relocated >= RELOCATION_BYTES {
        return Err(format!("the build has {} relocations", relocated / RELOCATION_BYTES));
    }
    Ok(())
}

/// The types of a table's entries with their sizes in the file, given where the file's header keeps the table's
/// offset, entry size and count, and where an entry keeps its type.
fn headers(bytes: &[u8], (offset, size, count): (usize, usize, usize), at: usize) -> Result<Vec<(u32, u64)>, String> {
    let read = || {
        let entries = entries(bytes, (offset, size, count))?.into_iter();
        entries.map(|entry| Some((word(bytes, entry + at)?, long(bytes, entry + 32)?))).collect::<Option<Vec<_>>>()
    };
    read().ok_or_else(|| "the build's headers cannot be read".to_owned())
}

/// Where a table's entries begin.
fn entries(bytes: &[u8], (offset, size, count): (usize, usize, usize)) -> Option<Vec<usize>> {
    let (start, size) = (usize::try_from(long(bytes, offset)?).ok()?, usize::from(half(bytes, size)?));
    Some((0..usize::from(half(bytes, count)?)).map(|entry| start + entry * size).collect())
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of headers alone: its type, the type of its one program header, and type and size of its one section.
    fn file(kind: u16, program: u32, section: (u32, u64)) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56 + 64];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, b"\x7fELF\x02\x01");
        put(16, &kind.to_le_bytes());
        put(32, &64_u64.to_le_bytes());
        put(40, &120_u64.to_le_bytes());
        for (at, field) in [(54, 56_u16), (56, 1), (58, 64), (60, 1)] {
            put(at, &field.to_le_bytes());
        }
        put(64, &program.to_le_bytes());
        put(124, &section.0.to_le_bytes());
        put(152, &section.1.to_le_bytes());
        bytes
    }

    #[track_caller]
    fn complains(bytes: &[u8], about: &str) {
        let said = check(bytes).unwrap_err();
        assert!(said.contains(about), "{said}");
    }

    #[test]
    fn only_a_static_program_at_a_fixed_address_passes() {
        assert_eq!(check(&file(EXECUTABLE, 1, (1, 4096))), Ok(()));
        assert_eq!(check(&file(EXECUTABLE, 1, (4, 0))), Ok(()));
        complains(&file(3, 1, (1, 0)), "position-independent");
        complains(&file(EXECUTABLE, DYNAMIC, (1, 0)), "dynamic");
        complains(&file(EXECUTABLE, INTERPRETER, (1, 0)), "dynamic");
        complains(&file(EXECUTABLE, 1, (4, 48)), "2 relocations");
    }

    #[test]
    fn what_is_no_program_is_told() {
        complains(b"#!/bin/sh\n", "no 64-bit");
        complains(&file(EXECUTABLE, 1, (1, 0))[..100], "headers");
    }
}
