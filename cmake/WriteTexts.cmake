# Writes HEADER, C++ constants of the texts of files: each of NAMES is the constant, each of FILES the file.
set(header "// Written by cmake/WriteTexts.cmake.\n#include <string_view>\n\nnamespace {\n")
foreach(name file IN ZIP_LISTS NAMES FILES)
  file(READ ${file} text)
  string(APPEND header "\nconstexpr std::string_view ${name} = R\"text(${text})text\";\n")
endforeach()
file(WRITE ${HEADER} "${header}\n}  // namespace\n")
