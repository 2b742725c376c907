# A program to try a linker out: one function that events run with the constants that only this one names, and others of both.
    .section .text.often, "ax", @progbits
    .globl often
often:
    movl $list, %eax
    ret
    .section .text.split.often, "ax", @progbits
    .globl often.cold
often.cold:
    ret
    .section .text.seldom, "ax", @progbits
    .globl seldom
seldom:
    ret
    .section .text.never, "ax", @progbits
    .globl never
never:
    movl $other, %eax
    ret
    .section .text._start, "ax", @progbits
    .globl _start
_start:
    call often
    call seldom
    call never
    movl $60, %eax                  # exit
    xorl %edi, %edi
    syscall
    .section .rodata.list, "a", @progbits
    .globl list
list:
    .quad named
    .section .rodata.named, "a", @progbits
    .globl named
named:
    .quad 1
    .section .rodata.other, "a", @progbits
    .globl other
other:
    .quad 2
    .section .note.GNU-stack, "", @progbits
