package checker

import (
	"errors"

	"github.com/stalemate-io/stalemate/histories"
)

// ErrNothingChecked is returned for a history that holds no operation the
// checks could look at. A check that looked at nothing is not a pass.
var ErrNothingChecked = errors.New("the history holds no completed operation that could be checked")

// Check judges a history.
func Check(h *histories.History, o Options) (*Verdict, error) { return nil, ErrNothingChecked }
