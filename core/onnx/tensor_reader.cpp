#include "core/onnx/tensor_reader.h"

#include <algorithm>
#include <cstring>

#include "core/onnx/onnx_fields.h"
#include "core/onnx/stored_bytes.h"
#include "core/onnx/wire_reader.h"
#include "core/tensor/element.h"

namespace asc::onnx {

struct TensorReader::Proto {
  std::string name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  bool has_raw = false, external = false, segment = false;
  std::string_view raw;
  ExternalLocation location;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> int32s, int64s, uint64s;
  std::vector<std::string_view> strings;
};

namespace {
constexpr size_t kDropStep = 1 << 20;
// Smaller tensors are not worth the trouble.
constexpr size_t kLeastLazy = 1 << 16;
// A sparse tensor may claim any extents with few bytes of file: beyond this its dense form must not
// be mostly air.
constexpr size_t kLargeDense = size_t{1} << 28;

void UnpackSixBit(const uint8_t* in, uint8_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const size_t bit = i * 6;
    const unsigned low = in[bit / 8];
    const unsigned high = bit % 8 > 2 ? in[bit / 8 + 1] : 0;
    out[i] = static_cast<uint8_t>(((low | high << 8) >> (bit % 8)) & 0x3f);
  }
}

Status ReadExternalEntry(std::string_view message, ExternalLocation& location) {
  std::string_view key, value;
  WireReader reader(message, "TensorProto.external_data");
  while (reader.Next()) {
    switch (reader.field()) {
      case EntryField::kKey:
        key = reader.Bytes();
        break;
      case EntryField::kValue:
        value = reader.Bytes();
        break;
    }
  }
  if (key == "location") location.path = value;
  if (key == "offset") location.offset = value;
  if (key == "length") location.length = value;
  return reader.status();
}

// Copies `values` into the tensor one by one, narrowed to its type's bits.
template <typename To>
void Narrow(const std::vector<int64_t>& values, Tensor& tensor) {
  std::transform(values.begin(), values.end(), static_cast<To*>(tensor.raw()),
                 [](int64_t v) { return static_cast<To>(v); });
}

void StoreIntegers(const std::vector<int64_t>& values, Tensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kBool:
      std::transform(values.begin(), values.end(), tensor.data<bool>(),
                     [](int64_t v) { return v != 0; });
      return;
    default:
      break;
  }
  switch (BitWidth(tensor.dtype())) {
    case 64:
      return Narrow<int64_t>(values, tensor);
    case 32:
      return Narrow<int32_t>(values, tensor);
    case 16:
      return Narrow<int16_t>(values, tensor);
    default:
      return Narrow<uint8_t>(values,
                             tensor);  // packed types too: one stored integer is one byte of theirs
  }
}
}  // namespace

Status TensorReader::Parse(std::string_view message, Proto& proto) {
  WireReader reader(message, "TensorProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case TensorField::kDims:
        reader.AppendInts(proto.dims);
        break;
      case TensorField::kDataType:
        proto.data_type = reader.Int();
        break;
      case TensorField::kSegment:
        proto.segment = true;
        break;
      case TensorField::kFloatData:
        reader.AppendFloats(proto.floats);
        break;
      case TensorField::kInt32Data:
        reader.AppendInts(proto.int32s);
        break;
      case TensorField::kStringData:
        proto.strings.push_back(reader.Bytes());
        break;
      case TensorField::kInt64Data:
        reader.AppendInts(proto.int64s);
        break;
      case TensorField::kName:
        proto.name = reader.String();
        break;
      case TensorField::kRawData:
        proto.raw = reader.Bytes();
        proto.has_raw = true;
        break;
      case TensorField::kDoubleData:
        reader.AppendDoubles(proto.doubles);
        break;
      case TensorField::kUint64Data:
        reader.AppendInts(proto.uint64s);
        break;
      case TensorField::kExternalData:
        ASC_RETURN_IF_ERROR(ReadExternalEntry(reader.Bytes(), proto.location));
        break;
      case TensorField::kDataLocation:
        proto.external = reader.Int() == kDataLocationExternal;
        break;
    }
  }
  return reader.status();
}

Result<NamedTensor> TensorReader::Read(std::string_view message) {
  Proto proto;
  ASC_RETURN_IF_ERROR(Parse(message, proto));
  Result<Tensor> tensor = Make(proto);
  if (!tensor.ok()) return std::move(tensor).status().WithContext(Cat("tensor '", proto.name, "'"));
  return NamedTensor{std::move(proto.name), std::move(tensor).value()};
}

Result<Tensor> TensorReader::Make(const Proto& proto) {
  const auto type = DataTypeFromOnnx(proto.data_type);
  if (!type) {
    return Error(Code::kInvalidModel, "element type ", proto.data_type,
                 proto.data_type == 0 ? " (undefined)" : "", " is not one of ONNX");
  }
  const Dims dims(proto.dims.begin(), proto.dims.end());
  const auto count = CheckedElementCount(dims);
  const auto bytes = count ? ByteSize(*type, *count) : std::nullopt;
  if (!bytes) return Error(Code::kInvalidModel, "extents ", dims, " are negative or too large");
  if (proto.segment)
    return Error(Code::kInvalidModel, "tensors stored in segments are not supported");

  const size_t typed = proto.floats.size() + proto.doubles.size() + proto.int32s.size() +
                       proto.int64s.size() + proto.uint64s.size() + proto.strings.size();
  if (proto.external || proto.has_raw) {
    if (*type == DataType::kString)
      return Error(Code::kInvalidModel, "strings cannot be stored as raw bytes");
    if (typed > 0) return Error(Code::kInvalidModel, "both raw bytes and typed elements are given");
  }
  const size_t stored = StoredBytes(*type, *bytes);
  if (proto.external) {
    ASC_ASSIGN_OR_RETURN(const ExternalRange range, external_.Find(proto.location, stored));
    return FromRaw(*type, dims, *range.data, range.offset, stored);
  }
  if (proto.has_raw) {
    if (proto.raw.size() != stored) {
      return Error(Code::kInvalidModel, DataTypeName(*type), dims, " needs ", stored,
                   " bytes of raw_data, given ", proto.raw.size());
    }
    const auto offset =
        static_cast<size_t>(proto.raw.data() - reinterpret_cast<const char*>(model_.bytes->data()));
    return FromRaw(*type, dims, model_, stored == 0 ? 0 : offset, stored);
  }

  const auto elements = static_cast<size_t>(*count);
  const auto refuse = [&](std::string_view field, size_t wanted, size_t given) {
    return Error(Code::kInvalidModel, DataTypeName(*type), dims, " needs ", wanted, " values in ",
                 field, ", given ", given,
                 typed == given ? "" : " there and some in a field for other types");
  };
  const auto fits = [&](std::string_view field, size_t wanted, size_t given) {
    return wanted == given && typed == given ? Ok() : refuse(field, wanted, given);
  };
  const auto allocate = [&] {
    return Tensor::Allocate(*type, dims, HostAllocator(), MemoryUse::kConstant);
  };
  const auto from_numbers = [&](std::string_view field, const auto& values,
                                size_t wanted) -> Result<Tensor> {
    ASC_RETURN_IF_ERROR(fits(field, wanted, values.size()));
    ASC_ASSIGN_OR_RETURN(Tensor tensor, allocate());
    if (wanted > 0) std::memcpy(tensor.raw(), values.data(), *bytes);
    return tensor;
  };
  const auto from_integers = [&](std::string_view field, const std::vector<int64_t>& values,
                                 size_t wanted) -> Result<Tensor> {
    ASC_RETURN_IF_ERROR(fits(field, wanted, values.size()));
    ASC_ASSIGN_OR_RETURN(Tensor tensor, allocate());
    StoreIntegers(values, tensor);
    return tensor;
  };
  switch (*type) {
    case DataType::kFloat32:
      return from_numbers("float_data", proto.floats, elements);
    case DataType::kComplex64:
      return from_numbers("float_data", proto.floats, elements * 2);
    case DataType::kFloat64:
      return from_numbers("double_data", proto.doubles, elements);
    case DataType::kComplex128:
      return from_numbers("double_data", proto.doubles, elements * 2);
    case DataType::kInt64:
      return from_integers("int64_data", proto.int64s, elements);
    case DataType::kUInt32:
    case DataType::kUInt64:
      return from_integers("uint64_data", proto.uint64s, elements);
    case DataType::kString: {
      ASC_RETURN_IF_ERROR(fits("string_data", elements, proto.strings.size()));
      ASC_ASSIGN_OR_RETURN(Tensor tensor, allocate());
      std::copy(proto.strings.begin(), proto.strings.end(), tensor.data<std::string>());
      return tensor;
    }
    default:
      return from_integers("int32_data", proto.int32s, IsSubByte(*type) ? *bytes : elements);
  }
}

Result<Tensor> TensorReader::FromRaw(DataType type, const Dims& dims, const DataFile& source,
                                     size_t offset, size_t bytes) {
  const std::byte* const data = source.bytes->data() + offset;
  if (IsSixBit(type)) {
    ASC_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Allocate(type, dims, HostAllocator(), MemoryUse::kConstant));
    UnpackSixBit(reinterpret_cast<const uint8_t*>(data), static_cast<uint8_t*>(tensor.raw()),
                 static_cast<size_t>(tensor.size()));
    return tensor;
  }
  // A bool that is neither 0 nor 1 is undefined behaviour in whoever reads it.
  const bool odd_bools =
      type == DataType::kBool &&
      std::any_of(data, data + bytes, [](std::byte b) { return b > std::byte{1}; });
  if (!odd_bools) {
    Result<Tensor> shared = Tensor::FromBuffer(type, dims, source.bytes, offset);
    if (shared.ok()) return shared;
  }
  // Protobuf puts raw_data anywhere, and kernels may rely on natural alignment: so misaligned
  // elements are copied, those of big weights only when somebody needs them unpacked.
  const auto copy = [source, offset](size_t begin, size_t count, std::byte* to) {
    // The source's pages are let go step by step.
    for (size_t done = 0; done < count;) {
      const size_t step = std::min(kDropStep, count - done), from = offset + begin + done;
      std::memcpy(to + done, source.bytes->data() + from, step);
      if (source.file != nullptr && count >= kDropStep) source.file->DropPages(from, step);
      done += step;
    }
  };
  if (bytes >= kLeastLazy && !odd_bools) {
    return Tensor::FromBuffer(type, dims,
                              Buffer::Lazy(HostAllocator(), MemoryUse::kConstant, bytes, copy));
  }
  ASC_ASSIGN_OR_RETURN(Tensor tensor,
                       Tensor::Allocate(type, dims, HostAllocator(), MemoryUse::kConstant));
  auto* out = static_cast<std::byte*>(tensor.raw());
  copy(0, bytes, out);
  if (odd_bools)
    std::transform(out, out + bytes, out, [](std::byte b) { return std::byte{b != std::byte{0}}; });
  return tensor;
}

Result<NamedTensor> TensorReader::ReadSparse(std::string_view message) {
  NamedTensor values, indices;
  std::vector<int64_t> extents;
  WireReader reader(message, "SparseTensorProto");
  while (reader.Next()) {
    switch (reader.field()) {
      case SparseTensorField::kValues: {
        ASC_ASSIGN_OR_RETURN(values, Read(reader.Bytes()));
        break;
      }
      case SparseTensorField::kIndices: {
        ASC_ASSIGN_OR_RETURN(indices, Read(reader.Bytes()));
        break;
      }
      case SparseTensorField::kDims:
        reader.AppendInts(extents);
        break;
    }
  }
  ASC_RETURN_IF_ERROR(reader.status());
  const auto refuse = [&](const auto&... what) {
    return Error(Code::kInvalidModel, "sparse tensor '", values.name, "': ", what...);
  };
  if (!values.tensor.defined()) return refuse("it has no values");
  const Dims dims(extents.begin(), extents.end());
  const auto count = CheckedElementCount(dims);
  const DataType type = values.tensor.dtype();
  const auto bytes = count ? ByteSize(type, *count) : std::nullopt;
  if (!bytes) return refuse("extents ", dims, " are negative or too large");
  if (values.tensor.rank() != 1)
    return refuse("values must have rank 1, given ", values.tensor.TypeString());
  if (IsSubByte(type)) return refuse("elements of ", DataTypeName(type), " are not supported");
  const int64_t stored = values.tensor.size();
  if (*bytes > kLargeDense && *count / 1000 > stored) {
    return refuse("its dense form has ", *count, " elements, only ", stored, " of them are stored");
  }
  std::vector<int64_t> at;  // linear
  if (stored > 0) {
    if (!indices.tensor.defined() || indices.tensor.dtype() != DataType::kInt64)
      return refuse("it needs int64 indices");
    const auto given = indices.tensor.values<int64_t>();
    const Dims strides = ContiguousStrides(dims);
    const bool linear = indices.tensor.dims() == Dims{stored};
    if (!linear && indices.tensor.dims() != Dims{stored, static_cast<int64_t>(dims.size())}) {
      return refuse("indices must be [", stored, "] or [", stored, ", ", dims.size(), "], given ",
                    indices.tensor.TypeString());
    }
    for (int64_t i = 0; i < stored; ++i) {
      int64_t position = 0;
      bool inside = true;
      if (linear) {
        position = given[static_cast<size_t>(i)];
        inside = position >= 0 && position < *count;
      } else {
        for (size_t axis = 0; axis < dims.size(); ++axis) {
          const int64_t index = given[static_cast<size_t>(i) * dims.size() + axis];
          inside = inside && index >= 0 && index < dims[axis];
          if (inside) position += index * strides[axis];
        }
      }
      if (!inside) return refuse("index number ", i, " is outside of ", dims);
      at.push_back(position);
    }
    std::vector<int64_t> sorted = at;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end())
      return refuse("two values have the same index");
  }
  ASC_ASSIGN_OR_RETURN(Tensor dense,
                       Tensor::Allocate(type, dims, HostAllocator(), MemoryUse::kConstant));
  VisitBySize(type, [&](auto zero) {
    using T = decltype(zero);
    T* out = static_cast<T*>(dense.raw());
    const T* in = static_cast<const T*>(static_cast<const Tensor&>(values.tensor).raw());
    std::fill_n(out, *count, T{});
    for (size_t i = 0; i < at.size(); ++i) out[at[i]] = in[i];
  });
  return NamedTensor{std::move(values.name), std::move(dense)};
}

}  // namespace asc::onnx
