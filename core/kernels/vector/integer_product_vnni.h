// The functions of integer_product.h for x86-64 CPUs with AVX-512 VNNI. Highway's target for them (AVX3_DL) also turns on an
// extension (AVX-VNNI) that some of these CPUs lack, hence a file of its own. They are
// defined on x86-64 only.
#ifndef ASC_CORE_KERNELS_VECTOR_INTEGER_PRODUCT_VNNI_H_
#define ASC_CORE_KERNELS_VECTOR_INTEGER_PRODUCT_VNNI_H_

#include "core/kernels/vector/integer_product.h"

namespace asc::simd::vnni {

// Whether this CPU has the instructions and no test forbids them.
bool IsUsed();
void ForbidForTest(bool forbidden);

void PackLeft(const IntegerOperand& a, int64_t m, int64_t k, int16_t* packed);
void PackPanel(const IntegerOperand& b, int64_t n, int64_t k, int64_t first, int64_t columns,
               int16_t* panel);
void FillImage(const IntegerOperand& x, int64_t count, int16_t* image);
void StoreImage(const IntegerOperand& x, int64_t count, int16_t* image, int64_t offset);
void PackPixels(const IntegerOperand& x, const int16_t* image, const int64_t* taps, int64_t k,
                int64_t start, const int64_t* starts, int16_t* panel);
void MultiplyPanel(const int16_t* left, int64_t m, int64_t k, const int16_t* panel, int64_t columns,
                   int32_t* c, int64_t c_row);
void MultiplyPanels(const int16_t* left, int64_t m, int64_t k, const int16_t* panels,
                    int64_t columns, int32_t* c, int64_t c_row);

}  // namespace asc::simd::vnni

#endif  // ASC_CORE_KERNELS_VECTOR_INTEGER_PRODUCT_VNNI_H_
