package scenarios

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed *.txt
var files embed.FS

// Names lists the scenarios, in the order of their names.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	return names
}

// Load gives a scenario by its name. The error lists the names there are.
func Load(name string) (*Scenario, error) {
	text, err := files.ReadFile(name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("no scenario %q; expected one of %s", name, strings.Join(Names(), ", "))
	}
	return Parse(name, string(text))
}
