//! Keeps our open files from what this thread starts: the standard library's are closed by themselves, those of other
//! code and those we were started with are not.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "there is no safe interface to `close_range`; it is called once, below")
)]

/// From now on, whatever this thread starts inherits nothing beyond the three standard streams.
///
/// The thread gets a table of open files of its own first, so that nothing changes for the other threads. What is
/// opened here can be used here alone, and what others open later is not seen here.
#[cfg(target_os = "linux")]
pub(super) fn keep() -> Result<(), String> {
    const FIRST: libc::c_uint = 3;
    const FLAGS: libc::c_uint = libc::CLOSE_RANGE_UNSHARE | libc::CLOSE_RANGE_CLOEXEC;
    // SAFETY: takes three integers and no pointer. It closes nothing: it copies the table for this thread and marks
    // the copies. Every number that is valid now stays valid here, for the same file.
    let kept = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, FLAGS) };
    if kept == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().to_string()) }
}

/// Elsewhere there is no such thing for one thread alone.
#[cfg(not(target_os = "linux"))]
pub(super) fn keep() -> Result<(), String> {
    Err("only Linux can".to_owned())
}
