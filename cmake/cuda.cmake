# Enables CUDA where there is a compiler for it, and says which GPUs to compile for unless CMAKE_CUDA_ARCHITECTURES does.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "fenchel: no CUDA compiler, building without fenchel::cuda")
  return()
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  # Machine code for Ampere, Hopper and Blackwell, and what the driver compiles for later ones.
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100 CACHE STRING "GPUs to compile for")
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
  message(STATUS "fenchel: fenchel::cuda needs CUDA 12.8 or newer, found ${CMAKE_CUDA_COMPILER_VERSION}, building without it")
  set(FENCHEL_CUDA OFF)
  return()
endif()
find_package(CUDAToolkit REQUIRED)

# fenchel_cuda_options(target): how CUDA sources are compiled. constexpr functions are functions of the device, too. CMake
# 3.25 does not know what language standards nvcc 13 has.
function(fenchel_cuda_options target)
  set(options -std=c++20 --expt-relaxed-constexpr --compress-mode=size -Xcompiler=-Wall,-Wextra)
  if(FENCHEL_WARNINGS_AS_ERRORS)
    list(APPEND options -Werror=all-warnings)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${options}>")
  set_target_properties(${target} PROPERTIES CUDA_VISIBILITY_PRESET hidden)
endfunction()
