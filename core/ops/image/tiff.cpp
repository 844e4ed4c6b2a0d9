// TIFF files, after "TIFF, revision 6.0", 1992: the first picture of a file, in strips or tiles,
// interleaved; grey (1, 8 or 16 bits), palette (8 bits) or RGB (8 or 16 bits); not packed, by
// PackBits, by LZW, or by zlib, with or without horizontal differences.
//
// libtiff would read more, but Debian's needs a library under the GPL.
#include <algorithm>
#include <array>
#include <map>

#include "core/ops/image/codecs.h"

namespace asc {
namespace {
enum Tag : uint32_t {
  kWidth = 256,
  kHeight = 257,
  kBits = 258,
  kCompression = 259,
  kPhotometric = 262,
  kStripOffsets = 273,
  kSamples = 277,
  kRowsPerStrip = 278,
  kStripBytes = 279,
  kPlanar = 284,
  kPredictor = 317,
  kColorMap = 320,
  kTileWidth = 322,
  kTileHeight = 323,
  kTileOffsets = 324,
  kTileBytes = 325
};
enum Photometric : uint32_t { kWhiteIsZero, kBlackIsZero, kRgb, kPalette };
constexpr uint32_t kNone = 1, kLzw = 5, kZlib = 8, kPackBits = 32773, kOldZlib = 32946;
constexpr uint32_t kMostBlocks = 1 << 22;
constexpr size_t kMostGrowth =
    4096;  // no packing here is denser, so that small files take little memory

class TiffFile {
 public:
  // False unless the file has a directory.
  bool Read(FileBytes file) {
    file_ = file;
    if (file.size() < 8) return false;
    if (file[0] == 'I' && file[1] == 'I') {
      big_ = false;
    } else if (file[0] == 'M' && file[1] == 'M') {
      big_ = true;
    } else {
      return false;
    }
    if (U16(2) != 42) return false;
    const size_t at = U32(4);
    if (!Has(at, 2)) return false;
    const size_t count = U16(at);
    if (!Has(at + 2, count * 12)) return false;
    for (size_t i = 0; i < count; ++i) entries_[U16(at + 2 + i * 12)] = at + 2 + i * 12;
    return true;
  }

  bool HasTag(Tag tag) const { return entries_.contains(tag); }
  // All numbers of a tag (8, 16 or 32 bits); empty when it is absent or broken.
  std::vector<uint32_t> Numbers(Tag tag) const {
    const auto entry = entries_.find(tag);
    if (entry == entries_.end()) return {};
    const size_t at = entry->second;
    const uint32_t type = U16(at + 2), count = U32(at + 4);
    const size_t size = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;
    if (size == 0 || count > kMostBlocks) return {};
    const size_t data = size * count <= 4 ? at + 8 : U32(at + 8);
    if (!Has(data, size * count)) return {};
    std::vector<uint32_t> out(count);
    for (size_t i = 0; i < count; ++i) {
      const size_t place = data + i * size;
      out[i] = size == 1 ? file_[place] : size == 2 ? U16(place) : U32(place);
    }
    return out;
  }
  uint32_t Number(Tag tag, uint32_t otherwise) const {
    const auto all = Numbers(tag);
    return all.empty() ? otherwise : all[0];
  }
  bool Has(size_t at, size_t count) const {
    return at <= file_.size() && count <= file_.size() - at;
  }
  FileBytes Part(size_t at, size_t count) const { return file_.subspan(at, count); }
  bool big_endian() const { return big_; }

 private:
  uint32_t U16(size_t at) const {
    return big_ ? uint32_t{file_[at]} << 8 | file_[at + 1]
                : uint32_t{file_[at + 1]} << 8 | file_[at];
  }
  uint32_t U32(size_t at) const {
    return big_ ? U16(at) << 16 | U16(at + 2) : U16(at + 2) << 16 | U16(at);
  }

  FileBytes file_;
  bool big_ = false;
  std::map<uint32_t, size_t> entries_;
};

// Each unpacker fills `out` as far as the data go, and is false when they are broken.
bool UnpackBits(FileBytes in, std::span<uint8_t> out) {
  size_t at = 0, to = 0;
  while (to < out.size() && at < in.size()) {
    const auto head = static_cast<int8_t>(in[at++]);
    if (head == -128) continue;
    const size_t count = head >= 0 ? static_cast<size_t>(head) + 1 : static_cast<size_t>(1 - head);
    if (count > out.size() - to || at + (head >= 0 ? count : 1) > in.size()) return false;
    if (head >= 0) {
      std::copy_n(in.begin() + static_cast<ptrdiff_t>(at), count,
                  out.begin() + static_cast<ptrdiff_t>(to));
    } else {
      std::fill_n(out.begin() + static_cast<ptrdiff_t>(to), count, in[at]);
    }
    at += head >= 0 ? count : 1;
    to += count;
  }
  return to == out.size();
}

// Codes of 9 to 12 bits, the first bit of a byte first; a string is its prefix's code and a byte.
bool UnpackLzw(FileBytes in, std::span<uint8_t> out) {
  constexpr uint32_t kClear = 256, kEnd = 257, kFirst = 258, kTable = 4096;
  std::array<uint16_t, kTable> prefix{};
  std::array<uint8_t, kTable> last{};
  std::array<uint16_t, kTable> length{};
  for (uint32_t code = 0; code < 256; ++code)
    last[code] = static_cast<uint8_t>(code), length[code] = 1;
  uint32_t next = kFirst, previous = kClear, width = 9, bits = 0, held = 0;
  size_t to = 0;
  for (const uint8_t byte : in) {
    bits = bits << 8 | byte;
    held += 8;
    if (held < width) continue;
    held -= width;
    const uint32_t code = (bits >> held) & ((1u << width) - 1);
    if (code == kEnd || to == out.size()) break;
    if (code == kClear) {
      next = kFirst, previous = kClear, width = 9;
      continue;
    }
    if (previous == kClear) {
      if (code >= 256) return false;
      out[to++] = static_cast<uint8_t>(code);
      previous = code;
      continue;
    }
    if (code > next || (code >= 256 && code < kFirst) || next >= kTable) return false;
    // The string of `code`; one that is just being made is the previous one and its first byte.
    const uint32_t known = code == next ? previous : code;
    const size_t count = length[known];
    const size_t whole = count + (code == next ? 1 : 0);
    if (whole > out.size() - to) return false;
    uint32_t walk = known;
    for (size_t i = count; i-- > 0; walk = prefix[walk]) out[to + i] = last[walk];
    if (code == next) out[to + count] = out[to];
    prefix[next] = static_cast<uint16_t>(previous);
    last[next] = out[to];
    length[next] = static_cast<uint16_t>(length[previous] + 1);
    ++next;
    to += whole;
    previous = code;
    // Codes grow one early, as the format has it.
    if (next + 1 == 512 || next + 1 == 1024 || next + 1 == 2048) ++width;
  }
  return to == out.size();
}

bool Unpack(uint32_t compression, FileBytes in, std::span<uint8_t> out) {
  switch (compression) {
    case kNone:
      if (in.size() < out.size()) return false;
      std::copy_n(in.begin(), out.size(), out.begin());
      return true;
    case kPackBits:
      return UnpackBits(in, out);
    case kLzw:
      return UnpackLzw(in, out);
    case kZlib:
    case kOldZlib:
      return Inflate(in, out);
    default:
      return false;
  }
}

struct Form {
  int64_t height, width;
  uint32_t bits, samples, photometric;
  std::vector<uint32_t> colours;  // red of all entries, then green, then blue; 16 bits
  bool big_endian;

  size_t RowBytes(int64_t columns) const {
    return (static_cast<size_t>(columns) * samples * bits + 7) / 8;
  }
  // The upper byte of a sample; for bits, the bit.
  uint8_t Sample(const uint8_t* row, size_t i) const {
    if (bits == 1) return (row[i / 8] >> (7 - i % 8)) & 1;
    return bits == 8 ? row[i] : row[i * 2 + (big_endian ? 0 : 1)];
  }
  void ToRgb(const uint8_t* row, size_t x, uint8_t* rgb) const {
    if (photometric == kRgb) {
      for (size_t c = 0; c < 3; ++c) rgb[c] = Sample(row, x * samples + c);
      return;
    }
    const uint8_t value = Sample(row, x * samples);
    if (photometric == kPalette) {
      for (size_t c = 0; c < 3; ++c) rgb[c] = static_cast<uint8_t>(colours[c * 256 + value] >> 8);
      return;
    }
    const auto grey = static_cast<uint8_t>(bits == 1 ? value * 255 : value);
    std::fill_n(rgb, 3, photometric == kWhiteIsZero ? static_cast<uint8_t>(255 - grey) : grey);
  }
};

std::optional<Form> ReadForm(const TiffFile& file) {
  Form form{};
  form.width = file.Number(kWidth, 0), form.height = file.Number(kHeight, 0);
  if (!IsImageSize(form.height, form.width)) return std::nullopt;
  form.samples = file.Number(kSamples, 1),
  form.photometric = file.Number(kPhotometric, kBlackIsZero);
  const auto bits = file.Numbers(kBits);
  form.bits = bits.empty() ? 1 : bits[0];
  form.big_endian = file.big_endian();
  if (std::any_of(bits.begin(), bits.end(), [&](uint32_t each) { return each != form.bits; }))
    return std::nullopt;
  if (form.samples < 1 || form.samples > 8 || (form.samples > 1 && file.Number(kPlanar, 1) != 1))
    return std::nullopt;
  const bool wide = form.bits == 8 || form.bits == 16;
  switch (form.photometric) {
    case kWhiteIsZero:
    case kBlackIsZero:
      if (!wide && (form.bits != 1 || form.samples != 1)) return std::nullopt;
      return form;
    case kRgb:
      if (!wide || form.samples < 3) return std::nullopt;
      return form;
    case kPalette:
      form.colours = file.Numbers(kColorMap);
      if (form.bits != 8 || form.colours.size() != 3 * 256) return std::nullopt;
      return form;
    default:
      return std::nullopt;
  }
}

// Turns differences to the left neighbour into values, in one row.
void Sum(const Form& form, uint8_t* row, int64_t columns) {
  const size_t n = static_cast<size_t>(columns) * form.samples;
  for (size_t i = form.samples; i < n; ++i) {
    if (form.bits == 8) {
      row[i] = static_cast<uint8_t>(row[i] + row[i - form.samples]);
      continue;
    }
    const size_t low = form.big_endian ? 1 : 0;
    const auto at = [&](size_t k) { return row[k * 2 + low] | row[k * 2 + 1 - low] << 8; };
    const int sum = at(i) + at(i - form.samples);
    row[i * 2 + low] = static_cast<uint8_t>(sum);
    row[i * 2 + 1 - low] = static_cast<uint8_t>(sum >> 8);
  }
}
}  // namespace

std::optional<RgbImage> DecodeTiff(FileBytes bytes) {
  TiffFile file;
  if (!file.Read(bytes)) return std::nullopt;
  const auto form = ReadForm(file);
  if (!form) return std::nullopt;
  const bool tiled = file.HasTag(kTileOffsets);
  const int64_t columns = tiled ? file.Number(kTileWidth, 0) : form->width;
  const int64_t rows =
      tiled ? file.Number(kTileHeight, 0)
            : std::min<int64_t>(file.Number(kRowsPerStrip, UINT32_MAX), form->height);
  if (!IsImageSize(rows, columns)) return std::nullopt;
  const int64_t across = (form->width - 1) / columns + 1, down = (form->height - 1) / rows + 1;
  // Else a little image could have tiles that each unpack to the largest one.
  if (tiled && !IsImageSize(down * rows, across * columns)) return std::nullopt;
  const auto offsets = file.Numbers(tiled ? kTileOffsets : kStripOffsets);
  const auto sizes = file.Numbers(tiled ? kTileBytes : kStripBytes);
  const auto blocks = static_cast<size_t>(across * down);
  if (offsets.size() < blocks || sizes.size() < blocks) return std::nullopt;
  const uint32_t compression = file.Number(kCompression, kNone),
                 predictor = file.Number(kPredictor, 1);
  if (predictor != 1 && (predictor != 2 || form->bits == 1)) return std::nullopt;
  const size_t row_bytes = form->RowBytes(columns);
  auto image = MakeImage(form->height, form->width);
  std::vector<uint8_t> block;
  for (size_t b = 0; b < blocks; ++b) {
    const int64_t top = static_cast<int64_t>(b) / across * rows,
                  left = static_cast<int64_t>(b) % across * columns;
    const int64_t stored = tiled ? rows : std::min(rows, form->height - top);
    if (!file.Has(offsets[b], sizes[b])) return std::nullopt;
    const size_t unpacked = row_bytes * static_cast<size_t>(stored);
    if (unpacked / kMostGrowth > sizes[b]) return std::nullopt;
    block.resize(unpacked);
    if (!Unpack(compression, file.Part(offsets[b], sizes[b]), block)) return std::nullopt;
    for (int64_t y = 0; y < std::min(stored, form->height - top); ++y) {
      uint8_t* row = block.data() + static_cast<size_t>(y) * row_bytes;
      if (predictor == 2) Sum(*form, row, columns);
      uint8_t* to = image->pixels.data() + ((top + y) * form->width + left) * 3;
      const auto shown = static_cast<size_t>(std::min(columns, form->width - left));
      for (size_t x = 0; x < shown; ++x) form->ToRgb(row, x, to + x * 3);
    }
  }
  return image;
}

}  // namespace asc
