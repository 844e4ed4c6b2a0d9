// Attention of float32, a block of queries at a time, whose scores stay in the caches: what the
// kernels of asc.FusedAttention and of ONNX's Attention run.
#ifndef ASC_CORE_KERNELS_VECTOR_ATTENTION_ENGINE_H_
#define ASC_CORE_KERNELS_VECTOR_ATTENTION_ENGINE_H_

#include <cstdint>
#include <functional>

#include "core/kernels/vector/attention.h"
#include "core/tensor/shape.h"

namespace asc::simd {

// A stack of matrices: where the matrix of a batch begins, and its strides, in elements.
struct AttentionStack {
  int64_t offset = 0;
  Dims batch;  // strides; 0 where one matrix serves several
  int64_t row = 0, step = 0;
};

// y = softmax(masked(capped(scale * q k^T))) v, for each batch.
struct AttentionForm {
  Dims batch;  // extents
  int64_t queries = 0, keys = 0, size = 0, v_size = 0;
  // Rows of q and y are dense, k and v dense in rows or in columns.
  AttentionStack q, k, v, y, mask, condition;
  bool has_mask = false, has_condition = false;
  float scale = 1, softcap = 0, fill = 0;
  bool fill_where = false, clear_nan = false, clear_hidden = false;

  // Which keys a query sees. Query i stands at key place + i and sees `left` keys before and `right`
  // keys after that, of the first mask_keys keys. Where keys are hidden, a mask or condition may
  // have mask_keys columns only.
  int64_t place = 0, left = SeenKeys::kFar, right = SeenKeys::kFar, mask_keys = 0;
  // The operands say how many keys each place of the first batch axis has; the last query stands at
  // the last of them.
  bool has_lengths = false;

  bool assume_finite = false;  // hidden values need not make the result NaN

  int64_t batches() const { return ElementCount(batch); }
};

struct AttentionOperands {
  const float *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr;
  const bool* condition = nullptr;
  const int64_t* lengths = nullptr;
  float* y = nullptr;
};

// Immutable, shared by concurrent runs. Extents are at least 1.
class AttentionEngine {
 public:
  AttentionEngine(AttentionForm form, int threads);

  const AttentionForm& form() const { return form_; }
  size_t scratch_bytes() const;
  // Heads along the last batch axis that have the same keys and values are a group; else each head
  // is one.
  int64_t groups() const { return form_.batches() / group_; }
  // On the calling thread's team; `scratch` is aligned to kAlignment. `prepare(group)` makes the keys
  // and values of a group, once, before they are read; it may be called by several threads at once.
  void Run(const AttentionOperands& operands, void* scratch,
           const std::function<void(int64_t)>& prepare = nullptr) const;

 private:
  // Moved to one batch.
  struct Head {
    AttentionOperands at;
    SeenKeys seen;  // by query 0
  };
  // The keys and values that a head needs: those of [first_value, last_value) and keys of
  // [first_key, last_key).
  struct Needed {
    const float *k = nullptr, *v = nullptr;  // of the head that this was found for
    SeenKeys seen;
    int64_t first_key = 0, last_key = 0, first_value = 0, last_value = 0;
    bool trim = false;  // blocks of queries need no values of keys that they do not see
  };
  struct Scratch {
    float *keys, *values, *scores;
  };

  bool few() const;
  Head HeadAt(const AttentionOperands& operands, int64_t batch) const;
  bool SeesAll(const SeenKeys& seen) const;
  bool ValuesAreFinite(const float* v, int64_t first, int64_t last) const;
  Needed NeededBy(const Head& head) const;
  void Pack(const Needed& needed, const Scratch& scratch) const;
  void RunPart(const AttentionOperands& operands, float* scratch, int64_t part,
               const std::function<void(int64_t)>& prepare) const;
  void Attend(const Head& head, const Needed& needed, int64_t first, int64_t count,
              const Scratch& scratch) const;
  void AttendFew(const Head& head, const Needed& needed, int64_t heads, int64_t first,
                 int64_t count, float* scores) const;
  void Weight(const Head& head, int64_t first, int64_t count, int64_t first_key, int64_t last_key,
              float* scores, bool masked) const;

  AttentionForm form_;
  // Heads along the last axis that share keys and values; of those, `together_` go at once, in
  // chunks.
  int64_t group_ = 1, together_ = 1, chunks_ = 1;
  int64_t blocks_, rows_, score_row_, units_, parts_;
  int64_t packed_k_ = 0, packed_v_ = 0, part_floats_;
};

}  // namespace asc::simd

#endif  // ASC_CORE_KERNELS_VECTOR_ATTENTION_ENGINE_H_
