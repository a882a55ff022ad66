# Warnings, sanitizers, and the choice between g++ and nvcc for sources that serve both.

add_library(gputm_flags INTERFACE)
target_compile_options(gputm_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror -Werror=all-warnings>)
# g++ 12's -Wrestrict is wrong about concatenated strings (GCC bug 105651)
target_compile_options(gputm_flags INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)
if(GPUTM_SANITIZE STREQUAL "address")
  target_compile_options(gputm_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-omit-frame-pointer>)
  target_link_options(gputm_flags INTERFACE -fsanitize=address,undefined)
elseif(GPUTM_SANITIZE STREQUAL "thread")
  # the executor itself is built without it (src/CMakeLists.txt): it tells ThreadSanitizer of its fibers
  target_compile_options(gputm_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=thread>)
  target_compile_definitions(gputm_flags INTERFACE GPUTM_TSAN)
  target_link_options(gputm_flags INTERFACE -fsanitize=thread)
elseif(GPUTM_SANITIZE)
  message(FATAL_ERROR "GPUTM_SANITIZE is '${GPUTM_SANITIZE}'; it can be address or thread")
endif()

# Headers of the standard library that most tests include, parsed once for all: they were a third of what a mutant takes
# to compile.
set(gputm_common_headers <algorithm> <array> <atomic> <bit> <chrono> <concepts> <cstdint> <cstring> <functional> <map>
  <memory> <mutex> <optional> <random> <ranges> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread>
  <unordered_map> <variant> <vector>)

# Leaves a file alone that has this content, so that nothing is built anew for it.
function(write_if_different path content)
  set(old "")
  if(EXISTS "${path}")
    file(READ "${path}" old)
  endif()
  if(NOT old STREQUAL content)
    file(WRITE "${path}" "${content}")
  endif()
endfunction()

# Half of the time that nvcc takes for an algorithm goes into headers, again for each source and architecture.
set(GPUTM_BATCH 1 CACHE STRING "So many sources of a program are compiled as one: quicker from scratch on few cores")

# Replaces the sources in `list` by files that include GPUTM_BATCH of them each, `name` and a number.
function(gputm_in_batches list name)
  if(NOT GPUTM_BATCH GREATER 1)
    return()
  endif()
  set(batches "")
  list(LENGTH ${list} count)
  set(from 0)
  while(from LESS count)
    list(SUBLIST ${list} ${from} ${GPUTM_BATCH} sources)
    set(content "")
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source NORMALIZE)
      string(APPEND content "#include \"${source}\"\n")
    endforeach()
    set(batch ${CMAKE_CURRENT_BINARY_DIR}/${name}_from_${from}.cpp)
    write_if_different(${batch} "${content}")
    list(APPEND batches ${batch})
    math(EXPR from "${from} + ${GPUTM_BATCH}")
  endwhile()
  set(${list} ${batches} PARENT_SCOPE)
endfunction()

# Sources that serve the host and the GPU: compiled by nvcc where GPUTM_CUDA is on.
function(gputm_device_sources target)
  if(GPUTM_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
    # not CUDA_STANDARD 20: cmake 3.25 does not know that nvcc 13 has it
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
  endif()
  target_sources(${target} PRIVATE ${ARGN})
  target_link_libraries(${target} PRIVATE gputm gputm_flags)
  if(GPUTM_CUDA)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  endif()
endfunction()
