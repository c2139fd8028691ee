// Package reports turns verdicts into something to read. It judges nothing: all
// it says stands in the verdict, so that a report can be made anew from
// verdict.json alone.
package reports
