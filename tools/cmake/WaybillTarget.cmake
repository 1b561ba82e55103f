# What every target of ours has in common. Nothing global: a project that includes us keeps its own flags.

function(waybill_target name)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${name} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror
    # GCC 12 sees overlapping copies inside std::string's own operator+ (GCC bug 105651).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  if(WAYBILL_SANITIZE)
    target_compile_options(${name} PRIVATE
      -fsanitize=${WAYBILL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${name} PUBLIC -fsanitize=${WAYBILL_SANITIZE})
  endif()
endfunction()

# A module's library: waybill_<name>, alias waybill::<name>, public headers in include/.
function(waybill_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  add_library(waybill_${name} STATIC ${ARG_SOURCES})
  add_library(waybill::${name} ALIAS waybill_${name})
  waybill_target(waybill_${name})
  set_target_properties(waybill_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(waybill_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()
