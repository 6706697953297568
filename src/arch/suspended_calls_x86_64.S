// A call whose frame description names the registers of a saved context (context_x86_64.S has its layout) as the caller's.
// The processor itself returns as usual: the description is for unwinders only.
#if defined(__x86_64__)
    .text
    .globl sorrel_call_behind_context
    .hidden sorrel_call_behind_context
    .type sorrel_call_behind_context, @function
sorrel_call_behind_context:
    .cfi_startproc
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbx, 0
    movq %rdi, %rbx
    movq %rdx, %rdi
    .cfi_remember_state
    .cfi_def_cfa rbx, 64
    .cfi_offset rip, -8
    .cfi_offset rbp, -16
    .cfi_offset rbx, -24
    .cfi_offset r12, -32
    .cfi_offset r13, -40
    .cfi_offset r14, -48
    .cfi_offset r15, -56
    callq *%rsi
    nop
    .cfi_restore_state
    popq %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbx
    ret
    .cfi_endproc
    .size sorrel_call_behind_context, .-sorrel_call_behind_context
#endif
// Needed for other architectures, too: without this section, the linker makes every stack executable.
    .section .note.GNU-stack, "", %progbits
