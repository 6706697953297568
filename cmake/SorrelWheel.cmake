# The wheel (pyproject.toml): a wheel has no symbolic links, so what would be one is a file of its own kind.
if(NOT SORREL_WHEEL)
  return()
endif()
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/ReplaceLinks.cmake COMPONENT runtime)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/packaging/wheel/sorrel DESTINATION ${SKBUILD_SCRIPTS_DIR})
