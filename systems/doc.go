// Package systems says what a system under test looks like to the rest: nodes
// with names, directed links between them, and the faults that a deployment can
// do to both. Each system has a folder of its own, and so has each kind of
// place where nodes run.
package systems
