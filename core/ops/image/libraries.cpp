// Image formats that libraries read: JPEG (TurboJPEG), JPEG 2000 (OpenJPEG), PNG (libpng), WebP
// (libwebp).
#include <openjpeg.h>
#include <png.h>
#include <turbojpeg.h>
#include <webp/decode.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "core/ops/image/codecs.h"

namespace asc {
namespace {
bool StartsWith(FileBytes file, std::initializer_list<uint8_t> bytes) {
  return file.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), file.begin());
}

// ---- JPEG ----

std::optional<RgbImage> DecodeJpeg(FileBytes file) {
  if (!StartsWith(file, {0xff, 0xd8, 0xff})) return std::nullopt;
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), tjDestroy);
  int width = 0, height = 0, sampling = 0, space = 0;
  if (decoder == nullptr || tjDecompressHeader3(decoder.get(), file.data(), file.size(), &width,
                                                &height, &sampling, &space) != 0) {
    return std::nullopt;
  }
  auto image = MakeImage(height, width);
  if (!image) return std::nullopt;
  // The library's way to enlarge colours and to round is the one that ONNX describes. Its warnings
  // (a file that ends early, say) fail too. Progressive files may have 500 scans: each goes over the
  // whole image, however short it is.
  const auto decode = [&](uint8_t* out, int format) {
    return tjDecompress2(decoder.get(), file.data(), file.size(), out, width, 0, height, format,
                         TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) == 0;
  };
  if (space != TJCS_CMYK && space != TJCS_YCCK) {
    if (!decode(image->pixels.data(), TJPF_RGB)) return std::nullopt;
    return image;
  }
  // Four inks, stored inverted.
  std::vector<uint8_t> inks(image->pixels.size() / 3 * 4);
  if (!decode(inks.data(), TJPF_CMYK)) return std::nullopt;
  for (size_t i = 0; i < image->pixels.size(); ++i) {
    image->pixels[i] =
        static_cast<uint8_t>((inks[i / 3 * 4 + i % 3] * inks[i / 3 * 4 + 3] + 127) / 255);
  }
  return image;
}

// ---- PNG ----

constexpr uint64_t kDeflateGrowth = 1032;  // the most bytes that one byte of a zlib stream gives

struct PngSource {
  FileBytes rest;
};

void ReadPng(png_structp png, png_bytep to, size_t count) {
  auto& source = *static_cast<PngSource*>(png_get_io_ptr(png));
  if (count > source.rest.size()) png_error(png, "the file ends early");
  std::memcpy(to, source.rest.data(), count);
  source.rest = source.rest.subspan(count);
}

void FailPng(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void IgnorePng(png_structp, png_const_charp) {}

// libpng leaves by longjmp: nothing here that would need a destructor.
bool ReadPngHeader(png_structp png, png_infop info) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_read_info(png, info);
  return true;
}

bool ReadPngRows(png_structp png, png_infop info, uint8_t* pixels, size_t row_bytes,
                 png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_strip_16(png);
  png_set_palette_to_rgb(png);
  png_set_expand_gray_1_2_4_to_8(png);
  png_set_gray_to_rgb(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) != row_bytes) return false;
  const png_uint_32 height = png_get_image_height(png, info);
  for (png_uint_32 y = 0; y < height; ++y) rows[y] = pixels + y * row_bytes;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

struct PngReader {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, FailPng, IgnorePng);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  PngReader() = default;
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

std::optional<RgbImage> DecodePng(FileBytes file) {
  if (file.size() < 8 || png_sig_cmp(file.data(), 0, 8) != 0) return std::nullopt;
  PngReader reader;
  if (reader.info == nullptr) return std::nullopt;
  PngSource source{file};
  png_set_read_fn(reader.png, &source, ReadPng);
  if (!ReadPngHeader(reader.png, reader.info)) return std::nullopt;
  const uint64_t packed_pixels = uint64_t{png_get_image_height(reader.png, reader.info)} *
                                 png_get_rowbytes(reader.png, reader.info);
  if (packed_pixels / kDeflateGrowth > file.size()) return std::nullopt;
  auto image = MakeImage(png_get_image_height(reader.png, reader.info),
                         png_get_image_width(reader.png, reader.info));
  if (!image) return std::nullopt;
  std::vector<png_bytep> rows(static_cast<size_t>(image->height));
  if (!ReadPngRows(reader.png, reader.info, image->pixels.data(),
                   static_cast<size_t>(image->width) * 3, rows.data())) {
    return std::nullopt;
  }
  return image;
}

// ---- WebP ----

// Pixels for each byte of a lossy file, at most: the modes alone of a block of 16 by 16 take over 3
// bits by VP8's fixed probabilities. (A lossless file may say in a few bytes that all pixels are
// alike.)
constexpr uint64_t kLossyGrowth = 1024;

std::optional<RgbImage> DecodeWebp(FileBytes file) {
  WebPBitstreamFeatures form;
  if (WebPGetFeatures(file.data(), file.size(), &form) != VP8_STATUS_OK) return std::nullopt;
  const int width = form.width, height = form.height;
  constexpr int kLossy = 1;
  if (form.format == kLossy &&
      static_cast<uint64_t>(width) * static_cast<uint64_t>(height) / kLossyGrowth > file.size()) {
    return std::nullopt;
  }
  auto image = MakeImage(height, width);
  if (!image || WebPDecodeRGBInto(file.data(), file.size(), image->pixels.data(),
                                  image->pixels.size(), width * 3) == nullptr) {
    return std::nullopt;
  }
  return image;
}

// ---- JPEG 2000 ----

constexpr uint32_t kMostParts = 5;  // four inks and transparency; all take memory

struct MemoryStream {
  FileBytes file;
  size_t at = 0;
};

OPJ_SIZE_T ReadStream(void* to, OPJ_SIZE_T count, void* user) {
  auto& stream = *static_cast<MemoryStream*>(user);
  count = std::min(count, stream.file.size() - stream.at);
  if (count == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, stream.file.data() + stream.at, count);
  stream.at += count;
  return count;
}

OPJ_OFF_T SkipStream(OPJ_OFF_T count, void* user) {
  auto& stream = *static_cast<MemoryStream*>(user);
  if (count < 0) return -1;
  stream.at = std::min(stream.file.size(), stream.at + static_cast<size_t>(count));
  return count;
}

OPJ_BOOL SeekStream(OPJ_OFF_T at, void* user) {
  auto& stream = *static_cast<MemoryStream*>(user);
  if (at < 0 || static_cast<size_t>(at) > stream.file.size()) return OPJ_FALSE;
  stream.at = static_cast<size_t>(at);
  return OPJ_TRUE;
}

// A component's sample as 8 bits; components may have fewer samples than the picture.
uint8_t SampleAt(const opj_image_comp_t& component, int64_t y, int64_t x, int64_t height,
                 int64_t width) {
  const int64_t row = y * component.h / height, column = x * component.w / width;
  const int64_t value = int64_t{component.data[row * component.w + column]} +
                        (component.sgnd ? int64_t{1} << (component.prec - 1) : 0);
  const int64_t most = (int64_t{1} << component.prec) - 1;
  const int64_t held = std::clamp<int64_t>(value, 0, most);
  return static_cast<uint8_t>(component.prec > 8 ? held >> (component.prec - 8)
                                                 : held * 255 / most);
}

// ITU-T T.871, the colours of JPEG files.
void YccToRgb(uint8_t* rgb) {
  const float y = rgb[0], cb = rgb[1] - 128.0f, cr = rgb[2] - 128.0f;
  const std::array<float, 3> out = {y + 1.402f * cr, y - 0.344136f * cb - 0.714136f * cr,
                                    y + 1.772f * cb};
  for (size_t c = 0; c < 3; ++c)
    rgb[c] = static_cast<uint8_t>(std::clamp(out[c] + 0.5f, 0.0f, 255.0f));
}

std::optional<RgbImage> DecodeJpeg2000(FileBytes file) {
  const bool bare = StartsWith(file, {0xff, 0x4f, 0xff, 0x51});
  if (!bare && !StartsWith(file, {0, 0, 0, 0x0c, 'j', 'P', ' ', ' '})) return std::nullopt;
  MemoryStream source{file};
  const std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream(
      opj_stream_default_create(OPJ_TRUE), opj_stream_destroy);
  const std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec(
      opj_create_decompress(bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2), opj_destroy_codec);
  if (stream == nullptr || codec == nullptr) return std::nullopt;
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), file.size());
  opj_stream_set_read_function(stream.get(), ReadStream);
  opj_stream_set_skip_function(stream.get(), SkipStream);
  opj_stream_set_seek_function(stream.get(), SeekStream);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* made = nullptr;
  if (!opj_setup_decoder(codec.get(), &parameters)) return std::nullopt;
  const bool header = opj_read_header(stream.get(), codec.get(), &made);
  const std::unique_ptr<opj_image_t, void (*)(opj_image_t*)> picture(made, opj_image_destroy);
  if (!header || picture->numcomps == 0 || picture->numcomps > kMostParts) return std::nullopt;
  const opj_image_comp_t* parts = picture->comps;
  for (uint32_t c = 0; c < picture->numcomps; ++c)
    if (!IsImageSize(parts[c].h, parts[c].w)) return std::nullopt;
  if (!opj_decode(codec.get(), stream.get(), picture.get()) ||
      !opj_end_decompress(codec.get(), stream.get())) {
    return std::nullopt;
  }
  const size_t colours = picture->numcomps >= 3 ? 3 : 1;
  for (size_t c = 0; c < colours; ++c) {
    if (parts[c].data == nullptr || parts[c].w == 0 || parts[c].h == 0 || parts[c].prec == 0 ||
        parts[c].prec > 31)
      return std::nullopt;
  }
  auto image = MakeImage(parts[0].h, parts[0].w);
  if (!image) return std::nullopt;
  uint8_t* to = image->pixels.data();
  for (int64_t y = 0; y < image->height; ++y) {
    for (int64_t x = 0; x < image->width; ++x, to += 3) {
      for (size_t c = 0; c < 3; ++c)
        to[c] = SampleAt(parts[std::min(c, colours - 1)], y, x, image->height, image->width);
      if (colours == 3 && picture->color_space == OPJ_CLRSPC_SYCC) YccToRgb(to);
    }
  }
  return image;
}

}  // namespace

const bool kHasImageLibraries = true;

std::optional<RgbImage> DecodeByLibrary(FileBytes file) {
  for (const auto decode : {DecodeJpeg, DecodeJpeg2000, DecodePng, DecodeWebp}) {
    if (auto image = decode(file)) return image;
  }
  return std::nullopt;
}

bool Inflate(FileBytes packed, std::span<uint8_t> out) {
  uLongf size = out.size();
  const int code = uncompress(out.data(), &size, packed.data(), packed.size());
  return (code == Z_OK || code == Z_BUF_ERROR) && size == out.size();
}

}  // namespace asc
