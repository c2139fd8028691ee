package explore

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/internal/toys"
)

// SummaryFile is the file of a folder of results that says what was searched.
const SummaryFile = "summary.json"

// Summary is what a search, or several shards of one, came to.
type Summary struct {
	System   string   `json:"system"`
	Workload string   `json:"workload"`
	Off      []string `json:"guards_off,omitempty"`
	On       []string `json:"guards_on,omitempty"`
	// FirstSeed and Seeds are the range that all shards share, Shards those
	// that are in here.
	FirstSeed uint64  `json:"first_seed"`
	Seeds     int     `json:"seeds"`
	Shards    []Shard `json:"shards"`
	// Runs is how many were made, Failed how many of them failed.
	Runs   int     `json:"runs"`
	Failed int     `json:"failed"`
	Kinds  []Kind  `json:"kinds"`
	Found  []Found `json:"found"`
}

// Shard is one part of a search.
type Shard struct {
	Number int `json:"shard"`
	Of     int `json:"of"`
}

// Kind counts the runs that showed a kind of anomaly.
type Kind struct {
	Failure
	Runs int `json:"runs"`
}

// Found is a failure with the file of its case.
type Found struct {
	Failure
	File       string `json:"file"`
	Seed       uint64 `json:"seed"`
	Faults     int    `json:"faults"`
	Operations int    `json:"operations"`
	Nodes      int    `json:"nodes"`
	DurationMS int64  `json:"duration_ms"`
	// Guarded tells that every guard on prevents it.
	Guarded bool `json:"prevented_by_guards,omitempty"`
	text    string
}

// Summary sums up a search.
func (s *Search) Summary(r *Result, findings []Finding) *Summary {
	d := s.withDefaults()
	out := &Summary{
		System: d.System, Workload: d.Workload, Off: d.Off, On: d.On, FirstSeed: d.First, Seeds: d.Runs, Shards: []Shard{{d.Shard, d.Shards}},
		Runs: r.Runs, Failed: r.Failed,
	}
	for f, n := range r.Seen {
		out.Kinds = append(out.Kinds, Kind{f, n})
	}
	for _, f := range findings {
		out.Found = append(out.Found, Found{
			Failure: f.Failure, File: d.fileName(f.Failure), Seed: f.Case.Seed, Faults: len(f.Case.Faults), Operations: len(f.Case.Ops),
			Nodes: f.Case.Controllers + f.Case.Brokers, DurationMS: f.Case.End.Milliseconds(), Guarded: f.Guarded, text: f.Case.String(),
		})
	}
	out.sort()
	return out
}

func (s *Search) fileName(f Failure) string {
	name := s.System
	if s.Workload == toys.Data {
		name += "-data"
	}
	for _, off := range s.Off {
		name += "-no-" + off
	}
	slug := f.Slug()
	return name + "-" + slug[:min(len(slug), 100)] + ".txt"
}

func (s *Summary) sort() {
	slices.SortFunc(s.Kinds, func(a, b Kind) int { return a.Failure.Compare(b.Failure) })
	slices.SortFunc(s.Found, func(a, b Found) int { return a.Failure.Compare(b.Failure) })
	slices.SortFunc(s.Shards, func(a, b Shard) int { return cmp.Compare(a.Number, b.Number) })
}

// Write writes the cases and the summary into a folder, which is made if needed.
func (s *Summary) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range s.Found {
		if err := os.WriteFile(filepath.Join(dir, f.File), []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, SummaryFile), append(text, '\n'), 0o644)
}

// Read reads a folder that Write has written.
func Read(dir string) (*Summary, error) {
	path := filepath.Join(dir, SummaryFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s; expected a folder that explore has written", dir, SummaryFile)
	}
	if err != nil {
		return nil, err
	}
	s := &Summary{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range s.Found {
		f := &s.Found[i]
		if f.File != filepath.Base(f.File) {
			return nil, fmt.Errorf("%s: case %q is not a file of the same folder", path, f.File)
		}
		text, err := os.ReadFile(filepath.Join(dir, f.File))
		if err != nil {
			return nil, err
		}
		f.text = string(text)
	}
	return s, nil
}

// Merge joins the results of shards of one search: of each failure, the case of
// the least seed.
func Merge(parts ...*Summary) (*Summary, error) {
	if len(parts) == 0 {
		return nil, errors.New("nothing to merge")
	}
	out := *parts[0]
	out.Runs, out.Failed, out.Shards, out.Kinds, out.Found = 0, 0, nil, nil, nil
	kinds, found := map[Failure]int{}, map[Failure]Found{}
	for _, p := range parts {
		if p.System != out.System || p.Workload != out.Workload || !slices.Equal(p.Off, out.Off) || !slices.Equal(p.On, out.On) ||
			p.FirstSeed != out.FirstSeed || p.Seeds != out.Seeds {
			return nil, fmt.Errorf("results of different searches: %s and %s", &out, p)
		}
		for _, sh := range p.Shards {
			if i := slices.IndexFunc(out.Shards, func(o Shard) bool { return o.Of != sh.Of || o.Number == sh.Number }); i >= 0 {
				return nil, fmt.Errorf("shards %d/%d and %d/%d; expected each shard of one division once",
					out.Shards[i].Number, out.Shards[i].Of, sh.Number, sh.Of)
			}
		}
		out.Shards = append(out.Shards, p.Shards...)
		out.Runs += p.Runs
		out.Failed += p.Failed
		for _, k := range p.Kinds {
			kinds[k.Failure] += k.Runs
		}
		for _, f := range p.Found {
			if other, ok := found[f.Failure]; !ok || f.Seed < other.Seed {
				found[f.Failure] = f
			}
		}
	}
	for f, n := range kinds {
		out.Kinds = append(out.Kinds, Kind{f, n})
	}
	for _, f := range found {
		out.Found = append(out.Found, f)
	}
	out.sort()
	return &out, nil
}

// Missing lists the shards that are not in a summary.
func (s *Summary) Missing() (missing []Shard) {
	if len(s.Shards) == 0 {
		return nil
	}
	for n := range s.Shards[0].Of {
		if sh := (Shard{n, s.Shards[0].Of}); !slices.Contains(s.Shards, sh) {
			missing = append(missing, sh)
		}
	}
	return missing
}

// String says what was searched.
func (s *Summary) String() string {
	text := s.System
	if s.Workload == toys.Data {
		text += " with workload data"
	}
	if len(s.Off) > 0 {
		text += " without " + strings.Join(s.Off, ", ")
	}
	if len(s.On) > 0 {
		text += " with " + strings.Join(s.On, ", ")
	}
	return fmt.Sprintf("%s, seeds %d to %d", text, s.FirstSeed, s.FirstSeed+uint64(max(s.Seeds, 1))-1)
}
