package kafka

import (
	"errors"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/docker/dockertest"
)

func TestNodesInContainersAreToldOfEachOtherByTheirAddressAndClientsByThePublishedPort(t *testing.T) {
	for _, mode := range []Mode{ZooKeeper, KRaft} {
		o, err := Options{Mode: mode, Dir: "x"}.withDefaults()
		must(t, err)
		p := containedPlace("b2", "10.0.0.2", "127.0.0.1:32768")
		store := []string{"3001@10.0.0.9:9093"}
		text := brokerProperties(o, p, store)
		if mode == KRaft {
			lacks(t, controllerProperties(o, containedPlace("c1", "10.0.0.9", "127.0.0.1:32769"), store),
				"node.id=3001\n", "listeners=CONTROLLER://0.0.0.0:9093\n", "advertised.listeners=CONTROLLER://10.0.0.9:9093\n",
				"controller.quorum.voters=3001@10.0.0.9:9093\n", "log.dirs=/data/data\n")
			lacks(t, text, "controller.quorum.voters=3001@10.0.0.9:9093\n")
		} else {
			lacks(t, text, "zookeeper.connect=3001@10.0.0.9:9093\n")
		}
		lacks(t, text, "listeners=INTERNAL://0.0.0.0:9093,CLIENT://0.0.0.0:9092\n",
			"advertised.listeners=INTERNAL://10.0.0.2:9093,CLIENT://127.0.0.1:32768\n", "log.dirs=/data/data\n")
	}
}

// lacks complains of lines that a text does not have.
func lacks(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

func TestJavaInAContainerFindsTheJarsOfTheImageAndTheFilesOfItsFolder(t *testing.T) {
	in := Installation{Java: "java", Libs: containedLibs, Version: "3.9.2"}
	got := strings.Join(javaArguments(Options{HeapMB: 256}, in, containedPlace("b1", "10.0.0.2", "")), " ")
	for _, want := range []string{"-cp /opt/kafka/libs/*", "-Dlog4j.configuration=file:/data/log4j.properties", "kafka.Kafka /data/server.properties"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestContainedKafka(t *testing.T) {
	dockertest.Need(t)
	for _, mode := range []Mode{KRaft, ZooKeeper} {
		t.Run(string(mode), func(t *testing.T) { breakAndRead(t, Options{Mode: mode, Containers: true}) })
	}
}

func TestAnImageOfTheOtherGenerationIsRefused(t *testing.T) {
	dockertest.Need(t)
	engine, err := docker.Connect(t.Context())
	must(t, err)
	image, err := KRaft.ChooseImage(t.Context(), engine)
	must(t, errors.Join(err, engine.Close()))
	_, err = Launch(t.Context(), Options{Mode: ZooKeeper, Dir: t.TempDir(), Containers: true, Image: image})
	if err == nil || !strings.Contains(err.Error(), "no mode kafka-zk") {
		t.Errorf("launched %v: want it refused", err)
	}
}
