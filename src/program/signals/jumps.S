// setjmp(), __sigsetjmp(), getcontext(), swapcontext(): what these record is a frame of their caller, so a function of C++
// cannot stand before them. jumps.cpp has what they do for a rank.
#if defined(__x86_64__)
    .text
    .p2align 4
    .globl setjmp
    .type setjmp, @function
setjmp:
    .cfi_startproc
    endbr64
    movl $1, %esi
    jmp .Lsave
    .cfi_endproc
    .size setjmp, .-setjmp

    .globl __sigsetjmp
    .type __sigsetjmp, @function
__sigsetjmp:
    .cfi_startproc
    endbr64
.Lsave:
    pushq %rdi
    .cfi_def_cfa_offset 16
    pushq %rsi
    .cfi_def_cfa_offset 24
    subq $8, %rsp
    .cfi_def_cfa_offset 32
    call sorrel_before_setjmp
    addq $8, %rsp
    .cfi_def_cfa_offset 24
    popq %rsi
    .cfi_def_cfa_offset 16
    popq %rdi
    .cfi_def_cfa_offset 8
    jmp *%rax
    .cfi_endproc
    .size __sigsetjmp, .-__sigsetjmp

// void* sorrel_call_setjmp(function, buffer): the stack pointer that the buffer has then.
    .globl sorrel_call_setjmp
    .hidden sorrel_call_setjmp
    .type sorrel_call_setjmp, @function
sorrel_call_setjmp:
    .cfi_startproc
    subq $8, %rsp
    .cfi_def_cfa_offset 16
    movq %rdi, %rax
    movq %rsi, %rdi
    xorl %esi, %esi
    call *%rax
    movq %rsp, %rax
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size sorrel_call_setjmp, .-sorrel_call_setjmp

    .globl getcontext
    .type getcontext, @function
getcontext:
    .cfi_startproc
    endbr64
    subq $24, %rsp
    .cfi_def_cfa_offset 32
    movq %rdi, 8(%rsp)
    call sorrel_real_getcontext
    movq 8(%rsp), %rdi
    call *%rax
    movq 8(%rsp), %rdi
    movl %eax, %esi
    movq 24(%rsp), %rdx
    leaq 32(%rsp), %rcx
    call sorrel_after_getcontext
    addq $24, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size getcontext, .-getcontext

    .globl swapcontext
    .type swapcontext, @function
swapcontext:
    .cfi_startproc
    endbr64
    subq $24, %rsp
    .cfi_def_cfa_offset 32
    movq %rdi, 8(%rsp)
    movq %rsi, 16(%rsp)
    call sorrel_plain_swapcontext
    testq %rax, %rax
    je .Ltwo_steps
    movq 8(%rsp), %rdi
    movq 16(%rsp), %rsi
    addq $24, %rsp
    .cfi_def_cfa_offset 8
    jmp *%rax
.Ltwo_steps:
    .cfi_def_cfa_offset 32
    call sorrel_real_getcontext
    movq 8(%rsp), %rdi
    call *%rax
    movq 8(%rsp), %rdi
    movl %eax, %esi
    movq 24(%rsp), %rdx
    leaq 32(%rsp), %rcx
    call sorrel_after_getcontext
    testl %eax, %eax
    jne .Lswap_failed
    movq 16(%rsp), %rdi
    call sorrel_enter_context
.Lswap_failed:
    addq $24, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size swapcontext, .-swapcontext
    .section .note.GNU-stack, "", @progbits
#elif defined(__aarch64__)
    .text
    .p2align 2
    .globl setjmp
    .type setjmp, %function
setjmp:
    .cfi_startproc
    mov w1, #1
    b .Lsave
    .cfi_endproc
    .size setjmp, .-setjmp

    .globl __sigsetjmp
    .type __sigsetjmp, %function
__sigsetjmp:
    .cfi_startproc
.Lsave:
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    stp x0, x1, [sp, #16]
    bl sorrel_before_setjmp
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_restore 30
    .cfi_restore 29
    .cfi_def_cfa_offset 0
    br x16
    .cfi_endproc
    .size __sigsetjmp, .-__sigsetjmp

// void* sorrel_call_setjmp(function, buffer): the stack pointer that the buffer has then.
    .globl sorrel_call_setjmp
    .hidden sorrel_call_setjmp
    .type sorrel_call_setjmp, %function
sorrel_call_setjmp:
    .cfi_startproc
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 29, -16
    .cfi_offset 30, -8
    mov x16, x0
    mov x0, x1
    mov w1, #0
    blr x16
    mov x0, sp
    ldp x29, x30, [sp], #16
    .cfi_restore 30
    .cfi_restore 29
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size sorrel_call_setjmp, .-sorrel_call_setjmp

    .globl getcontext
    .type getcontext, %function
getcontext:
    .cfi_startproc
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    str x0, [sp, #16]
    bl sorrel_real_getcontext
    mov x16, x0
    ldr x0, [sp, #16]
    blr x16
    mov w1, w0
    ldr x0, [sp, #16]
    ldr x2, [sp, #8]
    add x3, sp, #32
    bl sorrel_after_getcontext
    ldp x29, x30, [sp], #32
    .cfi_restore 30
    .cfi_restore 29
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size getcontext, .-getcontext

    .globl swapcontext
    .type swapcontext, %function
swapcontext:
    .cfi_startproc
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset 29, -32
    .cfi_offset 30, -24
    stp x0, x1, [sp, #16]
    bl sorrel_plain_swapcontext
    cbz x0, .Ltwo_steps
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_remember_state
    .cfi_restore 30
    .cfi_restore 29
    .cfi_def_cfa_offset 0
    br x16
.Ltwo_steps:
    .cfi_restore_state
    bl sorrel_real_getcontext
    mov x16, x0
    ldr x0, [sp, #16]
    blr x16
    mov w1, w0
    ldr x0, [sp, #16]
    ldr x2, [sp, #8]
    add x3, sp, #32
    bl sorrel_after_getcontext
    cbnz w0, .Lswap_failed
    ldr x0, [sp, #24]
    bl sorrel_enter_context
.Lswap_failed:
    ldp x29, x30, [sp], #32
    .cfi_restore 30
    .cfi_restore 29
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size swapcontext, .-swapcontext
    .section .note.GNU-stack, "", %progbits
#endif
