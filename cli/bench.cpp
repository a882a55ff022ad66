#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "commands.hpp"
#include "gputm/error.hpp"
#include "json.hpp"
#include "loop_rows.hpp"
#include "table.hpp"
#include "text.hpp"
#include "venues.hpp"
#include "workload_table.hpp"

namespace gputm::cli {
namespace {

using workloads::measurement;

/// The options of this run: those of every workload, of this one, and of the device.
std::vector<setting> settings_of(const workload_entry& w, bool on_host) {
  std::vector<setting> all = w.settings;
  for (setting& s : w.loop ? loop_settings() : common_settings()) all.push_back(s);
  if (on_host)
    for (setting& s : host_settings()) all.push_back(s);
  return all;
}

void refuse_unknown(const bench_request& r, const workload_entry& w, const std::vector<setting>& known) {
  for (const auto& option : r.given) {
    const std::string& name = option.first;
    if (std::any_of(known.begin(), known.end(), [&](const setting& s) { return s.name == name; })) continue;
    for (const setting& s : host_settings())
      if (s.name == name) throw usage_error("--" + name + " is an option of the host device");
    throw usage_error(fmt::format("--{} is no option of {}", name, w.name));
  }
}

void refuse_contradictions(const bench_request& r, const workload_entry& w,
                           const std::vector<const algorithm_entry*>& algorithms) {
  const auto given = [&](const char* name) { return r.given.count(name) != 0; };
  if (given("transactions") && given("seconds"))
    throw usage_error("--transactions and --seconds: a run ends by one or the other");
  if (given("reads") && given("read-capacity")) throw usage_error("--reads and --read-capacity are the same");
  if (!w.open_ended && !w.loop)
    for (const char* name : {"transactions", "seconds", "seed", "reads", "writes"})
      if (given(name))
        throw usage_error(fmt::format("--{} is no option of {}: its own say how much it does", name, w.name));
  const auto needs = [&](const char* name, bool algorithm_traits::*trait, const char* whose) {
    if (given(name) && std::none_of(algorithms.begin(), algorithms.end(),
                                    [trait](const algorithm_entry* a) { return a->traits.*trait; }))
      throw usage_error(fmt::format("--{} is for {}, and none of the chosen ones is", name, whose));
  };
  for (const char* name : {"versions", "record"})
    needs(name, &algorithm_traits::multi_version, "multi-version algorithms");
  needs("servers", &algorithm_traits::several_servers, "algorithms with several servers");
  needs("cluster", &algorithm_traits::server_cluster, "algorithms whose servers can be a cluster");
}

std::vector<axis> axes_of(const bench_request& r, const workload_entry& w, bool on_host,
                          const std::vector<const algorithm_entry*>& algorithms) {
  const std::vector<setting> known = settings_of(w, on_host);
  refuse_unknown(r, w, known);
  refuse_contradictions(r, w, algorithms);
  std::vector<axis> axes;
  for (const setting& s : known) {
    const auto at = r.given.find(s.name);
    if (at == r.given.end()) {
      const bool idle = s.name == "seconds"
                            ? !w.open_ended || r.given.count("transactions")
                            : !w.open_ended && !w.loop && (s.name == "seed" || s.name == "reads" || s.name == "writes");
      if (!s.fallback.empty() && !idle) axes.push_back({s, {parse(s, s.fallback)}});
    } else {
      axes.push_back({s, parse_list(s, at->second)});
    }
  }
  if (w.settle) w.settle(r.given, axes);
  return axes;
}

/// What one row of the table says.
struct row_result {
  std::vector<measurement> runs;
  std::string failed;
  bool refused = false;  ///< it could not be run at all
};

class session {
  const bench_request& r_;
  const workload_entry& w_;
  venue& venue_;
  std::vector<axis> axes_;
  std::vector<const algorithm_entry*> algorithms_;
  std::vector<point> points_;
  json_file json_;
  progress progress_;
  std::optional<table> table_;
  bool broken_ = false;
  std::size_t ran_ = 0;
  std::vector<std::string> refusals_;
  std::string reason_;  // why the last one could not

 public:
  session(const bench_request& r, const workload_entry& w, venue& v, std::vector<const algorithm_entry*> algorithms)
      : r_(r),
        w_(w),
        venue_(v),
        axes_(axes_of(r, w, v.is_host(), algorithms)),
        algorithms_(std::move(algorithms)),
        points_(combinations(axes_)),
        json_(r.json, r.command),
        progress_(points_.size() * algorithms_.size() * r.repeat) {}

  int run() {
    for (const point& p : points_)
      for (const algorithm_entry* a : algorithms_) row(p, *a);
    json_.close();
    if (ran_ == 0) throw usage_error(refusals_.empty() ? reason_ : refusals_.front());
    if (refusals_.size() == 1) complain(refusals_.front());
    if (refusals_.size() > 1) complain(fmt::format("{} rows were refused; {}", refusals_.size(), refusals_.front()));
    return broken_ ? broken : refusals_.empty() ? all_held : refused;
  }

 private:
  static bool varies(const axis& a) {
    return a.values.size() > 1 && a.setting.name != "blocks" && a.setting.name != "threads";
  }

  /// What the line above the table has: the workload's own settings, the amount, and what was given.
  bool worth_saying(const axis& a) const {
    if (a.values.size() > 1 || (a.setting.flag && !a.values[0].whole)) return false;
    if (r_.given.count(a.setting.name) || a.setting.name == "seconds") return true;
    return std::any_of(w_.settings.begin(), w_.settings.end(),
                       [&](const setting& s) { return s.name == a.setting.name; });
  }

  void heading() {
    const bool silent = r_.json == "-";
    std::vector<std::string> fixed;
    std::vector<column> columns;
    for (const axis& a : axes_) {
      if (varies(a)) {
        column c{a.setting.name, 0};
        for (const value& v : a.values) c.width = std::max(c.width, v.text.size());
        columns.push_back(c);
      } else if (worth_saying(a)) {
        fixed.push_back(a.setting.name + (a.setting.flag ? "" : " " + a.values[0].text));
      }
    }
    column names{"algorithm", 0, true};
    for (const algorithm_entry* a : algorithms_) names.width = std::max(names.width, a->name.size());
    columns.push_back(names);
    for (column& c : w_.loop ? loop_columns(r_.repeat > 1) : transaction_columns()) columns.push_back(std::move(c));
    if (!silent) fmt::print("{} on {}: {}\n\n", w_.name, venue_.on(points_[0])->name(), join(fixed, ", "));
    table_.emplace(columns, silent);
  }

  std::vector<column> transaction_columns() const {
    return {{"blocks x threads", 0},
            {"commits/s (M)", r_.repeat > 1 ? 32u : 0u},
            {"aborts/commit", 0},
            {"read-only", 0},
            {"invariant", 0, true}};
  }

  void row(const point& p, const algorithm_entry& a) {
    std::string reason = w_.why_not(a);
    if (a.host_only && !venue_.is_host()) reason = "it runs on the host only";
    if (!reason.empty()) {
      reason_ = fmt::format("{} cannot run {}: {}", a.name, w_.name, reason);
      print(p, a, {"n/a", "n/a", "", "", reason});
      for (std::uint64_t k = 0; k < r_.repeat; ++k) progress_.step("");
      return;
    }
    const row_result result = measure(p, a);
    progress_.clear();
    if (result.refused) {
      refusals_.push_back(is_only() ? result.failed : fmt::format("{}: {}", named(p, a), result.failed));
      if (!is_only()) print(p, a, no_figures("refused: " + result.failed));
      return;
    }
    ++ran_;
    print(p, a,
          result.failed.empty() ? cells_of(a, result)
                                : no_figures(a.traits.isolated ? "FAILED" : "FAILED (nothing isolates it)"));
    complain_of(a, result);
  }
  /// Whether there is one row.
  bool is_only() const { return points_.size() * algorithms_.size() == 1; }
  /// Which row it is, in words.
  std::string named(const point& p, const algorithm_entry& a) const {
    std::string text = fmt::format("{} under {}", w_.name, a.name);
    for (const axis& x : axes_)
      if (x.values.size() > 1) text += fmt::format(", {} {}", x.setting.name, p.text(x.setting.name));
    return text;
  }

  row_result measure(const point& p, const algorithm_entry& a) {
    row_result result;
    const device& d = venue_.on(p);
    const auto refuse = [&result](std::string_view why) {
      result.failed = why;
      result.refused = true;
    };
    for (std::uint64_t k = 0; k < r_.repeat && result.failed.empty(); ++k) {
      progress_.step(fmt::format("{}: {}, run {} of {}", w_.name, a.name, k + 1, r_.repeat));
      measurement m;
      try {
        if (k == 0) (void)w_.run(a, d, p, effort::warm_up);
        m = w_.run(a, d, p, effort::full);
      } catch (const no_progress& e) {
        result.failed = e.what();
      } catch (const schedule_failed& e) {
        result.failed = e.what();
      } catch (const std::bad_alloc&) {
        refuse(out_of_host_memory);
      } catch (const error& e) {
        refuse(e.what());
      } catch (const usage_error& e) {
        refuse(e.what());
      }
      if (!result.failed.empty()) m.invariant = result.failed = one_line(as_options(result.failed));
      if (result.refused && is_only()) break;
      json_.add(
          {w_.name, &a, venue_.name(), d->name(), &p, m, result.failed, venue_.is_host() ? d->multiprocessors() : 0});
      result.runs.push_back(m);
    }
    return result;
  }

  /// Says what did not hold. What nothing isolates may break: that is what it is there to show.
  void complain_of(const algorithm_entry& a, const row_result& result) {
    for (const measurement& m : result.runs) {
      if (m.ok || !(m.loop ? m.loop->judged : a.traits.isolated)) continue;
      broken_ = true;
      complain(fmt::format("{} under {}: {}", w_.name, a.name, m.invariant));
    }
  }

  /// The cells of a row that has none, and says why.
  std::vector<std::string> no_figures(std::string why) const {
    std::vector<std::string> cells(w_.loop ? 5 : 4);
    cells.push_back(std::move(why));
    return cells;
  }
  static std::vector<std::string> cells_of(const algorithm_entry& a, row_result result) {
    if (result.runs[0].loop) return loop_cells(std::move(result.runs));
    std::vector<measurement>& runs = result.runs;
    std::sort(runs.begin(), runs.end(), [](const measurement& x, const measurement& y) {
      return x.commits_per_second() < y.commits_per_second();
    });
    const measurement& m = runs[(runs.size() - 1) / 2];  // of two in the middle the slower one
    const auto millions = [](const measurement& x) { return number(x.commits_per_second() / 1e6); };
    std::string speed = millions(m);
    if (runs.size() > 1) speed += fmt::format(" ({}..{})", millions(runs.front()), millions(runs.back()));
    const double commits = static_cast<double>(std::max<std::uint64_t>(m.stats.commits, 1));
    const bool ok = std::all_of(runs.begin(), runs.end(), [](const measurement& x) { return x.ok; });
    return {fmt::format("{} x {}", m.blocks, m.threads), speed, number(m.stats.aborts_per_commit(), 3),
            fmt::format("{:.1f} %", 100 * static_cast<double>(m.stats.read_only_commits) / commits),
            std::string(ok ? "ok" : "BROKEN") + (a.traits.isolated ? "" : " (nothing isolates it)")};
  }

  void print(const point& p, const algorithm_entry& a, const std::vector<std::string>& measured) {
    std::vector<std::string> cells;
    for (const axis& x : axes_)
      if (varies(x)) cells.push_back(p.text(x.setting.name));
    cells.emplace_back(a.name);
    cells.insert(cells.end(), measured.begin(), measured.end());
    progress_.clear();
    if (!table_) heading();  // not before there is something to say
    table_->row(cells);
  }
};

}  // namespace

namespace {

/// The entries that `text` names. `others` are of the other kind, for who mistakes one for the other.
std::vector<const algorithm_entry*> chosen(const std::string& text, const std::vector<algorithm_entry>& all,
                                           const std::vector<algorithm_entry>& others, const char* what,
                                           const char* hint) {
  std::vector<const algorithm_entry*> entries;
  std::vector<std::string> names;
  for (const algorithm_entry& a : all) names.emplace_back(a.name);
  for (const std::string& name : split(text, ',')) {
    const std::size_t before = entries.size();
    for (const algorithm_entry& a : all)
      if (name == "all" || name == a.name) entries.push_back(&a);
    if (entries.size() != before) continue;
    const bool other =
        std::any_of(others.begin(), others.end(), [&](const algorithm_entry& a) { return name == a.name; });
    throw usage_error(
        fmt::format("no {} is called '{}'{}; there are {}", what, name, other ? hint : "", join(names, ", ")));
  }
  return entries;
}

}  // namespace

std::vector<const algorithm_entry*> chosen_algorithms(const std::string& text) {
  return chosen(text, algorithms(), engines(), "algorithm", ", which is an engine for loops");
}
std::vector<const algorithm_entry*> chosen_engines(const std::string& text) {
  return chosen(text, engines(), algorithms(), "loop engine", ", which is an algorithm for transactions");
}

int bench(const bench_request& r) {
  const workload_entry& w = find_workload(r.workload);
  auto algorithms = w.loop ? chosen_engines(r.algorithm) : chosen_algorithms(r.algorithm);
  venue v(r.device);
  return session(r, w, v, std::move(algorithms)).run();
}

}  // namespace gputm::cli
