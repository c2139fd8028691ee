// Package workloads drives a system with concurrent clients and records what
// each of them saw.
//
// The load is open-loop: each client's operations are due at times drawn
// beforehand from a Poisson process, whether or not earlier ones have returned,
// since clients that wait for a slow system before they ask again would hide
// how slow it was (coordinated omission). A client does one thing at a time, so
// an operation that is due while its client is busy is not sent and not
// recorded; it is counted as shed.
//
// One seed decides all that can be decided beforehand: when operations are due,
// what they are, and to which key. How long the system takes, and therefore
// what is shed, it cannot decide.
//
// What the operations are is a workload; each has a package of its own.
package workloads
