#include "capi/src/options.h"

#include <algorithm>
#include <variant>

#include "core/passes/fusion.h"

using asc::Cat;
using asc::Code;
using asc::CompileOptions;
using asc::FusionSettings;
using asc::InvalidArgument;
using asc::Ok;
using asc::Status;
using asc::capi::Guard;
using asc::capi::Lend;
using asc::capi::View;

namespace {
using Member = std::variant<int CompileOptions::*, bool CompileOptions::*,
                            int64_t CompileOptions::*, std::string CompileOptions::*>;
struct Option {
  std::string_view key;
  Member member;
};
constexpr Option kOptions[] = {
    {"graph_opt_level", &CompileOptions::graph_opt_level},
    {"enable_const_fold", &CompileOptions::enable_const_fold},
    {"enable_mem_reuse", &CompileOptions::enable_mem_reuse},
    {"buffer_optimize_level", &CompileOptions::buffer_optimize_level},
    {"assume_finite", &CompileOptions::assume_finite},
    {"winograd", &CompileOptions::winograd},
    {"tune", &CompileOptions::tune},
    {"tune_cache", &CompileOptions::tune_cache},
    {"threads", &CompileOptions::threads},
    {"plan_cache_size", &CompileOptions::plan_cache_size},
    {"verify_passes", &CompileOptions::verify_passes},
    {"rewrite_limit", &CompileOptions::rewrite_limit},
    {"dump_path", &CompileOptions::dump_path},
};

// Precision modes by both of their names; only the first is built.
constexpr std::string_view kKeepTypes[] = {"must_keep_origin_dtype", "origin"};
constexpr std::string_view kOtherPrecisions[] = {"force_fp16",
                                                 "force_fp32",
                                                 "allow_fp32_to_fp16",
                                                 "allow_mix_precision",
                                                 "allow_mix_precision_bf16",
                                                 "cube_fp16in_fp32out",
                                                 "fp16",
                                                 "bf16",
                                                 "mixed_float16",
                                                 "mixed_bfloat16",
                                                 "cube_hif8",
                                                 "mixed_hif8"};
constexpr std::string_view kNotBuilt[] = {"cache_dir", "fusion_switch_file", "precision_overrides"};

template <typename Range>
bool Contains(const Range& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// "did you mean", over some names.
Status WithNearest(Status status, std::string_view name, const std::vector<std::string>& names) {
  const std::string nearest = asc::NearestMatch(name, names);
  return nearest.empty() ? status
                         : std::move(status).WithHint(Cat("did you mean '", nearest, "'?"));
}

asc::Result<Member> FindOption(std::string_view key, bool text) {
  std::vector<std::string> names = {"precision_mode"};
  for (const Option& option : kOptions) {
    if (option.key == key) {
      if (std::holds_alternative<std::string CompileOptions::*>(option.member) == text)
        return option.member;
      return asc::TypeError("compile option '", key, "' is a ",
                            text ? "number, given a text" : "text, given a number");
    }
    names.emplace_back(option.key);
  }
  if (Contains(kNotBuilt, key))
    return asc::Error(Code::kUnavailable, "compile option '", key, "' is not built yet");
  if (key == "precision_mode")
    return asc::TypeError("compile option 'precision_mode' is a text, given a number");
  return WithNearest(InvalidArgument("there is no compile option '", key, "'"), key, names);
}

Status CheckPrecisionMode(std::string_view mode) {
  if (Contains(kKeepTypes, mode)) return Ok();
  if (Contains(kOtherPrecisions, mode)) {
    return asc::Error(Code::kUnavailable, "precision_mode '", mode, "' is not built yet")
        .WithHint("use 'must_keep_origin_dtype'");
  }
  std::vector<std::string> names(std::begin(kKeepTypes), std::end(kKeepTypes));
  names.insert(names.end(), std::begin(kOtherPrecisions), std::end(kOtherPrecisions));
  return WithNearest(InvalidArgument("there is no precision_mode '", mode, "'"), mode, names);
}

Status CheckScope(int32_t scope) {
  return scope < 0 ? InvalidArgument("a fusion scope's number is not negative, given ", scope)
                   : Ok();
}

// A flag or number in range for its C++ type; thread counts beyond any machine are capped.
template <typename T>
asc::Result<T> InRange(std::string_view key, int64_t value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value == 0 || value == 1) return value == 1;
    return InvalidArgument(key, " must be 0 or 1, given ", value);
  } else {
    if (key == "threads") value = std::min<int64_t>(value, INT32_MAX);
    if (value == static_cast<int64_t>(static_cast<T>(value))) return static_cast<T>(value);
    return InvalidArgument(key, " is out of range: ", value);
  }
}
}  // namespace

asc_status* asc_compile_options_create(asc_compile_options** out) {
  return Guard([&]() -> Status {
    ASC_NEED(out);
    *out = asc_compile_options::New();
    return Ok();
  });
}

asc_status* asc_compile_options_copy(const asc_compile_options* options,
                                     asc_compile_options** out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    ASC_NEED(out);
    *out = asc_compile_options::New(**options);
    return Ok();
  });
}

void asc_compile_options_retain(asc_compile_options* options) {
  asc_compile_options::Retain(options);
}
void asc_compile_options_release(asc_compile_options* options) {
  asc_compile_options::Release(options);
}

asc_status* asc_compile_options_set_int(asc_compile_options* options, asc_string key,
                                        int64_t value) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    ASC_NEED_TEXT(key);
    ASC_ASSIGN_OR_RETURN(const Member member, FindOption(View(key), false));
    CompileOptions changed = **options;
    ASC_RETURN_IF_ERROR(std::visit(
        [&](auto field) -> Status {
          using T = std::remove_reference_t<decltype(changed.*field)>;
          if constexpr (!std::is_same_v<T, std::string>) {
            ASC_ASSIGN_OR_RETURN(changed.*field, InRange<T>(View(key), value));
          }
          return Ok();
        },
        member));
    ASC_RETURN_IF_ERROR(changed.Validate());
    **options = std::move(changed);
    return Ok();
  });
}

asc_status* asc_compile_options_get_int(const asc_compile_options* options, asc_string key,
                                        int64_t* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    ASC_NEED_TEXT(key);
    ASC_NEED(out);
    ASC_ASSIGN_OR_RETURN(const Member member, FindOption(View(key), false));
    std::visit(
        [&](auto field) {
          if constexpr (!std::is_same_v<decltype(field), std::string CompileOptions::*>)
            *out = (**options).*field;
        },
        member);
    return Ok();
  });
}

asc_status* asc_compile_options_set_text(asc_compile_options* options, asc_string key,
                                         asc_string value) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    ASC_NEED_TEXT(key);
    ASC_NEED_TEXT(value);
    if (View(key) == "precision_mode") return CheckPrecisionMode(View(value));
    ASC_ASSIGN_OR_RETURN(const Member member, FindOption(View(key), true));
    (**options).*std::get<std::string CompileOptions::*>(member) = View(value);
    return Ok();
  });
}

asc_status* asc_compile_options_get_text(const asc_compile_options* options, asc_string key,
                                         asc_string* out) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    ASC_NEED_TEXT(key);
    ASC_NEED(out);
    if (View(key) == "precision_mode") {
      *out = Lend(kKeepTypes[0]);
      return Ok();
    }
    ASC_ASSIGN_OR_RETURN(const Member member, FindOption(View(key), true));
    *out = Lend((**options).*std::get<std::string CompileOptions::*>(member));
    return Ok();
  });
}

asc_status* asc_compile_options_set_fusion_mode(asc_compile_options* options, int32_t scope,
                                                asc_fusion_mode mode) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    ASC_RETURN_IF_ERROR(CheckScope(scope));
    if (mode < ASC_FUSION_OFF || mode > ASC_FUSION_AGGRESSIVE) {
      return InvalidArgument("a fusion mode is from 0 (off) to 3 (aggressive), given ", mode);
    }
    (*options)->fusion[scope].mode = static_cast<FusionSettings::Mode>(mode);
    return Ok();
  });
}

asc_status* asc_compile_options_disable_fusion(asc_compile_options* options, int32_t scope,
                                               asc_string name) {
  return Guard([&]() -> Status {
    ASC_NEED_HANDLE(options);
    ASC_NEED_TEXT(name);
    ASC_RETURN_IF_ERROR(CheckScope(scope));
    if (View(name) != "ALL" && asc::FindFusion(View(name)) == nullptr) {
      std::vector<std::string> names = {"ALL"};
      for (const asc::FusionInfo& fusion : asc::ListFusions()) names.push_back(fusion.name);
      Status status = asc::Error(Code::kNotFound, "there is no fusion '", View(name),
                                 "'; the fusions are ", names);
      return WithNearest(std::move(status), View(name), names);
    }
    (*options)->fusion[scope].disabled.emplace_back(View(name));
    return Ok();
  });
}
