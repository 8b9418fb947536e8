# Installs the library, its headers, a CMake package and a pkg-config file. The installed tree may be moved.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fenchel)

# Whoever links the static library also links what it uses; the shared one carries its own needs.
get_target_property(library_type fenchel TYPE)
get_target_property(library_needs fenchel LINK_LIBRARIES)
set(static_needs_openmp OFF)
set(static_definitions "")
set(static_libraries "")
if(library_type STREQUAL "STATIC_LIBRARY")
  set(static_definitions "-DFENCHEL_STATIC")
  if(library_needs MATCHES "OpenMP::OpenMP_CXX")
    set(static_needs_openmp ON)
    list(TRANSFORM OpenMP_CXX_LIB_NAMES PREPEND "-l" OUTPUT_VARIABLE static_libraries)
    list(JOIN static_libraries " " static_libraries)
  endif()
endif()

install(TARGETS fenchel EXPORT fenchelTargets)
install(DIRECTORY include/fenchel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT fenchelTargets NAMESPACE fenchel:: DESTINATION ${package_dir})
if(TARGET fenchel_mpi)
  install(TARGETS fenchel_mpi EXPORT fenchelMpiTargets)
  install(EXPORT fenchelMpiTargets NAMESPACE fenchel:: DESTINATION ${package_dir})
endif()
if(TARGET fenchel_torch_ops)
  install(TARGETS fenchel_torch_ops EXPORT fenchelTorchOpsTargets)
  install(DIRECTORY frontends/torch/include/fenchel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT fenchelTorchOpsTargets NAMESPACE fenchel:: DESTINATION ${package_dir})
endif()

configure_package_config_file(cmake/fenchelConfig.cmake.in fenchelConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(fenchelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fenchelConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/fenchelConfigVersion.cmake
  DESTINATION ${package_dir})

# Relative to the file itself, so that the folders may be absolute and the tree may be moved.
set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pc_dir} OUTPUT_VARIABLE pc_to_prefix)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${pc_dir} OUTPUT_VARIABLE pc_to_include)
configure_file(cmake/fenchel.pc.in fenchel.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fenchel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
