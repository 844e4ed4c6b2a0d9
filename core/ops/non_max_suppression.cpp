// NonMaxSuppression: greedy choice of boxes by score, without those that overlap a chosen one too
// much.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/ops/families.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {

Status InferNonMaxSuppression(InferContext& context) {
  const Shape &boxes = context.shape(0), &scores = context.shape(1);
  ASC_RETURN_IF_ERROR(CheckRank(context, 0, 3));
  ASC_RETURN_IF_ERROR(CheckRank(context, 1, 3));
  if (boxes.has_rank() && boxes[2].is_constant() && !boxes[2].IsConstant(4)) {
    return ShapeError("NonMaxSuppression boxes must be of shape [batches, boxes, 4], given ",
                      boxes);
  }
  if (boxes.has_rank() && scores.has_rank()) {
    const auto differ = [](const Dim& a, const Dim& b) {
      return a.is_constant() && b.is_constant() && !(a == b);
    };
    if (differ(boxes[0], scores[0]) || differ(boxes[1], scores[2])) {
      return ShapeError(
          "NonMaxSuppression needs scores of shape [batches, classes, boxes] for boxes of shape ",
          boxes, ", given ", scores);
    }
  }
  for (size_t i = 2; i < context.input_count(); ++i) {
    if (context.HasInput(i) && context.shape(i).is_static() &&
        !context.shape(i).ElementCount().IsConstant(1)) {
      return ShapeError("NonMaxSuppression input '", context.schema().inputs[i].name,
                        "' must be a scalar, given shape ", context.shape(i));
    }
  }
  context.SetOutput(0, DataType::kInt64, Shape({Dim::Unknown(), Dim(3)}));
  return Ok();
}

struct Box {
  float y1, x1, y2, x2;
  float Area() const { return (y2 - y1) * (x2 - x1); }
};

// Any two opposite corners (y1, x1, y2, x2), or centre and size (x, y, w, h).
Box ReadBox(const float* p, bool center) {
  if (center) return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
}

// Chosen boxes, in groups that are compared at once.
class BoxList {
 public:
  void Add(const Box& box) {
    if (count_ % kGroup == 0) groups_.emplace_back();
    Group& group = groups_.back();
    const size_t i = count_++ % kGroup;
    group.y1[i] = box.y1;
    group.x1[i] = box.x1;
    group.y2[i] = box.y2;
    group.x2[i] = box.x2;
    group.area[i] = box.Area();
  }

  // Whether the intersection with any box is more than `threshold` of the union.
  bool Overlaps(const Box& a, float threshold) const {
    const float area = a.Area();
    for (const Group& b : groups_) {
      int overlaps = 0;
      for (size_t i = 0; i < kGroup; ++i) {
        const float height = std::min(a.y2, b.y2[i]) - std::max(a.y1, b.y1[i]),
                    width = std::min(a.x2, b.x2[i]) - std::max(a.x1, b.x1[i]);
        const float both = height * width, either = area + b.area[i] - both;
        overlaps |= static_cast<int>(height > 0) & static_cast<int>(width > 0) &
                    static_cast<int>(either > 0) & static_cast<int>(both / either > threshold);
      }
      if (overlaps != 0) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kGroup = 16;
  struct Group {
    // Places that are empty: no height.
    float y1[kGroup] = {}, x1[kGroup] = {}, y2[kGroup] = {}, x2[kGroup] = {}, area[kGroup] = {};
  };
  std::vector<Group> groups_;
  size_t count_ = 0;
};

// Chosen boxes by the columns of a grid that they reach into: only boxes of the same columns can overlap.
// Columns are about as wide as boxes, so that each reaches into few.
class BoxGrid {
 public:
  explicit BoxGrid(const std::vector<Box>& all) {
    float low = 0, high = 0;
    double widths = 0;
    bool first = true, finite = true;
    for (const Box& box : all) {
      low = first ? box.x1 : std::min(low, box.x1);
      high = first ? box.x2 : std::max(high, box.x2);
      widths += static_cast<double>(box.x2) - box.x1;
      finite = finite && std::isfinite(box.x1) && std::isfinite(box.x2);
      first = false;
    }
    const double range = static_cast<double>(high) - low;
    double columns = 1;
    if (finite && range > 0 && widths >= 0)
      columns = std::clamp(range * static_cast<double>(all.size()) / (widths + 1e-30), 1.0, kMost);
    low_ = low;
    factor_ = columns > 1 ? columns / range : 0;
    columns_.resize(static_cast<size_t>(columns));
  }

  void Add(const Box& box) {
    for (size_t i = Column(box.x1); i <= Column(box.x2); ++i) columns_[i].Add(box);
  }
  bool Overlaps(const Box& box, float threshold) const {
    for (size_t i = Column(box.x1); i <= Column(box.x2); ++i) {
      if (columns_[i].Overlaps(box, threshold)) return true;
    }
    return false;
  }

 private:
  static constexpr double kMost = 1024;
  size_t Column(float x) const {
    if (columns_.size() == 1) return 0;
    const double at = (static_cast<double>(x) - low_) * factor_;
    return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(columns_.size() - 1)));
  }

  double low_ = 0, factor_ = 0;
  std::vector<BoxList> columns_;
};

template <typename T>
T ScalarOr(const KernelContext& context, size_t i, T otherwise) {
  return context.HasInput(i) && context.input(i).size() > 0 ? *context.input(i).data<T>()
                                                            : otherwise;
}

Status NonMaxSuppression(KernelContext& context) {
  const Tensor &boxes = context.input(0), &scores = context.input(1);
  const int64_t batches = boxes.dim(0), count = boxes.dim(1), classes = scores.dim(1);
  const auto most = std::max<int64_t>(0, ScalarOr<int64_t>(context, 2, 0));
  const float overlap = ScalarOr<float>(context, 3, 0.0f);
  if (!(overlap >= 0.0f && overlap <= 1.0f)) {
    return InvalidArgument("NonMaxSuppression iou_threshold must be from 0 to 1, given ", overlap);
  }
  const bool center = context.attributes().Int("center_point_box", 0) != 0;
  std::vector<int64_t> selected;
  for (int64_t row = 0; most > 0 && row < batches * classes; ++row) {
    const float* box = boxes.data<float>() + row / classes * count * 4;
    const float* score = scores.data<float>() + row * count;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i) {
      if (!context.HasInput(4) || score[i] > ScalarOr<float>(context, 4, 0.0f)) order.push_back(i);
    }
    // NaN scores come last; a plain comparison would not be an order.
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return score[b] != score[b] ? score[a] == score[a] : score[a] > score[b];
    });
    std::vector<Box> candidates;
    for (const int64_t i : order) candidates.push_back(ReadBox(box + i * 4, center));
    BoxGrid chosen(candidates);
    int64_t number = 0;
    for (size_t k = 0; k < candidates.size() && number < most; ++k) {
      if (chosen.Overlaps(candidates[k], overlap)) continue;
      chosen.Add(candidates[k]);
      ++number;
      selected.insert(selected.end(), {row / classes, row % classes, order[k]});
    }
  }
  ASC_ASSIGN_OR_RETURN(
      Tensor * out,
      context.AllocateOutput(0, DataType::kInt64, {static_cast<int64_t>(selected.size() / 3), 3}));
  std::copy(selected.begin(), selected.end(), out->data<int64_t>());
  return Ok();
}
}  // namespace

void AddNonMaxSuppressionOps(OpTable& table) {
  table.Add("NonMaxSuppression", 11)
      .Doc(
          "indices (batch, class, box) of boxes chosen by score that overlap no chosen one by more "
          "than iou_threshold")
      .Input("boxes", "tensor(float)")
      .Input("scores", "tensor(float)")
      .OptionalInput("max_output_boxes_per_class", "tensor(int64)")
      .OptionalInput("iou_threshold", "tensor(float)")
      .OptionalInput("score_threshold", "tensor(float)")
      .Output("selected_indices", "tensor(int64)")
      .Types("tensor(float)", TypeSet{DataType::kFloat32})
      .Types("tensor(int64)", types::kInt64)
      .Attr("center_point_box", int64_t{0}, "", "1: boxes are (x centre, y centre, width, height)")
      .ShapeFromKernel()
      .Infer(InferNonMaxSuppression)
      .Kernel(NonMaxSuppression);
}

}  // namespace asc
