//! How the distribution build reads the clock: by a call into the kernel. Its C library would first look for the function that
//! the kernel has in every process for that, whose page and whose data have to be mapped before it answers: a hook reads
//! the clock twice, and pays more for the way than for all answers.

#![expect(unsafe_code, reason = "this is the C library's own function, which the standard library calls")]

use std::ffi::c_int;

#[unsafe(no_mangle)]
extern "C" fn clock_gettime(clock: libc::clockid_t, to: *mut libc::timespec) -> c_int {
    // SAFETY: the kernel is given what the caller gave, and refuses a place that it cannot write to.
    let answer = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, to) };
    c_int::try_from(answer).unwrap_or(-1)
}
