# Manual pages, from the help of the commands, by help2man; the manual; and completion for shells.
find_program(HELP2MAN help2man)
set(manual_pages "")
function(manual_page name summary words)
  set(page ${PROJECT_BINARY_DIR}/man/${name}.1)
  # The title of a page is the name of the command that is asked for help.
  set(link ${PROJECT_BINARY_DIR}/man/${name})
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:sorrel> ${link}
    COMMAND ${HELP2MAN} --no-info --section=1 --locale=C.UTF-8 --name=${summary} --version-string=${PROJECT_VERSION}
    --help-option=${words} --output=${page} ${link}
    COMMAND ${CMAKE_COMMAND} -E rm ${link}
    DEPENDS sorrel VERBATIM)
  set(manual_pages ${manual_pages} ${page} PARENT_SCOPE)
endfunction()
if(SORREL_RUN_ONLY)
  message(STATUS "No manual pages: this command runs programs only (SORREL_RUN_ONLY)")
elseif(HELP2MAN AND NOT SORREL_SANITIZE)
  manual_page(sorrel "runs MPI programs with many more ranks than cores" "help")
  manual_page(sorrel-run "run an MPI program with many ranks in one process" "help run")
  manual_page(sorrel-info "show this machine, or whether and how a program can run" "help info")
  manual_page(sorrel-cc "compile and link a C program" "help cc")
  manual_page(sorrel-cxx "compile and link a C++ program" "help cxx")
  manual_page(sorrel-fc "compile and link a Fortran program" "help fc")
  manual_page(sorrel-restart "go on with a job from its last checkpoint" "help restart")
  manual_page(sorrel-test "test an MPI program for CI: many ranks, a slow network, checks" "help test")
  manual_page(sorrel-plan "choose how to cut a regular grid over ranks, and say why" "help plan")
  manual_page(sorrel-ps "list your jobs" "help ps")
  manual_page(sorrel-top "show what the workers and ranks of a running job do" "help top")
  manual_page(sorrel-stack "show where the ranks of a running job are" "help stack")
  manual_page(sorrel-trace "make a trace of what a job that was killed has left behind" "help trace")
  manual_page(sorrel-selftest "check this installation" "help selftest")
  manual_page(sorrel-demo "show in 20 seconds what Sorrel is for" "help demo")
  manual_page(sorrel-try "find the best way to run a program, by running it" "help try")
  manual_page(sorrel-report "say why a job took as long as it did, from its trace" "help report")
  manual_page(sorrel-bench "compare with the other MPIs of this machine" "help bench")
  manual_page(sorrel-env "print what a shell needs to use this installation" "help env")
  manual_page(sorrel-docs "show a page of the manual" "help docs")
  add_custom_target(sorrel_manual ALL DEPENDS ${manual_pages})
  install(FILES ${manual_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
else()
  message(STATUS "No manual pages: no help2man (Debian: help2man)")
endif()
# The pages that messages name, for `sorrel docs`; without those about the work on Sorrel itself.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION share/sorrel/manual FILES_MATCHING PATTERN "*.md"
  PATTERN investigations EXCLUDE PATTERN decisions EXCLUDE PATTERN results EXCLUDE PATTERN figures EXCLUDE PATTERN static EXCLUDE
  PATTERN HACKING.md EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/sorrel.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sorrel)
install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/_sorrel DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_SOURCE_DIR}/tools/completion/sorrel.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
