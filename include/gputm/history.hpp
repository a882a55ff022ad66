// Floor 4: recorded histories of transactions, and the checker that says whether they can be explained by a serial
// order. Plain host C++; nothing here needs a GPU. docs/histories.md tells how to record one and how to read a report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace gputm::history {

/// One element of one region of a memory.
struct location {
  std::uint32_t region = 0;
  std::uint32_t element = 0;
  friend bool operator==(const location&, const location&) = default;
};

struct location_hash {
  std::size_t operator()(const location& at) const noexcept {
    return static_cast<std::size_t>((std::uint64_t{at.region} << 32 | at.element) * 0x9e3779b97f4a7c15u);
  }
};

using values = std::unordered_map<location, std::uint64_t, location_hash>;

/// One load or store that the body of a transaction made.
struct access {
  std::uint32_t region = 0;
  std::uint32_t element = 0;
  std::uint64_t value = 0;  ///< read or written: the element's first 8 bytes, or a digest of the element
  bool is_write = false;
};

/// One attempt. A transaction that aborted and was tried again is several of these.
struct transaction {
  enum class ended : std::uint8_t {
    committed,
    cancelled,  ///< rolled back by its body: its reads count as those of a committed transaction, its writes do not
    aborted     ///< by the algorithm: its reads count for opacity only, its writes never
  };
  std::uint64_t begin = 0;  ///< drawn from one global counter before the attempt starts
  std::uint64_t end = 0;    ///< drawn from the same counter after it returned; a is before b iff a.end < b.begin
  std::uint32_t thread = 0;
  ended how = ended::committed;
  std::vector<access> accesses;  ///< in program order, with the reads that were served from the own write set
};

/// What committed transactions write to one element must be unique in a history, and differ from its initial value:
/// values identify their writers. Attempts that did not commit, and writes that their transaction overwrites, may
/// repeat what another one wrote.
struct history {
  values initial;                         ///< an element that is not in here starts as 0
  std::vector<transaction> transactions;  ///< in any order; reports number them by their place in here
  values final;                           ///< after all transactions; an element that is not in here is not checked
};

enum class level : std::uint8_t {
  serialisable,  ///< one serial order explains all committed and cancelled transactions
  strict,        ///< and that order keeps to real time
  opaque         ///< and it has a place for every aborted transaction too, at which its reads are right
};

struct options {
  gputm::history::level level = gputm::history::level::strict;
  /// Steps (nodes and edges visited, some tens of nanoseconds each) the search for an order of blind writes may take.
  std::uint64_t work_bound = 300'000'000;
};

enum class finding : std::uint8_t {
  consistent,
  violation,
  unusable,  ///< the history cannot be checked: two writers of one value, or a transaction that ends before it begins
  undetermined  ///< the work bound was reached
};

struct verdict {
  bool ok = false;  ///< found == finding::consistent
  finding found = finding::undetermined;
  std::string what;  ///< for people: what is wrong, with the cycle where there is one; empty when ok
  /// Indices into history::transactions; for a cycle, in its order.
  std::vector<std::size_t> culprits;
  /// When ok: a serial order that explains the history, of the transactions that the level takes into account. Every
  /// ok was certified by replaying the history in this order.
  std::vector<std::size_t> order;
};

/// Decides whether a history keeps the promise of a level. Linear up to sorting, except for elements that are written
/// blindly, without having been read by their writer: what order such writes took may need a search, within
/// options::work_bound. Method: serialisation graph over known versions (Adya, Liskov, O'Neil, ICDE 2000), as a
/// polygraph where the version order is not known (Papadimitriou, J. ACM 26(4), 1979).
/// Throws std::logic_error if an order that was found does not replay, which is a defect of the checker.
[[nodiscard]] verdict check(const history&, const options& = {});

/// A history's text form was not understood.
class format_error : public std::runtime_error {
 public:
  format_error(std::size_t line, const std::string& what);
  std::size_t line;  ///< counted from 1
};

/// Writes the text form: one line per transaction, see docs/histories.md.
/// Throws std::ios_base::failure if the stream refuses it.
void write(std::ostream&, const history&);
/// Reads what write() wrote. Throws format_error, with the number of the line.
[[nodiscard]] history read(std::istream&);

}  // namespace gputm::history
