package kafkalogs

import (
	"strconv"
	"strings"
)

// match takes a text apart by a pattern in which each * stands for what is
// between the words around it, as short as possible; a * at the end takes the
// rest.
func match(text, pattern string) ([]string, bool) {
	first, pattern, _ := strings.Cut(pattern, "*")
	if !strings.HasPrefix(text, first) {
		return nil, false
	}
	text = text[len(first):]
	var found []string
	for {
		word, rest, more := strings.Cut(pattern, "*")
		if word == "" && !more {
			return append(found, text), true
		}
		i := strings.Index(text, word)
		if i < 0 {
			return nil, false
		}
		found = append(found, text[:i])
		text = text[i+len(word):]
		if !more {
			return found, true
		}
		pattern = rest
	}
}

// number reads a decimal number, the last of a sentence perhaps; Unknown if it
// is none.
func number(s string) int32 {
	n, err := strconv.ParseInt(strings.TrimRight(strings.TrimSpace(s), "."), 10, 32)
	if err != nil {
		return Unknown
	}
	return int32(n)
}

// numbers reads all numbers of a list, whatever stands around and between them.
func numbers(s string) []int32 {
	var out []int32
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }) {
		if n := number(word); n != Unknown {
			out = append(out, n)
		}
	}
	return out
}

// partition gives a partition as topic-number, from that or from [topic,number].
func partition(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), ".,")
	if inner, ok := strings.CutPrefix(s, "["); ok {
		topic, number, ok := strings.Cut(strings.TrimSuffix(inner, "]"), ",")
		if !ok {
			return ""
		}
		s = strings.TrimSpace(topic) + "-" + strings.TrimSpace(number)
	}
	i := strings.LastIndexByte(s, '-')
	if i <= 0 || number(s[i+1:]) < 0 {
		return ""
	}
	return s
}

// field finds the value of a key in a rendering such as (leader=2, isr=[2, 3])
// or (Leader:2,ISR:2,3): the text after the key up to the next key.
func field(s string, keys ...string) (string, bool) {
	for _, key := range keys {
		for from := 0; ; {
			i := strings.Index(s[from:], key)
			if i < 0 {
				break
			}
			i += from
			from = i + len(key)
			if i > 0 && isLetter(s[i-1]) || from >= len(s) || s[from] != '=' && s[from] != ':' {
				continue
			}
			return s[from+1 : from+1+valueEnd(s[from+1:])], true
		}
	}
	return "", false
}

// valueEnd finds where a value ends: at a closing bracket that it did not open,
// or at the comma before the next key.
func valueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			if depth--; depth < 0 {
				return i
			}
		case c == ',' && depth == 0:
			if rest := strings.TrimLeft(s[i+1:], " "); rest != "" && isLetter(rest[0]) {
				return i
			}
		}
	}
	return len(s)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

// state reads any rendering of a partition's state: PartitionState(…),
// LeaderAndIsr(…), UpdateMetadataPartitionState(…), (Leader:…).
func state(s string) (State, bool) {
	st := unknownState()
	leader, ok := field(s, "leader", "Leader")
	if !ok {
		return st, false
	}
	st.Leader = number(leader)
	get := func(keys ...string) int32 {
		if v, ok := field(s, keys...); ok {
			return number(v)
		}
		return Unknown
	}
	st.LeaderEpoch = get("leaderEpoch", "LeaderEpoch")
	st.ControllerEpoch = get("controllerEpoch", "ControllerEpoch")
	st.PartitionEpoch = get("partitionEpoch", "zkVersion", "ZkVersion")
	if v, ok := field(s, "isr", "ISR"); ok {
		st.ISR = numbers(v)
	} else if v, ok := field(s, "isrWithBrokerEpoch"); ok {
		for {
			id, ok := field(v, "brokerId")
			if !ok {
				break
			}
			st.ISR = append(st.ISR, number(id))
			v = v[strings.Index(v, "brokerId")+len("brokerId"):]
		}
	}
	return st, st.Leader != Unknown
}

// named gives the partition that a rendering of 2.4 and later names itself.
func named(s string) string {
	topic, ok := field(s, "topicName")
	if !ok {
		return ""
	}
	index, ok := field(s, "partitionIndex")
	if !ok {
		return ""
	}
	return partition(strings.Trim(topic, "'") + "-" + index)
}
