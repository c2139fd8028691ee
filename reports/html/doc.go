// Package html writes report.html: one file that shows a run to a person. It
// opens from disk, asks nothing of the network, and needs no script for what
// matters most: the verdict, every anomaly with its proof drawn as a space-time
// diagram, and the plots are plain HTML and SVG. Only the picture of the whole
// run, one lane a node under the true order of states, is drawn by script, on a
// canvas, from the operations that the page carries with it in packed columns.
//
// What is shown agrees with the verdict because both come from the same rules
// (checker.NewTimeline). Values, keys and names are data: html/template
// escapes them in the page, the script puts them nowhere but into text, and a
// Content-Security-Policy lets no script run but those whose hashes the page
// states.
package html
