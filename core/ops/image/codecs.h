// Decoders of image files into 8-bit RGB. Files are hostile input: sizes and offsets are checked
// before use. Thread-safe.
#ifndef ASC_CORE_OPS_IMAGE_CODECS_H_
#define ASC_CORE_OPS_IMAGE_CODECS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace asc {

struct RgbImage {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> pixels;  // [height, width, 3]
};

// 2^28: 16384 by 16384. A file that claims more counts as broken.
inline constexpr int64_t kMostPixels = int64_t{1} << 28;

// Whether the extents are those of an image that may be decoded.
inline bool IsImageSize(int64_t height, int64_t width) {
  return height > 0 && width > 0 && height <= kMostPixels && width <= kMostPixels / height;
}

// A black image; nullopt unless IsImageSize.
inline std::optional<RgbImage> MakeImage(int64_t height, int64_t width) {
  if (!IsImageSize(height, width)) return std::nullopt;
  return RgbImage{height, width, std::vector<uint8_t>(static_cast<size_t>(height * width * 3))};
}

using FileBytes = std::span<const uint8_t>;

// Each gives nullopt for files of other formats, broken ones, and forms that it does not have.
// Transparency is dropped, orientation tags and colour profiles are not applied; 16-bit elements
// are cut to their upper byte.
std::optional<RgbImage> DecodeBmp(FileBytes file);   // 1 to 32 bits, not run-length encoded
std::optional<RgbImage> DecodePnm(FileBytes file);   // P1 to P6
std::optional<RgbImage> DecodeTiff(FileBytes file);  // see image/tiff.cpp

// What libraries do: only with the build option `images`.
extern const bool kHasImageLibraries;
// JPEG, JPEG 2000 (JP2 files and bare codestreams), PNG, WebP (not animated).
std::optional<RgbImage> DecodeByLibrary(FileBytes file);
// Unpacks a zlib stream into exactly `out`; false when it does not fill it.
bool Inflate(FileBytes packed, std::span<uint8_t> out);

}  // namespace asc

#endif  // ASC_CORE_OPS_IMAGE_CODECS_H_
