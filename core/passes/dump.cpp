#include "core/passes/dump.h"

#include <filesystem>
#include <fstream>
#include <mutex>

#include "core/graph/dot.h"
#include "core/graph/text.h"

namespace asc {
namespace {
struct Writers {
  std::mutex mutex;
  std::map<std::string, DumpWriter, std::less<>> by_ending = {
      {"dot", [](const Graph& graph,
                 const std::string& path) { return WriteTextFile(path, ToDot(graph)); }},
      {"txt", [](const Graph& graph,
                 const std::string& path) { return WriteTextFile(path, ToText(graph)); }},
  };
};

Writers& AllWriters() {
  static Writers* writers = new Writers;  // never destroyed: compilations may run during exit
  return *writers;
}
}  // namespace

void RegisterDumpWriter(std::string_view ending, DumpWriter writer) {
  Writers& writers = AllWriters();
  const std::lock_guard lock(writers.mutex);
  writers.by_ending.insert_or_assign(std::string(ending), std::move(writer));
}

Status WriteTextFile(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file.fail()) return Error(Code::kIo, "cannot write '", path, "'");
  return Ok();
}

Status DumpGraph(const Graph& graph, const std::string& folder, std::string_view stem) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Error(Code::kIo, "cannot make the dump folder '", folder, "': ", error.message());
  std::map<std::string, DumpWriter, std::less<>> writers;
  {
    const std::lock_guard lock(AllWriters().mutex);
    writers = AllWriters().by_ending;
  }
  for (const auto& [ending, writer] : writers) {
    ASC_RETURN_IF_ERROR(writer(graph, Cat(folder, "/", stem, ".", ending)));
  }
  return Ok();
}

}  // namespace asc
