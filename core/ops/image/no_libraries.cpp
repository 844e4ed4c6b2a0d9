// Stands for libraries.cpp in builds without those libraries.
#include "core/ops/image/codecs.h"

namespace asc {

const bool kHasImageLibraries = false;

std::optional<RgbImage> DecodeByLibrary(FileBytes) { return std::nullopt; }

bool Inflate(FileBytes, std::span<uint8_t>) { return false; }

}  // namespace asc
