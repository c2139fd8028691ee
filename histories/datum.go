package histories

// Datum is a Value of one history in eight bytes: nil, booleans and integers
// that fit are held in place, everything else is an index into the history's
// Data. Within one history two data are == iff their values are ==, so
// checkers compare data and never unpack them. The zero Datum is Nil.
//
// The low bits tell them apart: 1 marks an integer of 63 bits, 10 a place in
// the table, 00 one of the three constants.
type Datum uint64

const (
	nilDatum   Datum = 0
	falseDatum Datum = 4
	trueDatum  Datum = 8
)

// Data is the table behind the Datum of one history. The zero Data is empty
// and ready to use. Unpack and Find may run concurrently with each other, Pack
// with nothing.
type Data struct {
	values []Value
	index  map[Value]Datum
}

// inPlace gives the Datum of a value that needs no place in the table.
func inPlace(v Value) (Datum, bool) {
	switch v.kind {
	case NilKind:
		return nilDatum, true
	case BoolKind:
		if v.num != 0 {
			return trueDatum, true
		}
		return falseDatum, true
	case IntKind:
		x := Datum(v.num)<<1 | 1
		return x, int64(x)>>1 == v.num
	}
	return 0, false
}

// Pack gives the Datum for v, adding v to the table where it needs a place.
func (d *Data) Pack(v Value) Datum {
	if x, ok := inPlace(v); ok {
		return x
	}
	if x, ok := d.index[v]; ok {
		return x
	}
	x := Datum(len(d.values))<<2 | 2
	if d.index == nil {
		d.index = make(map[Value]Datum)
	}
	d.values = append(d.values, v)
	d.index[v] = x
	return x
}

// Find gives the Datum for v without adding it; ok is false where nothing in
// the history has that value.
func (d *Data) Find(v Value) (x Datum, ok bool) {
	if x, ok = inPlace(v); ok {
		return x, true
	}
	x, ok = d.index[v]
	return x, ok
}

// Unpack gives back the Value. A Datum of another history gives Nil or a wrong
// value.
func (d *Data) Unpack(x Datum) Value {
	switch {
	case x&1 == 1:
		return Int(int64(x) >> 1)
	case x&3 == 2:
		if i := uint64(x >> 2); i < uint64(len(d.values)) {
			return d.values[i]
		}
	case x == trueDatum:
		return Bool(true)
	case x == falseDatum:
		return Bool(false)
	}
	return Nil
}
