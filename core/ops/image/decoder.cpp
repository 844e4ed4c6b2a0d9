// ImageDecoder: the pixels of an image file.
#include <algorithm>
#include <cstring>

#include "core/ops/families_extra.h"
#include "core/ops/image/codecs.h"
#include "core/ops/shape_facts.h"

namespace asc {
namespace {
enum class PixelFormat : uint8_t { kRgb, kBgr, kGrayscale };

Result<PixelFormat> ReadPixelFormat(const AttributeMap& attributes) {
  const std::string name = attributes.String("pixel_format", "RGB");
  if (name == "RGB") return PixelFormat::kRgb;
  if (name == "BGR") return PixelFormat::kBgr;
  if (name == "Grayscale") return PixelFormat::kGrayscale;
  return InvalidArgument(
      "ImageDecoder attribute 'pixel_format' must be 'RGB', 'BGR' or 'Grayscale', given '", name,
      "'");
}

Status InferImageDecoder(InferContext& context) {
  ASC_ASSIGN_OR_RETURN(const PixelFormat format, ReadPixelFormat(context.attributes()));
  ASC_RETURN_IF_ERROR(CheckRank(context, 0, 1));
  const Dim channels(format == PixelFormat::kGrayscale ? 1 : 3);
  context.SetOutput(0, DataType::kUInt8, Shape({Dim::Unknown(), Dim::Unknown(), channels}));
  return Ok();
}

// E5009 for formats that this build cannot read; an empty image for files that are broken or of no
// known format.
Result<RgbImage> Decode(FileBytes file) {
  for (const auto decode : {DecodeBmp, DecodePnm, DecodeTiff}) {
    if (auto image = decode(file)) return *std::move(image);
  }
  if (!kHasImageLibraries) {
    return Error(
        Code::kUnavailable,
        "this build of the engine reads image files of the formats BMP, PNM and TIFF only");
  }
  if (auto image = DecodeByLibrary(file)) return *std::move(image);
  return RgbImage();
}

// ITU-R BT.601 in 16-bit fixed point, as image libraries have it.
uint8_t Luma(const uint8_t* rgb) {
  return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

Status ImageDecoder(KernelContext& context) {
  ASC_ASSIGN_OR_RETURN(const PixelFormat format, ReadPixelFormat(context.attributes()));
  const Tensor& file = context.input(0);
  ASC_ASSIGN_OR_RETURN(const RgbImage image,
                       Decode({file.data<uint8_t>(), static_cast<size_t>(file.size())}));
  const int64_t channels = format == PixelFormat::kGrayscale ? 1 : 3;
  ASC_ASSIGN_OR_RETURN(Tensor * out, context.AllocateOutput(0, DataType::kUInt8,
                                                            {image.height, image.width, channels}));
  if (out->size() == 0) return Ok();
  uint8_t* to = out->data<uint8_t>();
  const uint8_t* from = image.pixels.data();
  const int64_t pixels = image.height * image.width;
  if (format == PixelFormat::kRgb) {
    std::memcpy(to, from, image.pixels.size());
  } else if (format == PixelFormat::kGrayscale) {
    for (int64_t i = 0; i < pixels; ++i) to[i] = Luma(from + i * 3);
  } else {
    for (int64_t i = 0; i < pixels; ++i)
      std::reverse_copy(from + i * 3, from + i * 3 + 3, to + i * 3);
  }
  return Ok();
}
}  // namespace

void AddImageDecoderOps(OpTable& table) {
  table.Add("ImageDecoder", 20)
      .Doc(
          "the pixels [height, width, channels] of an image file's bytes: BMP, JPEG, JPEG 2000, "
          "PNG, "
          "PNM, TIFF or WebP; empty where it cannot be decoded")
      .Input("encoded_stream", "T1")
      .Output("image", "T2")
      .Types("T1", TypeSet{DataType::kUInt8})
      .Types("T2", TypeSet{DataType::kUInt8})
      .Attr("pixel_format", "RGB", "", "RGB, BGR or Grayscale")
      .ShapeFromKernel()
      .Infer(InferImageDecoder)
      .Kernel(ImageDecoder);
}

}  // namespace asc
