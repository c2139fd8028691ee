package zookeeper

import "os/exec"

// Advice is how to get what a local ensemble needs on this machine.
type Advice struct {
	// Manager is the package manager found: apt-get, dnf, apk, brew or empty.
	Manager string
	// Java, ZooKeeper and Logging (a back end for the servers' logs) are
	// commands, or sentences where there is no package.
	Java, ZooKeeper, Logging string
}

const unpack = "unpack a release from https://zookeeper.apache.org/releases.html and set ZOOKEEPER_HOME to its folder"

var advices = []Advice{
	{
		"apt-get",
		"apt-get install -y --no-install-recommends default-jre-headless",
		"apt-get install -y --no-install-recommends zookeeper libslf4j-java",
		"apt-get install -y --no-install-recommends libslf4j-java",
	},
	{"dnf", "dnf install -y java-17-openjdk-headless", unpack, unpack},
	{"apk", "apk add openjdk17-jre-headless", unpack, unpack},
	{"brew", "brew install openjdk", "brew install zookeeper", unpack},
}

// InstallAdvice looks which package manager this machine has.
func InstallAdvice() Advice {
	for _, a := range advices {
		if _, err := exec.LookPath(a.Manager); err == nil {
			return a
		}
	}
	return Advice{Java: "install a Java runtime, version 11 or newer (https://adoptium.net)", ZooKeeper: unpack, Logging: unpack}
}
