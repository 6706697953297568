// Context switch for x86_64, System V ABI: rbx, rbp, r12-r15, the SSE and the x87 control words are callee-saved.
// Frame, from the saved stack pointer up: mxcsr(4) fcw(2) pad(2) r15 r14 r13 r12 rbx rbp return-address.
// The control words are written back only when they differ: ldmxcsr and fldcw stall the pipeline.
#if defined(__x86_64__)
    .text
    .globl sorrel_switch_context
    .hidden sorrel_switch_context
    .type sorrel_switch_context, @function
    .p2align 6
sorrel_switch_context:
    .cfi_startproc
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movl (%rsp), %eax
    movzwl 4(%rsp), %ecx
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    cmpl (%rsp), %eax
    jne 3f
1:  cmpw 4(%rsp), %cx
    jne 4f
2:  movq 8(%rsp), %r15
    movq 16(%rsp), %r14
    movq 24(%rsp), %r13
    movq 32(%rsp), %r12
    movq 40(%rsp), %rbx
    movq 48(%rsp), %rbp
    addq $56, %rsp
    ret
3:  ldmxcsr (%rsp)
    jmp 1b
4:  fldcw 4(%rsp)
    jmp 2b
    .cfi_endproc
    .size sorrel_switch_context, .-sorrel_switch_context

// First code of a fresh context: r12 is the entry, r13 its argument. The undefined return address ends backtraces.
    .globl sorrel_context_start
    .hidden sorrel_context_start
    .type sorrel_context_start, @function
sorrel_context_start:
    .cfi_startproc
    .cfi_undefined rip
    movq %r13, %rdi
    xorl %ebp, %ebp
    callq *%r12
    ud2
    .cfi_endproc
    .size sorrel_context_start, .-sorrel_context_start
    .section .note.GNU-stack, "", @progbits
#endif
