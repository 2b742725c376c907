//! Lets go of the pages of the program's own file that a process which stays has mapped: those that it goes on using come back
//! from the page cache when they are next touched, and those that only its start needed do not.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "the C library tells by a callback where the program lies, and pages go by address")
)]

/// Lets go of the program's code and constants. Where that cannot be done, nothing changes.
pub(crate) fn unload() {
    #[cfg(target_os = "linux")]
    // SAFETY: the callback has the signature that is asked for, and uses what it is given only while it runs.
    unsafe {
        libc::dl_iterate_phdr(Some(of_program), std::ptr::null_mut());
    }
}

/// Is called with each object in memory, the program itself first; anything but 0 ends that.
#[cfg(target_os = "linux")]
unsafe extern "C" fn of_program(
    object: *mut libc::dl_phdr_info,
    _bytes: usize,
    _data: *mut std::ffi::c_void,
) -> std::ffi::c_int {
    // SAFETY: the C library gives a valid object, with as many segments as it says.
    let (base, segments) = unsafe {
        let object = &*object;
        (object.dlpi_addr, std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)))
    };
    // What cannot be written no relocation touches either, so it is as it is in the file.
    let is_as_in_the_file = |flags: u32| flags & libc::PF_R != 0 && flags & libc::PF_W == 0;
    for segment in segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD) {
        if let (true, Ok(from), Ok(bytes)) = (
            is_as_in_the_file(segment.p_flags),
            usize::try_from(base + segment.p_vaddr),
            usize::try_from(segment.p_filesz),
        ) {
            let_go(from, from + bytes);
        }
    }
    1
}

/// Lets go of the whole pages between two addresses of such a segment.
#[cfg(target_os = "linux")]
fn let_go(from: usize, to: usize) {
    // SAFETY: to ask for a setting is always allowed.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Some(page) = usize::try_from(page).ok().filter(|page| page.is_power_of_two()) else { return };
    let (from, to) = (from.next_multiple_of(page), to & !(page - 1));
    // SAFETY: nobody writes to these pages: they hold what the file holds, and are read from it again.
    unsafe { libc::madvise(from as *mut std::ffi::c_void, to.saturating_sub(from), libc::MADV_DONTNEED) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_goes_on_without_its_pages() {
        let words = ["constants", "stay"];
        unload();
        assert_eq!(words.join(" "), "constants stay");
    }
}
