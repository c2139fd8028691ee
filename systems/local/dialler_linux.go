package local

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// TellsDiallers says whether Dialler works on this system.
const TellsDiallers = true

// Dialler tells which of some processes, named by their ids, has dialled a
// connection of this machine: the kernel's tables give the socket at its other
// end, and a process's own tables the sockets that it has.
func Dialler(conn net.Conn, processes map[int]string) (string, error) {
	remote, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return "", fmt.Errorf("a connection from %v: expected one by TCP", conn.RemoteAddr())
	}
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	if !ok {
		return "", fmt.Errorf("a connection to %v: expected one by TCP", conn.LocalAddr())
	}
	inode, err := socketBetween(remote.Port, local.Port)
	if err != nil {
		return "", err
	}
	link := "socket:[" + inode + "]"
	for pid, name := range processes {
		entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
		if err != nil {
			continue // it has just ended
		}
		for _, e := range entries {
			if to, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "fd", e.Name())); err == nil && to == link {
				return name, nil
			}
		}
	}
	return "", errors.New("a connection by none of the cluster's nodes")
}

// socketBetween finds the inode of the socket that is bound to one port and
// connected to another, as dialled over IPv4 or, by Java, over IPv6.
func socketBetween(from, to int) (inode string, err error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			// sl local remote state queues timer retransmits uid timeout inode
			fields := strings.Fields(lines.Text())
			if len(fields) > 9 && portOf(fields[1]) == from && portOf(fields[2]) == to {
				f.Close()
				return fields[9], nil
			}
		}
		f.Close()
	}
	return "", fmt.Errorf("no socket from port %d to port %d", from, to)
}

// portOf reads the port of an address in the kernel's tables, hexadecimal.
func portOf(address string) int {
	_, port, ok := strings.Cut(address, ":")
	if !ok {
		return -1
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}
