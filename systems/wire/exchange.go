package wire

import (
	"fmt"
	"reflect"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// exchange is one kind of message and its answer, as an API of Kafka.
type exchange struct {
	message, answer reflect.Type
	key, version    int16 // as our nodes send it
	sent            bool  // by our nodes; otherwise by other clients only
	// The four ways. parse gives nil where the request is meant for another
	// exchange of the same API.
	request  func(c *Cluster, m node.Message, q kmsg.Request) error
	parse    func(c *Cluster, q kmsg.Request) (node.Message, error)
	response func(c *Cluster, q kmsg.Request, a node.Message, r kmsg.Response) error
	outcome  func(c *Cluster, m node.Message, r kmsg.Response) (node.Message, error)
}

// translation is how messages of type *M and their answers *A travel as requests Q
// and responses R. What only other clients send has no request and no outcome, what
// only others answer no parse and no response.
type translation[M, A any, Q kmsg.Request, R kmsg.Response] struct {
	request  func(c *Cluster, m *M, q Q) error
	parse    func(c *Cluster, q Q) (*M, error)
	response func(c *Cluster, q Q, a *A, r R) error
	outcome  func(c *Cluster, m *M, r R) (*A, error)
}

// at makes an exchange of a translation, for the version that our nodes speak.
func (t translation[M, A, Q, R]) at(key, version int16) exchange {
	return exchange{
		message: reflect.TypeFor[*M](), answer: reflect.TypeFor[*A](),
		key: key, version: version, sent: t.request != nil,
		request: func(c *Cluster, m node.Message, q kmsg.Request) error { return t.request(c, m.(*M), q.(Q)) },
		parse: func(c *Cluster, q kmsg.Request) (node.Message, error) {
			if t.parse == nil {
				return nil, nil
			}
			m, err := t.parse(c, q.(Q))
			if m == nil || err != nil {
				return nil, err // and not a nil pointer in an interface
			}
			return m, nil
		},
		response: func(c *Cluster, q kmsg.Request, a node.Message, r kmsg.Response) error {
			return t.response(c, q.(Q), a.(*A), r.(R))
		},
		outcome: func(c *Cluster, m node.Message, r kmsg.Response) (node.Message, error) {
			a, err := t.outcome(c, m.(*M), r.(R))
			if err != nil {
				return nil, err
			}
			return a, nil
		},
	}
}

// newRequest makes an empty request of the exchange.
func (x *exchange) newRequest() kmsg.Request {
	q := kmsg.RequestForKey(x.key)
	q.SetVersion(x.version)
	return q
}

// newResponse makes an empty response in the version of the request.
func newResponse(q kmsg.Request) kmsg.Response {
	r := q.ResponseKind()
	r.SetVersion(q.GetVersion())
	return r
}

// answers fails for an answer of another kind than the exchange has.
func (x *exchange) answers(a node.Message) error {
	if reflect.TypeOf(a) != x.answer {
		return fmt.Errorf("%T in answer to %v: expected %v", a, x.message, x.answer)
	}
	return nil
}
