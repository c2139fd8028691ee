package histories

// Datum is a Value of one history in eight bytes: nil, booleans and integers
// that fit are held in place, everything else is an index into the history's
// Data. Within one history two data are == iff their values are == , so
// checkers compare data and never unpack them. The zero Datum is Nil.
type Datum uint64

// Data is the table behind the Datum of one history. The zero Data is empty
// and ready to use.
type Data struct {
	values []Value
	index  map[Value]Datum
}

// Pack gives the Datum for v, adding v to the table where it needs a place.
func (d *Data) Pack(v Value) Datum { panic("todo") }

// Unpack gives back the Value.
func (d *Data) Unpack(x Datum) Value { panic("todo") }
