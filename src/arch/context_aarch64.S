// Context switch for aarch64, AAPCS64: x19-x30, d8-d15 and fpcr are callee-saved.
// Frame, from the saved stack pointer up: x19..x30 (96 bytes), d8..d15 (64), fpcr (8), pad (8).
#if defined(__aarch64__)
// Into a frame below the caller's, whose address goes to [x0] and x10. fpcr is in x9.
    .macro save_registers
    sub sp, sp, #176
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mrs x9, fpcr
    str x9, [sp, #160]
    mov x10, sp
    str x10, [x0]
    .endm

    .text
    .globl sorrel_switch_context
    .hidden sorrel_switch_context
    .type sorrel_switch_context, %function
    .p2align 6
sorrel_switch_context:
    .cfi_startproc
    save_registers
    mov sp, x1
    ldr x11, [sp, #160]
    cmp x9, x11
    b.eq 1f
    msr fpcr, x11
1:  ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #176
    ret
    .cfi_endproc
    .size sorrel_switch_context, .-sorrel_switch_context

// Saves like sorrel_switch_context. The stack pointer stays below what it saves: nothing lies where a signal handler writes.
    .globl sorrel_call_below
    .hidden sorrel_call_below
    .type sorrel_call_below, %function
    .p2align 4
sorrel_call_below:
    .cfi_startproc
    save_registers
    .cfi_undefined x30
    mov x19, x2
    mov x20, x3
    sub x10, x10, x1
    and x10, x10, #~15
    mov sp, x10
    b sorrel_context_start
    .cfi_endproc
    .size sorrel_call_below, .-sorrel_call_below

// First code of a new context: x19 is the entry, x20 its argument. The undefined return address ends backtraces. An unwinder looks
// up the byte before a return address, which for a context that has not run is the one before the label.
    .globl sorrel_context_start
    .hidden sorrel_context_start
    .type sorrel_context_start, %function
    .cfi_startproc
    .cfi_undefined x30
    nop
sorrel_context_start:
    mov x0, x20
    mov x29, #0
    blr x19
    brk #1
    .cfi_endproc
    .size sorrel_context_start, .-sorrel_context_start
#endif
// Needed for other architectures, too: without this section, the linker makes every stack executable.
    .section .note.GNU-stack, "", %progbits
