// Package reports turns verdicts into something to read. It judges nothing: all
// it says stands in the verdict.
package reports
