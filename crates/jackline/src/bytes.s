# How bytes are copied, filled and compared, for processors of x86-64 and what every one of them can. Short pieces, which nearly
# all are, take one load and one store at each end, which may overlap; long ones go by 64 or 16 bytes.

.section .text.jackline_bytes, "ax", @progbits
.globl jackline_copy
.globl jackline_fill
.globl jackline_compare

# (to: rdi, from: rsi, bytes: rdx) -> to. The two may overlap: all of a short piece is loaded before any of it is stored, and long
# ones are copied from the end that is not written to first.
.p2align 4
.type jackline_copy, @function
jackline_copy:
    mov rax, rdi
    cmp rdx, 16
    jb 20f
    cmp rdx, 32
    ja 10f
    movups xmm0, [rsi]
    movups xmm1, [rsi + rdx - 16]
    movups [rdi], xmm0
    movups [rdi + rdx - 16], xmm1
    ret
10: cmp rdx, 64
    ja 11f
    movups xmm0, [rsi]
    movups xmm1, [rsi + 16]
    movups xmm2, [rsi + rdx - 32]
    movups xmm3, [rsi + rdx - 16]
    movups [rdi], xmm0
    movups [rdi + 16], xmm1
    movups [rdi + rdx - 32], xmm2
    movups [rdi + rdx - 16], xmm3
    ret
11: mov rcx, rdi
    sub rcx, rsi
    cmp rcx, rdx
    jb 13f
    movups xmm4, [rsi + rdx - 64]
    movups xmm5, [rsi + rdx - 48]
    movups xmm6, [rsi + rdx - 32]
    movups xmm7, [rsi + rdx - 16]
    lea r8, [rdi + rdx - 64]
12: movups xmm0, [rsi]
    movups xmm1, [rsi + 16]
    movups xmm2, [rsi + 32]
    movups xmm3, [rsi + 48]
    add rsi, 64
    movups [rdi], xmm0
    movups [rdi + 16], xmm1
    movups [rdi + 32], xmm2
    movups [rdi + 48], xmm3
    add rdi, 64
    cmp rdi, r8
    jb 12b
    movups [r8], xmm4
    movups [r8 + 16], xmm5
    movups [r8 + 32], xmm6
    movups [r8 + 48], xmm7
    ret
13: movups xmm4, [rsi]
    movups xmm5, [rsi + 16]
    movups xmm6, [rsi + 32]
    movups xmm7, [rsi + 48]
    add rsi, rdx
    lea r8, [rdi + rdx]
    lea rcx, [rdi + 64]
14: movups xmm0, [rsi - 16]
    movups xmm1, [rsi - 32]
    movups xmm2, [rsi - 48]
    movups xmm3, [rsi - 64]
    sub rsi, 64
    movups [r8 - 16], xmm0
    movups [r8 - 32], xmm1
    movups [r8 - 48], xmm2
    movups [r8 - 64], xmm3
    sub r8, 64
    cmp r8, rcx
    ja 14b
    movups [rdi], xmm4
    movups [rdi + 16], xmm5
    movups [rdi + 32], xmm6
    movups [rdi + 48], xmm7
    ret
20: cmp edx, 8
    jae 21f
    cmp edx, 4
    jae 22f
    test edx, edx
    je 23f
    mov r9, rdx
    shr r9
    movzx ecx, byte ptr [rsi]
    movzx r8d, byte ptr [rsi + r9]
    movzx r10d, byte ptr [rsi + rdx - 1]
    mov [rdi], cl
    mov [rdi + r9], r8b
    mov [rdi + rdx - 1], r10b
23: ret
21: mov rcx, [rsi]
    mov r8, [rsi + rdx - 8]
    mov [rdi], rcx
    mov [rdi + rdx - 8], r8
    ret
22: mov ecx, [rsi]
    mov r8d, [rsi + rdx - 4]
    mov [rdi], ecx
    mov [rdi + rdx - 4], r8d
    ret
.size jackline_copy, . - jackline_copy

# (to: rdi, byte: sil, bytes: rdx) -> to
.p2align 4
.type jackline_fill, @function
jackline_fill:
    mov rax, rdi
    movzx esi, sil
    mov rcx, 0x0101010101010101
    imul rcx, rsi
    cmp rdx, 16
    jb 30f
    movq xmm0, rcx
    punpcklqdq xmm0, xmm0
    lea r8, [rdi + rdx - 16]
24: movups [rdi], xmm0
    add rdi, 16
    cmp rdi, r8
    jb 24b
    movups [r8], xmm0
    ret
30: cmp edx, 8
    jae 31f
    cmp edx, 4
    jae 32f
    test edx, edx
    je 33f
    mov r9, rdx
    shr r9
    mov [rdi], cl
    mov [rdi + r9], cl
    mov [rdi + rdx - 1], cl
33: ret
31: mov [rdi], rcx
    mov [rdi + rdx - 8], rcx
    ret
32: mov [rdi], ecx
    mov [rdi + rdx - 4], ecx
    ret
.size jackline_fill, . - jackline_fill

# (one: rdi, other: rsi, bytes: rdx) -> the difference of the first two bytes that differ
.p2align 4
.type jackline_compare, @function
jackline_compare:
    cmp rdx, 16
    jb 44f
    xor ecx, ecx
    sub rdx, 16
40: movdqu xmm0, [rdi + rcx]
    movdqu xmm1, [rsi + rcx]
    pcmpeqb xmm0, xmm1
    pmovmskb eax, xmm0
    xor eax, 0xffff
    jnz 42f
    cmp rcx, rdx
    je 43f
    add rcx, 16
    cmp rcx, rdx
    cmova rcx, rdx
    jmp 40b
42: bsf eax, eax
    add rcx, rax
    movzx eax, byte ptr [rdi + rcx]
    movzx edx, byte ptr [rsi + rcx]
    sub eax, edx
43: ret
44: xor eax, eax
    xor ecx, ecx
45: cmp rcx, rdx
    je 46f
    movzx eax, byte ptr [rdi + rcx]
    movzx r8d, byte ptr [rsi + rcx]
    inc rcx
    sub eax, r8d
    je 45b
46: ret
.size jackline_compare, . - jackline_compare
