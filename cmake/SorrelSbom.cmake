# share/sorrel/sorrel.cdx.json: what the installation consists of, as CycloneDX 1.5 (a software bill of materials). Without time and number, so that
# the same sources and libraries give the same file. tools/sorrel includes this where it has found the packages.
set(sbom_components "")
# sbom_component(NAME VERSION LICENSE SCOPE DESCRIPTION): LICENSE is an expression of SPDX; an empty VERSION is left out.
function(sbom_component name version license scope description)
  set(version_line "")
  set(purl "pkg:generic/${name}")
  if(version)
    set(version_line "\n      \"version\": \"${version}\",")
    string(APPEND purl "@${version}")
  endif()
  string(REPLACE "+" "%2B" purl ${purl})
  string(JOIN ",\n" components ${sbom_components} "    {
      \"type\": \"library\",
      \"bom-ref\": \"${purl}\",
      \"name\": \"${name}\",${version_line}
      \"scope\": \"${scope}\",
      \"description\": \"${description}\",
      \"licenses\": [ { \"expression\": \"${license}\" } ],
      \"purl\": \"${purl}\"
    }")
  set(sbom_components "${components}" PARENT_SCOPE)
endfunction()

sbom_component(CLI11 "${CLI11_VERSION}" BSD-3-Clause required "compiled into the command")
sbom_component(fmt "${fmt_VERSION}" MIT required "compiled into the command")
sbom_component(nlohmann_json "${nlohmann_json_VERSION}" MIT required "compiled into the command and libsorrel_grid")
sbom_component(libstdc++ "${CMAKE_CXX_COMPILER_VERSION}" "GPL-3.0-or-later WITH GCC-exception-3.1" required "linked into the command and the libraries")
if(CURSES_FOUND)
  sbom_component(ncurses "" X11-distribute-modifications-variant required "the screen of sorrel top")
endif()
if(has_otf2)
  sbom_component(otf2 "" BSD-3-Clause required "traces in the Open Trace Format 2")
endif()
sbom_component(hwloc "" BSD-3-Clause optional "opened at run time if installed")

set(sbom_file ${PROJECT_BINARY_DIR}/sorrel.cdx.json)
configure_file(${PROJECT_SOURCE_DIR}/packaging/sorrel.cdx.json.in ${sbom_file} @ONLY)
install(FILES ${sbom_file} DESTINATION share/sorrel)
