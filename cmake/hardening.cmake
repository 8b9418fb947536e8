# What reads the bytes of others is compiled with checks of its stack and of its buffers, and what is linked has tables that
# nobody can write to once it runs. A flag that the compiler or the linker does not know is left out. Nothing here reaches a
# consumer, and no kernel: there the checks cost a quarter or more of the time of a short row.
include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

# fenchel_hardening(result): the options for such a source.
function(fenchel_hardening result)
  set(options "")
  foreach(option -fstack-protector-strong -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "fenchel_knows_${option}" known)
    check_cxx_compiler_flag(${option} ${known})
    if(${known})
      list(APPEND options ${option})
    endif()
  endforeach()
  # It needs optimisation; sanitizers look at the same calls themselves.
  if(NOT FENCHEL_SANITIZE)
    set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
    list(APPEND options $<${optimised}:-U_FORTIFY_SOURCE> $<${optimised}:-D_FORTIFY_SOURCE=2>)
  endif()
  set(${result} ${options} PARENT_SCOPE)
endfunction()

# fenchel_harden(target): a target of such sources. A program is loaded anywhere.
function(fenchel_harden target)
  fenchel_hardening(options)
  target_compile_options(${target} PRIVATE ${options})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# fenchel_harden_link(target): a program or a shared library.
function(fenchel_harden_link target)
  foreach(option relro now noexecstack)
    check_linker_flag(CXX LINKER:-z,${option} fenchel_links_${option})
    if(fenchel_links_${option})
      target_link_options(${target} PRIVATE LINKER:-z,${option})
    endif()
  endforeach()
endfunction()
