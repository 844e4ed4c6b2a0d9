// The `.om` container: a compiled model in one flat file, loaded by mapping it.
//
//   header    magic "ASCOM\r\n\0", format version (u32), section count (u32), XXH3 of the section table (u64)
//   table     per section: kind (u32), reserved (u32), offset (u64), size (u64), XXH3 of its bytes (u64)
//   sections  aligned to 64 bytes: manifest (JSON), graph (the text form of graph/text.h), weights, packed weights
//
// All numbers are little-endian. Sizes, offsets and checksums are checked before anything is parsed. The graph is the optimised one:
// no passes run on load. Weights are row-major elements, each aligned to 64 bytes. Packed weights belong to one instruction
// set and library version, and are left aside on any other; on a match nothing is packed again.
#ifndef ASC_CORE_COMPILE_OM_H_
#define ASC_CORE_COMPILE_OM_H_

#include <string>

#include "core/base/mapped_file.h"
#include "core/compile/executable.h"

namespace asc {

// Writes to a temporary file beside `path` and renames it, so that a failure leaves what was there. With `packed`, the packed
// weights made so far are written too. E5010 when it cannot be written.
Status SaveOm(const Executable& executable, const std::string& path, bool packed = true);

// True when the bytes begin like a `.om` file.
bool LooksLikeOm(const void* data, size_t bytes);

// Maps the file. `options`: what concerns running (threads, plan_cache_size, buffer options, assume_finite and winograd stay as saved); what concerns
// optimisation was decided when the file was made. E5006 for damaged or hostile files, E5010 when it cannot be opened.
Result<std::shared_ptr<Executable>> LoadOm(const std::string& path, Device& device, const CompileOptions& options);
Result<std::shared_ptr<Executable>> LoadOm(std::shared_ptr<Buffer> bytes, Device& device, const CompileOptions& options);

}  // namespace asc

#endif  // ASC_CORE_COMPILE_OM_H_
