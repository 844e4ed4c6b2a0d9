// Operators of ai.onnx.ml that look elements up: CategoryMapper, LabelEncoder, OneHotEncoder.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/ops/elementwise_map.h"
#include "core/ops/infer_rules.h"
#include "core/ops/ml/common.h"
#include "core/ops/ml/families.h"
#include "core/ops/ml/prepared.h"

namespace asc {
namespace {
constexpr TypeSet kCodes = {DataType::kString, DataType::kInt64, DataType::kFloat32,
                            DataType::kInt32,  DataType::kInt16, DataType::kFloat64};

template <typename F>
bool VisitCodes(DataType type, F&& f) {
  return VisitType<std::string, int64_t, float, int32_t, int16_t, double>(type, f);
}

// NaN is one key whatever its bits, and 0 and -0 are one.
const std::string& KeyBits(const std::string& key) { return key; }
template <typename K>
auto KeyBits(K key) {
  if constexpr (std::is_same_v<K, float>) {
    return std::bit_cast<uint32_t>(std::isnan(key) ? std::numeric_limits<float>::quiet_NaN()
                                                   : key + 0.0f);
  } else if constexpr (std::is_same_v<K, double>) {
    return std::bit_cast<uint64_t>(std::isnan(key) ? std::numeric_limits<double>::quiet_NaN()
                                                   : key + 0.0);
  } else {
    return key;
  }
}

// Positions of keys. Integers that lie close together are looked up in a table.
template <typename K>
class KeyTable {
 public:
  // Of a key that comes twice the last position counts.
  explicit KeyTable(std::span<const K> keys) {
    if constexpr (std::is_integral_v<K>) {
      if (keys.empty()) return;
      const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
      const auto range = static_cast<uint64_t>(*high) - static_cast<uint64_t>(*low);
      if (range < 4 * keys.size() + 64) {
        low_ = *low;
        dense_.assign(range + 1, -1);
        for (size_t i = 0; i < keys.size(); ++i) dense_[Slot(keys[i])] = static_cast<int64_t>(i);
        return;
      }
    }
    sparse_.reserve(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) Put(keys[i], static_cast<int64_t>(i));
  }
  // -1 where there is no such key.
  int64_t Find(const K& key) const {
    if constexpr (std::is_integral_v<K>) {
      if (!dense_.empty()) return Slot(key) < dense_.size() ? dense_[Slot(key)] : -1;
    }
    const auto it = sparse_.find(KeyBits(key));
    return it == sparse_.end() ? -1 : it->second;
  }

 private:
  using Map =
      std::unordered_map<std::decay_t<decltype(KeyBits(std::declval<const K&>()))>, int64_t>;

  // Keys below the lowest wrap around to far beyond the table.
  size_t Slot(K key) const { return static_cast<uint64_t>(key) - static_cast<uint64_t>(low_); }
  void Put(const K& key, int64_t position) { sparse_[KeyBits(key)] = position; }

  K low_{};
  std::vector<int64_t> dense_;
  Map sparse_;
};

// Maps each element from keys to values.
template <typename K, typename V>
class Encoder : public Prepared {
 public:
  Encoder(std::span<const K> keys, std::span<const V> values, V otherwise)
      : table_(keys), values_(values.begin(), values.end()), otherwise_(std::move(otherwise)) {}
  Status Run(KernelContext& context) const override {
    const K* x = context.input(0).data<K>();
    V* y = context.output(0).data<V>();
    ParallelFor(context.input(0).size(), kElementGrain / 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = table_.Find(x[i]);
        y[i] = at < 0 ? otherwise_ : values_[static_cast<size_t>(at)];
      }
    });
    return Ok();
  }

 private:
  KeyTable<K> table_;
  std::vector<V> values_;
  V otherwise_;
};

// ---- LabelEncoder ----

// The keys or the values of the node: one of four attributes. Tensors of attributes are read in place.
struct Codes {
  DataType type = DataType::kUndefined;
  const void* data = nullptr;
  size_t count = 0;
  template <typename T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data), count};
  }
};

Result<Codes> ReadCodes(const AttributeMap& attributes, std::string_view what) {
  Codes codes;
  std::string found;
  const auto note = [&](const std::string& name, DataType type, const void* data, size_t count) {
    if (!found.empty())
      return InvalidArgument("LabelEncoder has both '", found, "' and '", name, "'");
    found = name;
    codes = {type, data, count};
    return Ok();
  };
  const std::string ints = Cat(what, "_int64s"), floats = Cat(what, "_floats"),
                    strings = Cat(what, "_strings"), tensor = Cat(what, "_tensor");
  if (const auto* list = attributes.Get<std::vector<int64_t>>(ints))
    ASC_RETURN_IF_ERROR(note(ints, DataType::kInt64, list->data(), list->size()));
  if (const auto* list = attributes.Get<std::vector<float>>(floats))
    ASC_RETURN_IF_ERROR(note(floats, DataType::kFloat32, list->data(), list->size()));
  if (const auto* list = attributes.Get<std::vector<std::string>>(strings))
    ASC_RETURN_IF_ERROR(note(strings, DataType::kString, list->data(), list->size()));
  if (const auto* t = attributes.Get<Tensor>(tensor))
    ASC_RETURN_IF_ERROR(note(tensor, t->dtype(), t->raw(), static_cast<size_t>(t->size())));
  if (found.empty())
    return InvalidArgument("LabelEncoder needs one of '", ints, "', '", floats, "', '", strings,
                           "' and '", tensor, "'");
  if (!kCodes.Contains(codes.type))
    return TypeError("LabelEncoder attribute '", found, "' is of ", DataTypeName(codes.type),
                     ", expected one of ", kCodes.ToString());
  return codes;
}

struct LabelCodes {
  Codes keys, values;
};

Result<LabelCodes> ReadLabelCodes(const AttributeMap& attributes, DataType input) {
  LabelCodes codes;
  ASC_ASSIGN_OR_RETURN(codes.keys, ReadCodes(attributes, "keys"));
  ASC_ASSIGN_OR_RETURN(codes.values, ReadCodes(attributes, "values"));
  if (codes.keys.count != codes.values.count) {
    return InvalidArgument("LabelEncoder has ", codes.keys.count, " keys and ", codes.values.count,
                           " values: each key needs one");
  }
  if (input != DataType::kUndefined && codes.keys.type != input) {
    return TypeError("LabelEncoder has keys of ", DataTypeName(codes.keys.type),
                     ", given an input of ", DataTypeName(input));
  }
  if (const auto* given = attributes.Get<Tensor>("default_tensor")) {
    if (given->dtype() != codes.values.type || given->size() != 1) {
      return TypeError("LabelEncoder attribute 'default_tensor' is ", given->TypeString(),
                       ", expected one element of ", DataTypeName(codes.values.type));
    }
  }
  return codes;
}

// What stands for keys that are not known.
template <typename V>
V DefaultCode(const AttributeMap& attributes) {
  if (const auto* given = attributes.Get<Tensor>("default_tensor")) return *given->data<V>();
  if constexpr (std::is_same_v<V, std::string>) {
    return attributes.String("default_string", "_Unused");
  } else if constexpr (std::is_integral_v<V>) {
    return static_cast<V>(attributes.Int("default_int64", -1));
  } else {
    return attributes.Float("default_float", -0.0f);
  }
}

Status InferLabelEncoder(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const LabelCodes codes,
                       ReadLabelCodes(context.attributes(), context.dtype(0)));
  context.SetOutput(0, codes.values.type, context.shape(0));
  return Ok();
}

// ---- CategoryMapper ----

Status CheckCategories(const AttributeMap& attributes) {
  const size_t ints = ListAttribute<int64_t>(attributes, "cats_int64s").size();
  const size_t strings = ListAttribute<std::string>(attributes, "cats_strings").size();
  if (ints == strings) return Ok();
  return InvalidArgument("CategoryMapper has ", ints, " 'cats_int64s' and ", strings,
                         " 'cats_strings': they go in pairs");
}

Status InferCategoryMapper(InferContext& context) {
  ASC_RETURN_IF_ERROR(CheckCategories(context.attributes()));
  const bool to_ints = context.dtype(0) == DataType::kString;
  context.SetOutput(0, to_ints ? DataType::kInt64 : DataType::kString, context.shape(0));
  return Ok();
}

// ---- OneHotEncoder ----

Result<ClassLabels> ReadCategories(const AttributeMap& attributes, DataType input) {
  ASC_ASSIGN_OR_RETURN(
      const ClassLabels categories,
      ClassLabels::Read(attributes, "OneHotEncoder", "cats_int64s", "cats_strings"));
  if (categories.size() == 0)
    return InvalidArgument("OneHotEncoder needs 'cats_int64s' or 'cats_strings'");
  if ((input == DataType::kString) != (categories.dtype() == DataType::kString)) {
    return TypeError("OneHotEncoder has categories of ", DataTypeName(categories.dtype()),
                     ", given an input of ", DataTypeName(input));
  }
  return categories;
}

Status InferOneHotEncoder(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const ClassLabels categories,
                       ReadCategories(context.attributes(), context.dtype(0)));
  Shape shape = context.shape(0);
  if (shape.has_rank()) {
    std::vector<Dim> dims = shape.dims();
    dims.push_back(static_cast<int64_t>(categories.size()));
    shape = Shape(std::move(dims));
  }
  context.SetOutput(0, DataType::kFloat32, std::move(shape));
  return Ok();
}

template <typename K>
class OneHot : public Prepared {
 public:
  OneHot(std::span<const K> categories, bool zeros)
      : table_(categories), count_(static_cast<int64_t>(categories.size())), zeros_(zeros) {}
  Status Run(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    if constexpr (std::is_same_v<K, std::string>) {
      return Encode(x.data<std::string>(), context);
    } else {
      Status status;
      VisitMlNumbers(x.dtype(),
                     [&](auto zero) { status = Encode(x.data<decltype(zero)>(), context); });
      return status;
    }
  }

 private:
  // Numbers are cut to integers; -1 for those that are no int64.
  template <typename T>
  int64_t Find(const T& x) const {
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T kEnd = static_cast<T>(9223372036854775808.0);
      if (!(x >= -kEnd && x < kEnd)) return -1;
    }
    return table_.Find(static_cast<K>(x));
  }
  template <typename T>
  Status Encode(const T* x, KernelContext& context) const {
    float* y = context.output(0).data<float>();
    const int64_t size = context.input(0).size();
    if (!zeros_) {
      for (int64_t i = 0; i < size; ++i) {
        if (Find(x[i]) < 0)
          return Error(Code::kOutOfRange, "OneHotEncoder got ", x[i],
                       ", which is no category, and 'zeros' is 0");
      }
    }
    ForRows(size, count_, [&](int64_t begin, int64_t end) {
      std::fill(y + begin * count_, y + end * count_, 0.0f);
      for (int64_t i = begin; i < end; ++i) {
        if (const int64_t at = Find(x[i]); at >= 0) y[i * count_ + at] = 1;
      }
    });
    return Ok();
  }

  KeyTable<K> table_;
  int64_t count_;
  bool zeros_;
};
}  // namespace

Result<std::unique_ptr<Prepared>> PrepareLabelEncoder(const AttributeMap& attributes,
                                                      DataType type) {
  ASC_ASSIGN_OR_RETURN(const LabelCodes codes, ReadLabelCodes(attributes, type));
  std::unique_ptr<Prepared> encoder;
  VisitCodes(codes.keys.type, [&](auto key) {
    VisitCodes(codes.values.type, [&](auto value) {
      using K = decltype(key);
      using V = decltype(value);
      encoder = std::make_unique<Encoder<K, V>>(codes.keys.as<K>(), codes.values.as<V>(),
                                                DefaultCode<V>(attributes));
    });
  });
  return encoder;
}

Result<std::unique_ptr<Prepared>> PrepareCategoryMapper(const AttributeMap& attributes,
                                                        DataType type) {
  ASC_RETURN_IF_ERROR(CheckCategories(attributes));
  const auto ints = ListAttribute<int64_t>(attributes, "cats_int64s");
  const auto strings = ListAttribute<std::string>(attributes, "cats_strings");
  std::unique_ptr<Prepared> mapper;
  if (type == DataType::kString) {
    mapper = std::make_unique<Encoder<std::string, int64_t>>(strings, ints,
                                                             attributes.Int("default_int64", -1));
  } else {
    mapper = std::make_unique<Encoder<int64_t, std::string>>(
        ints, strings, attributes.String("default_string", "_Unused"));
  }
  return mapper;
}

Result<std::unique_ptr<Prepared>> PrepareOneHotEncoder(const AttributeMap& attributes,
                                                       DataType type) {
  ASC_ASSIGN_OR_RETURN(const ClassLabels categories, ReadCategories(attributes, type));
  const bool zeros = attributes.Int("zeros", 1) != 0;
  std::unique_ptr<Prepared> encoder;
  if (categories.strings.empty()) {
    encoder = std::make_unique<OneHot<int64_t>>(categories.ints, zeros);
  } else {
    encoder = std::make_unique<OneHot<std::string>>(categories.strings, zeros);
  }
  return encoder;
}

void AddMlEncoderOps(OpTable& table) {
  table.Add("CategoryMapper", 1, kMlDomain)
      .Doc("strings to integers or integers to strings, by two lists of categories")
      .Input("X", "T1")
      .Output("Y", "T2")
      .Types("T1", kMlLabels)
      .Types("T2", kMlLabels)
      .OptionalAttr("cats_int64s", AttributeType::kInts)
      .OptionalAttr("cats_strings", AttributeType::kStrings)
      .Attr("default_int64", int64_t{-1})
      .Attr("default_string", std::string("_Unused"))
      .Infer(InferCategoryMapper)
      .Kernel(RunPrepared);
  table.Add("LabelEncoder", 4, kMlDomain)
      .Doc("maps each element from one of the keys to its value")
      .Input("X", "T1")
      .Output("Y", "T2")
      .Types("T1", kCodes)
      .Types("T2", kCodes)
      .Attr("default_float", -0.0f)
      .Attr("default_int64", int64_t{-1})
      .Attr("default_string", std::string("_Unused"))
      .OptionalAttr("default_tensor", AttributeType::kTensor)
      .OptionalAttr("keys_floats", AttributeType::kFloats)
      .OptionalAttr("keys_int64s", AttributeType::kInts)
      .OptionalAttr("keys_strings", AttributeType::kStrings)
      .OptionalAttr("keys_tensor", AttributeType::kTensor)
      .OptionalAttr("values_floats", AttributeType::kFloats)
      .OptionalAttr("values_int64s", AttributeType::kInts)
      .OptionalAttr("values_strings", AttributeType::kStrings)
      .OptionalAttr("values_tensor", AttributeType::kTensor)
      .Infer(InferLabelEncoder)
      .Kernel(RunPrepared);
  table.Add("OneHotEncoder", 1, kMlDomain)
      .Doc("a last axis with 1 at the position of the element's category, else 0")
      .Input("X", "T")
      .Output("Y", "O")
      .Types("T", kMlNumbers | types::kString)
      .Types("O", {DataType::kFloat32})
      .OptionalAttr("cats_int64s", AttributeType::kInts)
      .OptionalAttr("cats_strings", AttributeType::kStrings)
      .Attr("zeros", int64_t{1}, "", "0: an element of no category is an error")
      .Infer(InferOneHotEncoder)
      .Kernel(RunPrepared);
}

}  // namespace asc
