// sorrel_yield: calls sorrel_yield_ranks and returns to the user's program by a jump.
//
// The predicted target of a return is the address after the latest call. After a switch that address is in another rank's
// privatized image, so the return of a yield would be mispredicted every time: 24 ns a yield instead of 8
// (bench/probes/yield.c, 8 ranks on one worker). Indirect jumps are predicted by the branch history, which is regular for
// ranks that take turns. The price is one later return of the user's program that is mispredicted.
#if defined(__x86_64__)
    .text
    .globl sorrel_yield
    .type sorrel_yield, @function
    .p2align 4
sorrel_yield:
    .cfi_startproc
    subq $8, %rsp
    .cfi_def_cfa_offset 16
    call sorrel_yield_ranks
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    popq %rcx
    .cfi_def_cfa_offset 0
    .cfi_register %rip, %rcx
    jmp *%rcx
    .cfi_endproc
    .size sorrel_yield, .-sorrel_yield
    .section .note.GNU-stack, "", @progbits
#elif defined(__aarch64__)
    .text
    .globl sorrel_yield
    .type sorrel_yield, %function
    .p2align 2
sorrel_yield:
    b sorrel_yield_ranks
    .size sorrel_yield, .-sorrel_yield
    .section .note.GNU-stack, "", %progbits
#endif
