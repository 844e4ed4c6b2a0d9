// Operators of ai.onnx.ml that prepare features: ArrayFeatureExtractor, Binarizer, FeatureVectorizer,
// Imputer, Normalizer, Scaler.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/elementwise_map.h"
#include "core/ops/infer_rules.h"
#include "core/ops/ml/common.h"
#include "core/ops/ml/families.h"

namespace asc {
namespace {

// float for float32, else double: every int32 and all integers that features hold are exact in it.
template <typename T>
using FeatureCompute = std::conditional_t<std::is_same_v<T, float>, float, double>;

Status InferFloatSameShape(InferContext& context) {
  context.SetOutput(0, DataType::kFloat32, context.shape(0));
  return Ok();
}

// ---- ArrayFeatureExtractor ----

Status InferArrayFeatureExtractor(InferContext& context) {
  const Shape &x = context.shape(0), &y = context.shape(1);
  if (!x.has_rank()) return context.SetOutput(0, context.dtype(0)), Ok();
  if (x.rank() == 0)
    return ShapeError("ArrayFeatureExtractor needs features to choose from, given a scalar");
  std::vector<Dim> dims = x.dims();
  if (dims.size() == 1) dims.insert(dims.begin(), Dim(1));
  dims.back() = y.has_rank() ? y.ElementCount() : Dim::Unknown();
  context.SetOutput(0, context.dtype(0), Shape(std::move(dims)));
  return Ok();
}

Status ArrayFeatureExtractor(KernelContext& context) {
  const Tensor &x = context.input(0), &y = context.input(1);
  Tensor& out = context.output(0);
  const int64_t extent = x.dim(x.rank() - 1), picked = y.size();
  const int64_t* at = y.data<int64_t>();
  for (int64_t i = 0; i < picked; ++i) {
    if (at[i] < 0 || at[i] >= extent) {
      return Error(Code::kOutOfRange, "ArrayFeatureExtractor index ", at[i],
                   " is out of range for ", extent, " features");
    }
  }
  const int64_t rows = picked == 0 ? 0 : out.size() / picked;
  VisitBySize(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(x.raw());
    T* to = static_cast<T*>(out.raw());
    ForRows(rows, picked, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        for (int64_t i = 0; i < picked; ++i) to[r * picked + i] = from[r * extent + at[i]];
      }
    });
  });
  return Ok();
}

// ---- Binarizer ----

Status Binarizer(KernelContext& context) {
  const float threshold = context.attributes().Float("threshold", 0);
  VisitMlNumbers(context.input(0).dtype(), [&](auto zero) {
    using T = decltype(zero);
    Map<T>(context,
           [=](T x) { return static_cast<FeatureCompute<T>>(x) > threshold ? T(1) : T(0); });
  });
  return Ok();
}

// ---- FeatureVectorizer ----

// Columns of the output that each input fills.
std::span<const int64_t> Widths(const AttributeMap& attributes) {
  return ListAttribute<int64_t>(attributes, "inputdimensions");
}

Status InferFeatureVectorizer(InferContext& context) {
  const auto widths = Widths(context.attributes());
  if (!widths.empty() && widths.size() != context.input_count()) {
    return InvalidArgument("FeatureVectorizer has 'inputdimensions' for ", widths.size(),
                           " inputs, given ", context.input_count());
  }
  Dim rows = Dim::Unknown(), features = 0;
  for (size_t i = 0; i < context.input_count(); ++i) {
    ASC_ASSIGN_OR_RETURN(const Rows in, RowsOf(context, i));
    if (!widths.empty() && (widths[i] < 0 || widths[i] > INT32_MAX)) {
      return InvalidArgument("FeatureVectorizer attribute 'inputdimensions' has ", widths[i],
                             ", expected 0 to ", INT32_MAX, " columns");
    }
    features = features + (widths.empty() ? in.features : Dim(widths[i]));
    if (in.count.is_constant() && rows.is_constant() && !(in.count == rows)) {
      return ShapeError("FeatureVectorizer joins rows side by side, given inputs of ", rows.value(),
                        " and ", in.count.value(), " rows");
    }
    if (i == 0 || in.count.is_constant()) rows = in.count;
  }
  context.SetOutput(0, DataType::kFloat32, Shape(std::vector<Dim>{rows, features}));
  return Ok();
}

Status FeatureVectorizer(KernelContext& context) {
  const auto widths = Widths(context.attributes());
  Tensor& out = context.output(0);
  const int64_t rows = out.dim(0), stride = out.dim(1);
  int64_t column = 0;
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Tensor& x = context.input(i);
    const Batch batch = BatchOf(x);
    if (batch.rows != rows) {
      return ShapeError("FeatureVectorizer joins rows side by side, given inputs of ", rows,
                        " and ", batch.rows, " rows");
    }
    const int64_t width = widths.empty() ? batch.features : widths[i];
    const int64_t copied = std::min(width, batch.features);
    VisitMlNumbers(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* from = x.data<T>();
      float* to = out.data<float>() + column;
      ForRows(rows, width, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          float* row = to + r * stride;
          std::transform(from + r * batch.features, from + r * batch.features + copied, row,
                         [](T v) { return static_cast<float>(v); });
          std::fill(row + copied, row + width, 0.0f);
        }
      });
    });
    column += width;
  }
  return Ok();
}

// ---- Imputer ----

template <typename T>
using Imputed = std::conditional_t<std::is_integral_v<T>, int64_t, float>;
template <typename T>
constexpr std::string_view kImputedName =
    std::is_integral_v<T> ? "imputed_value_int64s" : "imputed_value_floats";

Status InferImputer(InferContext& context) {
  Status status;
  VisitMlNumbers(context.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    const size_t count = ListAttribute<Imputed<T>>(context.attributes(), kImputedName<T>).size();
    const Shape& shape = context.shape(0);
    if (count == 0) {
      status = InvalidArgument("Imputer of ", DataTypeName(context.dtype(0)), " needs '",
                               kImputedName<T>, "'");
    } else if (shape.has_rank() && count != 1) {
      const Dim features = shape.rank() == 0 ? Dim(1) : shape[shape.rank() - 1];
      if (features.is_constant() && features.value() != static_cast<int64_t>(count)) {
        status = ShapeError("Imputer has ", count, " values in '", kImputedName<T>,
                            "', expected 1 or one for each of ", features.value(), " features");
      }
    }
  });
  if (status.ok()) context.SetOutput(0, context.dtype(0), context.shape(0));
  return status;
}

Status Imputer(KernelContext& context) {
  const Tensor& x = context.input(0);
  VisitMlNumbers(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto values = ListAttribute<Imputed<T>>(context.attributes(), kImputedName<T>);
    const auto count = static_cast<int64_t>(values.size());
    const T* from = x.data<T>();
    T* to = context.output(0).template data<T>();
    const auto replace = [&](auto missing) {
      ParallelFor(x.size(), kElementGrain, [&](int64_t begin, int64_t end) {
        int64_t feature = begin % count;
        for (int64_t i = begin; i < end; ++i) {
          to[i] = missing(from[i]) ? static_cast<T>(values[static_cast<size_t>(feature)]) : from[i];
          if (++feature == count) feature = 0;
        }
      });
    };
    if constexpr (std::is_integral_v<T>) {
      const int64_t wanted = context.attributes().Int("replaced_value_int64", 0);
      replace([=](T v) { return v == wanted; });
    } else {
      const float wanted = context.attributes().Float("replaced_value_float", 0);
      if (std::isnan(wanted)) {
        replace([](T v) { return std::isnan(v); });
      } else {
        replace([=](T v) { return v == wanted; });
      }
    }
  });
  return Ok();
}

// ---- Normalizer ----

Status InferNormalizer(InferContext& context) {
  ASC_RETURN_IF_ERROR(RowsOf(context, 0).status());
  const std::string norm = context.attributes().String("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    return InvalidArgument("Normalizer attribute 'norm' is '", norm, "', expected MAX, L1 or L2");
  return InferFloatSameShape(context);
}

// What ONNX divides a row by. As in its formula, the maximum is that of the elements, not of their
// magnitudes.
template <typename T>
double Norm(std::string_view norm, const T* x, int64_t count) {
  double sum = 0;
  if (norm == "MAX") {
    double top = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < count; ++i) {
      const auto v = static_cast<double>(x[i]);
      if (std::isnan(v)) return v;
      top = std::max(top, v);
    }
    return top;
  }
  if (norm == "L1") {
    for (int64_t i = 0; i < count; ++i) sum += std::abs(static_cast<double>(x[i]));
    return sum;
  }
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return std::sqrt(sum);
}

Status Normalizer(KernelContext& context) {
  const Tensor& x = context.input(0);
  const std::string norm = context.attributes().String("norm", "MAX");
  const Batch batch = BatchOf(x);
  float* out = context.output(0).data<float>();
  VisitMlNumbers(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ForRows(batch.rows, 4 * batch.features, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* from = x.data<T>() + r * batch.features;
        float* to = out + r * batch.features;
        const double given = Norm(norm, from, batch.features);
        const double divisor = given == 0 ? 1 : given;
        for (int64_t i = 0; i < batch.features; ++i)
          to[i] = static_cast<float>(static_cast<double>(from[i]) / divisor);
      }
    });
  });
  return Ok();
}

// ---- Scaler ----

Status InferScaler(InferContext& context) {
  const Shape& shape = context.shape(0);
  for (const std::string_view name : {"offset", "scale"}) {
    const size_t count = ListAttribute<float>(context.attributes(), name).size();
    if (count < 2 || !shape.has_rank()) continue;
    const Dim features = shape.rank() == 0 ? Dim(1) : shape[shape.rank() - 1];
    if (features.is_constant() && features.value() != static_cast<int64_t>(count)) {
      return ShapeError("Scaler has ", count, " values in '", name,
                        "', expected 1 or one for each of ", features.value(), " features");
    }
  }
  return InferFloatSameShape(context);
}

Status Scaler(KernelContext& context) {
  const Tensor& x = context.input(0);
  auto offset = ListAttribute<float>(context.attributes(), "offset");
  auto scale = ListAttribute<float>(context.attributes(), "scale");
  constexpr float kZero = 0, kOne = 1;
  if (offset.empty()) offset = {&kZero, 1};
  if (scale.empty()) scale = {&kOne, 1};
  const int64_t features = x.rank() == 0 ? 1 : x.dim(x.rank() - 1);
  const int64_t rows = features == 0 ? 0 : x.size() / features;
  const size_t offset_step = offset.size() > 1, scale_step = scale.size() > 1;
  float* out = context.output(0).data<float>();
  VisitMlNumbers(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using A = FeatureCompute<T>;
    const T* from = x.data<T>();
    ForRows(rows, features, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        for (int64_t i = 0; i < features; ++i) {
          const auto at = static_cast<size_t>(i);
          const A centred = static_cast<A>(from[r * features + i]) - offset[at * offset_step];
          out[r * features + i] = static_cast<float>(centred * scale[at * scale_step]);
        }
      }
    });
  });
  return Ok();
}
}  // namespace

void AddMlFeatureOps(OpTable& table) {
  table.Add("ArrayFeatureExtractor", 1, kMlDomain)
      .Doc("the elements of the last axis that the indices Y name")
      .Input("X", "T")
      .Input("Y", "I")
      .Output("Z", "T")
      .Types("T", kMlNumbers | types::kString)
      .Types("I", types::kInt64)
      .Infer(InferArrayFeatureExtractor)
      .Kernel(ArrayFeatureExtractor);
  table.Add("Binarizer", 1, kMlDomain)
      .Doc("1 where an element is greater than the threshold, else 0")
      .Input("X", "T")
      .Output("Y", "T")
      .Types("T", kMlNumbers)
      .Attr("threshold", 0.0f)
      .Infer(InferSameAsFirst)
      .Kernel(Binarizer);
  table.Add("FeatureVectorizer", 1, kMlDomain)
      .Doc("joins rows of features side by side, each cut or filled up with zeros to its width")
      .Input("X", "T", ParameterKind::kVariadic, false)
      .Output("Y", "O")
      .Types("T", kMlNumbers)
      .Types("O", {DataType::kFloat32})
      .OptionalAttr("inputdimensions", AttributeType::kInts, "", "columns of each input's part")
      .Infer(InferFeatureVectorizer)
      .Kernel(FeatureVectorizer);
  table.Add("Imputer", 1, kMlDomain)
      .Doc("replaces one value (often NaN) by a value for all or one for each feature")
      .Input("X", "T")
      .Output("Y", "T")
      .Types("T", kMlNumbers)
      .OptionalAttr("imputed_value_floats", AttributeType::kFloats)
      .OptionalAttr("imputed_value_int64s", AttributeType::kInts)
      .Attr("replaced_value_float", 0.0f)
      .Attr("replaced_value_int64", int64_t{0})
      .Infer(InferImputer)
      .Kernel(Imputer);
  table.Add("Normalizer", 1, kMlDomain)
      .Doc("divides each row by its largest element, its L1 or its L2 norm; by 1 where that is 0")
      .Input("X", "T")
      .Output("Y", "O")
      .Types("T", kMlNumbers)
      .Types("O", {DataType::kFloat32})
      .Attr("norm", std::string("MAX"), "", "MAX, L1 or L2")
      .Infer(InferNormalizer)
      .Kernel(Normalizer);
  table.Add("Scaler", 1, kMlDomain)
      .Doc("(X - offset) * scale")
      .Input("X", "T")
      .Output("Y", "O")
      .Types("T", kMlNumbers)
      .Types("O", {DataType::kFloat32})
      .OptionalAttr("offset", AttributeType::kFloats, "", "one, or one for each feature")
      .OptionalAttr("scale", AttributeType::kFloats, "", "one, or one for each feature")
      .Infer(InferScaler)
      .Kernel(Scaler);
}

}  // namespace asc
