// Writers of graph dumps by file ending. Text (.txt) and DOT (.dot) are built in; higher rooms add
// theirs (ONNX).
#ifndef ASC_CORE_PASSES_DUMP_H_
#define ASC_CORE_PASSES_DUMP_H_

#include <functional>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace asc {

using DumpWriter = std::function<Status(const Graph& graph, const std::string& path)>;

// Adds a writer, or replaces the one for that ending ("onnx"). Thread-safe.
void RegisterDumpWriter(std::string_view ending, DumpWriter writer);

// Writes `<folder>/<stem>.<ending>` with every writer; makes the folder. E5010 when a file cannot
// be written.
Status DumpGraph(const Graph& graph, const std::string& folder, std::string_view stem);

// The whole file; E5010 when it cannot be written.
Status WriteTextFile(const std::string& path, std::string_view text);

}  // namespace asc

#endif  // ASC_CORE_PASSES_DUMP_H_
