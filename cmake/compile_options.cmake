# fenchel_compile_options(target): how every target of this project is compiled. Nothing here reaches a consumer.
include(CheckCXXSourceCompiles)
include(hardening)

function(fenchel_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set(options -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  if(FENCHEL_WARNINGS_AS_ERRORS)
    list(APPEND options -Werror)
  endif()
  if(FENCHEL_SANITIZE)
    list(APPEND options -fsanitize=${FENCHEL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${FENCHEL_SANITIZE})
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
  fenchel_harden_link(${target})
endfunction()

# fenchel_precompiled(target headers...): a target for others to reuse its precompiled headers, if they are compiled as it is.
function(fenchel_precompiled target)
  file(CONFIGURE OUTPUT ${target}.cpp CONTENT "")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  fenchel_compile_options(${target})
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# target_clones needs ifunc (glibc) and a compiler that knows the x86-64 levels; sanitizers run before ifuncs are ready.
set(FENCHEL_HAS_TARGET_CLONES OFF)
if(FENCHEL_TARGET_CLONES AND NOT FENCHEL_SANITIZE)
  check_cxx_source_compiles("
    #include <features.h>
    #ifndef __GLIBC__
    #error ifunc needs glibc
    #endif
    __attribute__((target_clones(\"arch=x86-64-v4\", \"arch=x86-64-v3\", \"default\"))) int f(int x) { return x + 1; }
    int main() { return f(-1); }" fenchel_target_clones_compile)
  set(FENCHEL_HAS_TARGET_CLONES ${fenchel_target_clones_compile})
endif()

# For sources that promise the same bits everywhere: each operation rounds on its own.
set(FENCHEL_PORTABLE_ARITHMETIC -fno-fast-math -ffp-contract=off)
