# Where the distribution build begins: the hook's code is asked for by a large page before any of it runs. A file that the system
# has to read again, as after a start of the machine, is then read in one piece there, and mapped so; where it cannot be, nothing
# is lost. Linked by `link.rs`; nothing but the processor's first registers is there yet.
    .section .text.jackline_start, "ax", @progbits
    .globl jackline_start
jackline_start:
    movl $28, %eax                  # madvise
    movl $jackline_hook, %edi
    movl $jackline_hook_bytes, %esi
    movl $14, %edx                  # MADV_HUGEPAGE
    syscall
    xorl %edx, %edx                 # what the kernel leaves there for programs that are loaded: nothing
    jmp _start
    .section .note.GNU-stack, "", @progbits
