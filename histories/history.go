package histories

// History is a whole run as its clients saw it: the operations in order of
// invocation, and what was done to the system meanwhile.
type History struct {
	// Operations in order of Invoked.
	Operations []Operation
	// Faults are the events of processes that are not clients, in order.
	Faults []Event
	// Functions, Keys, Nodes and Paths name what operations point to by index.
	// Index 0 of Nodes and Paths is "" (unknown); index 0 of Keys is Nil where
	// some operation has no key.
	Functions []string
	Keys      []Value
	Nodes     []string
	Paths     []string
	// Data turns an operation's Argument and Result back into values.
	Data Data
	// Events is how many events the source held.
	Events int
	// Whole is true where the source said that it ended as it should: by its
	// closing line, or by a form that cannot be cut off unnoticed.
	Whole bool
	// Warnings are what was odd but not wrong: time running backwards, a
	// process used again after an unknown outcome, a cut last line.
	Warnings []string
}
