// BMP and PNM files, which need no library.
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <string_view>

#include "core/ops/image/codecs.h"

namespace asc {
namespace {

// ---- BMP ----

class LittleEndian {
 public:
  explicit LittleEndian(FileBytes file) : file_(file) {}
  bool Has(size_t at, size_t count) const {
    return at <= file_.size() && count <= file_.size() - at;
  }
  uint32_t U16(size_t at) const { return file_[at] | uint32_t{file_[at + 1]} << 8; }
  uint32_t U32(size_t at) const { return U16(at) | U16(at + 2) << 16; }
  int32_t I32(size_t at) const { return static_cast<int32_t>(U32(at)); }

 private:
  FileBytes file_;
};

// The part of a pixel's word that holds one colour.
struct Channel {
  uint32_t mask;
  uint8_t Of(uint32_t word) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    const uint64_t most = mask >> shift, value = (word & mask) >> shift;
    return static_cast<uint8_t>((value * 255 + most / 2) / most);
  }
};

struct BmpHeader {
  int64_t height, width;
  bool top_down;
  uint32_t bits, compression;
  size_t palette, palette_entry, colours;
  std::array<Channel, 3> channels;  // red, green, blue; of 16 and 32 bits
};

constexpr uint32_t kPlain = 0, kBitFields = 3, kAlphaBitFields = 6;

std::optional<BmpHeader> ReadBmpHeader(const LittleEndian& in) {
  if (!in.Has(0, 26)) return std::nullopt;
  const uint32_t size = in.U32(14);
  BmpHeader out{};
  size_t masks = 0;
  if (size == 12) {  // OS/2
    out.width = in.U16(18), out.height = in.U16(20), out.bits = in.U16(24);
    out.palette_entry = 3;
  } else {
    if (size < 40 || !in.Has(14, size)) return std::nullopt;
    out.width = in.I32(18), out.height = in.I32(22);
    out.bits = in.U16(28), out.compression = in.U32(30), out.colours = in.U32(46);
    out.palette_entry = 4;
    masks = 54;
  }
  out.top_down = out.height < 0;
  if (out.top_down) out.height = -out.height;
  if (!IsImageSize(out.height, out.width)) return std::nullopt;
  out.palette = 14 + size;
  const bool fields = out.compression == kBitFields || out.compression == kAlphaBitFields;
  if (out.compression != kPlain && !fields) return std::nullopt;
  if (fields) {
    if ((out.bits != 16 && out.bits != 32) || !in.Has(masks, 12)) return std::nullopt;
    out.channels = {Channel{in.U32(masks)}, Channel{in.U32(masks + 4)}, Channel{in.U32(masks + 8)}};
  } else if (out.bits == 16) {
    out.channels = {Channel{0x7c00}, Channel{0x3e0}, Channel{0x1f}};
  } else {
    out.channels = {Channel{0xff0000}, Channel{0xff00}, Channel{0xff}};
  }
  return out;
}

}  // namespace

std::optional<RgbImage> DecodeBmp(FileBytes file) {
  if (file.size() < 14 || file[0] != 'B' || file[1] != 'M') return std::nullopt;
  const LittleEndian in(file);
  const auto header = ReadBmpHeader(in);
  if (!header) return std::nullopt;
  const uint32_t bits = header->bits;
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32)
    return std::nullopt;
  const size_t colours = bits > 8 ? 0
                         : header->colours == 0 || header->colours > (1u << bits)
                             ? size_t{1} << bits
                             : header->colours;
  const auto width = static_cast<size_t>(header->width),
             height = static_cast<size_t>(header->height);
  const size_t row_bytes = (width * bits + 31) / 32 * 4, pixels = in.U32(10);
  if (!in.Has(header->palette, colours * header->palette_entry)) return std::nullopt;
  if (!in.Has(pixels, row_bytes * height)) return std::nullopt;
  auto image = MakeImage(header->height, header->width);
  for (size_t y = 0; y < height; ++y) {
    const size_t row = pixels + row_bytes * (header->top_down ? y : height - 1 - y);
    uint8_t* to = image->pixels.data() + y * width * 3;
    for (size_t x = 0; x < width; ++x, to += 3) {
      if (bits <= 8) {
        const size_t bit = x * bits;
        const size_t index = (file[row + bit / 8] >> (8 - bits - bit % 8)) & ((1u << bits) - 1);
        if (index >= colours) return std::nullopt;
        const uint8_t* colour = file.data() + header->palette + index * header->palette_entry;
        for (size_t c = 0; c < 3; ++c) to[c] = colour[2 - c];
      } else if (bits == 24) {
        for (size_t c = 0; c < 3; ++c) to[c] = file[row + x * 3 + 2 - c];
      } else {
        const uint32_t word = bits == 16 ? in.U16(row + x * 2) : in.U32(row + x * 4);
        for (size_t c = 0; c < 3; ++c) to[c] = header->channels[c].Of(word);
      }
    }
  }
  return image;
}

// ---- PNM ----

namespace {
class PnmText {
 public:
  PnmText(FileBytes file, size_t at) : file_(file), at_(at) {}

  // A number after white space and comments; nullopt where there is none, or more than nine digits.
  std::optional<int64_t> Number() {
    SkipSpace();
    int64_t value = 0;
    size_t digits = 0;
    for (; at_ < file_.size() && std::isdigit(file_[at_]); ++at_, ++digits)
      value = value < 100'000'000 ? value * 10 + (file_[at_] - '0') : INT64_MAX / 16;
    if (digits == 0 || value > 999'999'999) return std::nullopt;
    return value;
  }
  // A bit of a plain bitmap, which needs no space around it.
  std::optional<int64_t> Bit() {
    SkipSpace();
    if (at_ == file_.size() || (file_[at_] != '0' && file_[at_] != '1')) return std::nullopt;
    return file_[at_++] - '0';
  }
  size_t at() const { return at_; }

 private:
  void SkipSpace() {
    while (at_ < file_.size()) {
      if (file_[at_] == '#') {
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      } else if (std::isspace(file_[at_])) {
        ++at_;
      } else {
        return;
      }
    }
  }

  FileBytes file_;
  size_t at_;
};
}  // namespace

std::optional<RgbImage> DecodePnm(FileBytes file) {
  if (file.size() < 3 || file[0] != 'P' || file[1] < '1' || file[1] > '6') return std::nullopt;
  const int form = file[1] - '0';
  const bool plain = form <= 3, bitmap = form % 3 == 1, colour = form % 3 == 0;
  PnmText text(file, 2);
  const auto width = text.Number(), height = text.Number();
  const auto most = bitmap ? std::optional<int64_t>(1) : text.Number();
  if (!width || !height || !most || *most < 1 || *most > 65535) return std::nullopt;
  if (!IsImageSize(*height, *width)) return std::nullopt;
  const auto scaled = [&](int64_t value) {
    return static_cast<uint8_t>((std::min(value, *most) * 255 + *most / 2) / *most);
  };
  const int64_t samples = *height * *width * (colour ? 3 : 1);
  const size_t data = text.at() + 1;  // after one white space
  const size_t sample_bytes = *most > 255 ? 2 : 1;
  const size_t row_bytes = (static_cast<size_t>(*width) + 7) / 8;
  // Checked before an image is made: a plain sample takes at least one byte, a packed one a bit.
  const size_t needed = bitmap && !plain
                            ? row_bytes * static_cast<size_t>(*height)
                            : static_cast<size_t>(samples) * (plain ? 1 : sample_bytes);
  if (data > file.size() || needed > file.size() - data + (plain ? 1 : 0)) return std::nullopt;
  auto image = MakeImage(*height, *width);
  for (int64_t i = 0; i < samples; ++i) {
    uint8_t value = 0;
    if (plain) {
      const auto read = bitmap ? text.Bit() : text.Number();
      if (!read) return std::nullopt;
      value = bitmap ? static_cast<uint8_t>(*read ? 0 : 255) : scaled(*read);
    } else if (bitmap) {
      const auto x = static_cast<size_t>(i % *width), y = static_cast<size_t>(i / *width);
      value = (file[data + y * row_bytes + x / 8] >> (7 - x % 8)) & 1 ? 0 : 255;
    } else {
      const size_t at = data + static_cast<size_t>(i) * sample_bytes;
      value = scaled(sample_bytes == 2 ? file[at] << 8 | file[at + 1] : file[at]);
    }
    if (colour) {
      image->pixels[static_cast<size_t>(i)] = value;
    } else {
      std::fill_n(image->pixels.begin() + i * 3, 3, value);
    }
  }
  return image;
}

}  // namespace asc
