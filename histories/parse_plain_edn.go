package histories

// plainEDN reads an event at the front of EDN text that is a map of plain fields:
// small integers, keywords, texts without escapes, nil, a vector of two
// integers, in any order and with one space between them, as Clojure prints them
// and so as Jepsen and stalemate write them. Read this way an event costs a
// third. Any other is left to the general parser, which also knows what was wrong
// with it: ok is false, and e holds nothing of use. n is how long the event's
// text is.
func plainEDN(text []byte, in *interner, e *Event) (n int, ok bool) {
	s := scanner{text, true}
	s.literal("{")
	f := newFields(e)
	for s.ok {
		field := s.plainField(in, e)
		if !s.ok || f.seen&field != 0 {
			return 0, false
		}
		f.seen |= field
		switch {
		case s.has("}"):
			return len(text) - len(s.rest), f.done() == nil
		case s.has(", "):
		default:
			s.literal(" ")
		}
	}
	return 0, false
}

// plainField passes a name and its value, and says which field that was.
func (s *scanner) plainField(in *interner, e *Event) fieldSet {
	name := s.keyword()
	s.literal(" ")
	switch string(name) {
	case "index":
		e.Index = int(s.integer())
		return seenIndex
	case "time":
		e.Time = s.integer()
		return seenTime
	case "process":
		e.Process.Client = int(s.integer())
		return seenProcess
	case "type":
		e.Type = s.plainType()
		return seenType
	case "f":
		switch f := s.keyword(); string(f) {
		case "read":
			e.F = "read"
		case "write":
			e.F = "write"
		default:
			e.F = in.string(f)
		}
		return seenF
	case "key":
		e.Key = s.plainValue(in)
		return seenKey
	case "value":
		e.Value = s.plainValue(in)
		return seenValue
	case "node":
		e.Node = in.string(s.text())
		return seenNode
	case "path":
		e.Path = in.string(s.text())
		return seenPath
	case "version":
		e.Version = At(s.integer())
		return seenVersion
	}
	s.ok = false
	return 0
}

func (s *scanner) plainType() Type {
	switch string(s.keyword()) {
	case "invoke":
		return Invoke
	case "ok":
		return OK
	case "fail":
		return Fail
	case "info":
		return Info
	}
	s.ok = false
	return 0
}

// keyword passes a keyword of small letters and hyphens and gives its name.
func (s *scanner) keyword() []byte {
	if len(s.rest) == 0 || s.rest[0] != ':' {
		s.ok = false
		return nil
	}
	i := 1
	for i < len(s.rest) && (s.rest[i]-'a' < 26 || s.rest[i] == '-') {
		i++
	}
	if i == 1 || i == len(s.rest) || s.rest[i] != ' ' && s.rest[i] != ',' && s.rest[i] != '}' {
		s.ok = false
		return nil
	}
	name := s.rest[1:i]
	s.rest = s.rest[i:]
	return name
}

// plainValue passes nil, an integer, a string, or a vector of two integers.
func (s *scanner) plainValue(in *interner) Value {
	if len(s.rest) == 0 {
		s.ok = false
		return Nil
	}
	switch c := s.rest[0]; {
	case c == '"':
		return Value{kind: StringKind, text: in.string(s.text())}
	case c == '[':
		s.rest = s.rest[1:]
		first := Int(s.integer())
		s.literal(" ")
		second := Int(s.integer())
		s.literal("]")
		if !s.ok {
			return Nil
		}
		return List(first, second)
	case c-'0' <= 9:
		return Int(s.integer())
	}
	s.literal("nil")
	return Nil
}
