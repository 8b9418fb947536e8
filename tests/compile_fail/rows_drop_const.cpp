#include "fenchel/core/rows.hpp"

#ifdef FENCHEL_COMPILE_FAIL_TWIN
using Element = const float;
#else
using Element = float;
#endif

fenchel::Rows<Element> read_only_to(fenchel::Rows<const float> rows) { return rows; }
