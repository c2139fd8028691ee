// Package policy holds verdicts against what a project asks of its systems. A
// verdict says what a history showed and whether the system's own promises held;
// a policy, the file stalemate.yaml, says what a pipeline is to insist on: a
// level for each system and read path, a budget of staleness, and the anomalies
// that are known and allowed for a while, each with a reason and the day on which
// that ends.
//
// A policy changes no verdict. Judge makes a Ruling of a verdict: what was asked
// for, how each request was answered, and what an allowance excuses. Without a
// file the ruling is that of the verdict's own promises, so that every report is
// made from a Ruling.
//
// Nothing is allowed by silence: an allowance without reason or end is an error,
// an expired one excuses nothing, and a violation is excused only where every
// kind of anomaly that it may rest on is allowed.
package policy
