// The index space of a vector program for one set of extents: rows that the interpreter runs over,
// and where each operand lies in them.
#ifndef ASC_CORE_KERNELS_VECTOR_PROGRAM_SPACE_H_
#define ASC_CORE_KERNELS_VECTOR_PROGRAM_SPACE_H_

#include <vector>

#include "core/tensor/shape.h"

namespace asc::simd {

struct ProgramSpace {
  enum class Within : uint8_t {
    kScalar,   // one element for a whole row
    kMoving,   // one after the other
    kPattern,  // the same `period` elements again and again
    kRepeated  // each element `period` times
  };
  struct Operand {
    Within within = Within::kMoving;
    Dims strides;  // along `outer`, in elements
  };

  Dims outer;          // rows, the last axis the fastest; at least one axis
  int64_t count = 1;   // elements of a row
  int64_t period = 0;  // of patterns and repeated elements
  std::vector<Operand> operands;

  int64_t rows() const { return ElementCount(outer); }
};

// `strides`: of each operand along the axes `dims`, in elements. `keep_rows`: rows are those of the
// last axis; otherwise they are made as long as can be. `repeats`: which operands may be patterns of
// at most `most_period` elements, or repeated.
ProgramSpace MakeProgramSpace(const Dims& dims, const std::vector<Dims>& strides, bool keep_rows,
                              const std::vector<bool>& repeats, int64_t most_period);

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_PROGRAM_SPACE_H_
