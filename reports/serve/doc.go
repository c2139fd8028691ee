// Package serve shows the runs of a store in a browser: a list of them, newest
// first, a page for each, two side by side, and a run that still goes on as its
// history grows.
//
// A history may come from anywhere, and so may a store; neither is trusted.
// Everything is read through an os.Root, so that no path and no symbolic link
// leads out of the store, and nothing is ever written. What histories say is
// text (html/template escapes it), pages run no script but the server's own, and
// a report.html, which runs its own, is shut into a sandbox without an origin.
// Requests whose Host is not one of the server's own are refused: a foreign page
// whose name was bound anew to 127.0.0.1 (DNS rebinding) sees nothing.
package serve
