# One export set for all modules: find_package(waybill) gives waybill::core, waybill::backends, waybill::transports.
include(CMakePackageConfigHelpers)

set(waybill_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/waybill")
install(TARGETS waybill_core waybill_backends waybill_transports EXPORT waybill
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY core/include/ backends/include/ transports/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT waybill NAMESPACE waybill:: DESTINATION ${waybill_cmake_dir} FILE waybill-targets.cmake)
configure_package_config_file(tools/cmake/waybill-config.cmake.in "${CMAKE_BINARY_DIR}/waybill-config.cmake"
  INSTALL_DESTINATION ${waybill_cmake_dir})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/waybill-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/waybill-config.cmake" "${CMAKE_BINARY_DIR}/waybill-config-version.cmake"
  DESTINATION ${waybill_cmake_dir})
if(TARGET waybill_command)
  install(TARGETS waybill_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
