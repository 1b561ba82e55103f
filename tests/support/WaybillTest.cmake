# Catch2 and rapidcheck for every folder of tests, and waybill_test().
find_package(Catch2 REQUIRED)
find_package(rapidcheck REQUIRED)
include(Catch)

# Catch2 v2 has no library with a main(); compiling its own takes long, so all programs share this one.
if(Catch2_VERSION VERSION_LESS 3)
  add_library(waybill_test_main STATIC ${CMAKE_CURRENT_LIST_DIR}/main.cpp)
  target_compile_features(waybill_test_main PUBLIC cxx_std_20)
  target_link_libraries(waybill_test_main PUBLIC Catch2::Catch2)
else()
  add_library(waybill_test_main INTERFACE)
  target_link_libraries(waybill_test_main INTERFACE Catch2::Catch2WithMain)
endif()

# waybill_test(core SOURCES a_test.cpp … LIBS waybill::core …): the program waybill_core_tests in build/<preset>/tests,
# each of its test cases known to ctest as `core.<name of the case>`.
function(waybill_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  set(target waybill_${name}_tests)
  add_executable(${target} ${ARG_SOURCES})
  waybill_target(${target})
  # rapidcheck's templates take minutes to optimise and gain nothing: what is tested is optimised in its own library.
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..")
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} waybill_test_main rapidcheck)
  if(Catch2_VERSION VERSION_LESS 3)
    catch_discover_tests(${target} TEST_PREFIX "${name}." PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  else()
    catch_discover_tests(${target} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()
