package kafkalogs

import "strings"

// line is a line of a log4j file: [time] LEVEL message (logger).
type line struct {
	time, level, message, logger string
}

// splitLine takes a line of a log apart; ok is false for anything else, such as
// the lines of a stack trace.
func splitLine(s string) (l line, ok bool) {
	if len(s) < 3 || s[0] != '[' || s[1] < '0' || s[1] > '9' {
		return l, false
	}
	time, rest, ok := strings.Cut(s[1:], "] ")
	if !ok {
		return l, false
	}
	level, rest, ok := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if !ok || level == "" || strings.ToUpper(level) != level {
		return l, false
	}
	l = line{time: time, level: level, message: strings.TrimSpace(rest)}
	if i := strings.LastIndex(l.message, " ("); i >= 0 && strings.HasSuffix(l.message, ")") {
		l.logger = l.message[i+2 : len(l.message)-1]
		l.message = l.message[:i]
	}
	return l, true
}

// speaker is who a message says it is from.
type speaker struct {
	role      string // Controller, Broker, Partition, RaftManager, …; as written
	id, epoch int32
}

// splitSpeaker takes off who speaks: "[Broker id=2] …", "[Controller id=1
// epoch=7] …", and before 1.0 "Broker 2 …", "Controller 1 epoch 7 …",
// "[Controller 1]: …". What was said begins with a small letter, so that one
// pattern serves all versions.
func splitSpeaker(message string) (speaker, string) {
	s := speaker{id: Unknown, epoch: Unknown}
	rest := message
	if inner, after, ok := strings.Cut(strings.TrimPrefix(message, "["), "]"); ok && message[0] == '[' {
		rest = strings.TrimLeft(strings.TrimPrefix(after, ":"), " ")
		words := strings.Fields(inner)
		for i, w := range words {
			switch key, value, ok := strings.Cut(w, "="); {
			case i == 0:
				s.role = w
			case ok && (key == "id" || key == "controllerId" || key == "broker" || key == "nodeId"):
				s.id = number(value)
			case ok && key == "epoch":
				s.epoch = number(value)
			case !ok && i == 1 && s.id == Unknown:
				s.id = number(w)
			}
		}
	} else if role, after, ok := strings.Cut(message, " "); ok && (role == "Broker" || role == "Controller") {
		id, after, _ := strings.Cut(after, " ")
		s.role, s.id = role, number(id)
		if e, ok := strings.CutPrefix(after, "epoch "); ok {
			epoch, more, _ := strings.Cut(e, " ")
			s.epoch, after = number(epoch), more
		}
		rest = after
	}
	if rest != "" && 'A' <= rest[0] && rest[0] <= 'Z' {
		rest = string(rest[0]+'a'-'A') + rest[1:]
	}
	return s, rest
}
