# Installs a build to a fresh prefix, then configures, builds and runs the consumer against it. Taken by -D:
#   ROOT, BUILD      waybill's source and build tree
#   SOURCE, WORK     the consumer's source; a folder to work in, emptied first
#   GENERATOR, CXX, LAUNCHER, CONFIG, FLAGS   as waybill itself was built
cmake_minimum_required(VERSION 3.25)

function(run)
  list(JOIN ARGN " " line)
  message(STATUS "${line}")
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit status ${status}: ${line}")
  endif()
endfunction()

# What was installed stands alone: nothing in the package points back into the source or build tree.
function(require_relocatable)
  file(GLOB_RECURSE files "${WORK}/prefix/*.cmake")
  if(NOT files)
    message(FATAL_ERROR "no CMake package was installed under ${WORK}/prefix")
  endif()
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    foreach(tree IN ITEMS "${ROOT}/" "${BUILD}/")
      string(FIND "${text}" "${tree}" position)
      if(NOT position EQUAL -1)
        message(FATAL_ERROR "${file} mentions ${tree}")
      endif()
    endforeach()
  endforeach()
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/run")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix" --config "${CONFIG}")
require_relocatable()
run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix"
  "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_BUILD_TYPE=${CONFIG}"
  "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${WORK}/build" --config "${CONFIG}")
run("${WORK}/build/consumer" "${WORK}/run/consumer.db")
