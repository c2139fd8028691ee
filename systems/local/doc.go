// Package local runs the nodes of a cluster as processes of this machine and
// answers for every one of them: a process ends when it is closed, when it is
// killed while stopped, and when the program that started it dies, however it
// dies. On Linux the kernel sees to the last (PR_SET_PDEATHSIG); elsewhere a
// shell that waits on a pipe does.
package local
