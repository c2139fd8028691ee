package kafkalogs

import "strings"

// shown makes a fact of a partition's line of kafka-topics --describe.
func shown(text string, f *Fact) bool {
	if !strings.Contains(text, "Partition: ") {
		return false
	}
	get := func(key string) (string, bool) {
		_, after, ok := strings.Cut(text, key+":")
		if !ok {
			return "", false
		}
		words := strings.Fields(after)
		if len(words) == 0 {
			return "", false
		}
		return words[0], true
	}
	topic, okTopic := get("Topic")
	index, okIndex := get("Partition")
	leader, okLeader := get("Leader")
	if !okTopic || !okIndex || !okLeader {
		return false
	}
	f.Kind, f.Partition, f.State = Shown, partition(topic+"-"+index), unknownState()
	if f.State.Leader = number(leader); leader == "none" {
		f.State.Leader = NoLeader
	}
	if isr, ok := get("Isr"); ok {
		f.State.ISR = numbers(isr)
	}
	return f.Partition != "" && f.State.Leader != Unknown
}
