// Package checker says what a history shows: linearizable (every read saw the
// newest acknowledged write), ordered lag (some reads were old, but every
// observer walked forward through one and the same order), divergent (no
// single order explains what was observed) or undecided (with the reason).
//
// It is a library of pure functions: a History in, a Verdict out. It reads no
// clock but to keep its time budget, writes nothing and logs nothing.
//
// Check runs everything and composes one Verdict; each file holds one check.
// An answer is never a guess: what could not be decided is Undecided with its
// reason, and a history in which nothing could be checked is an error.
package checker
