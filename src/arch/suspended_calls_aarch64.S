// A call whose frame description names the registers of a saved context (context_aarch64.S has its layout) as the caller's.
// The processor itself returns as usual: the description is for unwinders only.
#if defined(__aarch64__)
    .text
    .globl sorrel_call_behind_context
    .hidden sorrel_call_behind_context
    .type sorrel_call_behind_context, %function
sorrel_call_behind_context:
    .cfi_startproc
    stp x29, x30, [sp, #-32]!
    str x19, [sp, #16]
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    .cfi_offset x19, -16
    mov x19, x0
    mov x0, x2
    .cfi_remember_state
    .cfi_def_cfa x19, 176
    .cfi_offset x19, -176
    .cfi_offset x20, -168
    .cfi_offset x21, -160
    .cfi_offset x22, -152
    .cfi_offset x23, -144
    .cfi_offset x24, -136
    .cfi_offset x25, -128
    .cfi_offset x26, -120
    .cfi_offset x27, -112
    .cfi_offset x28, -104
    .cfi_offset x29, -96
    .cfi_offset x30, -88
    blr x1
    nop
    .cfi_restore_state
    ldr x19, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_def_cfa_offset 0
    .cfi_restore x19
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_endproc
    .size sorrel_call_behind_context, .-sorrel_call_behind_context
#endif
// Needed for other architectures, too: without this section, the linker makes every stack executable.
    .section .note.GNU-stack, "", %progbits
