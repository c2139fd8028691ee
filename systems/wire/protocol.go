package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/stalemate-io/stalemate/systems/node"
	"github.com/stalemate-io/stalemate/systems/tcp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Protocol puts the messages of one system into Kafka's frames and takes them out
// again. It may be used by any number of goroutines.
type Protocol struct {
	cluster   Cluster
	client    map[int16]versions
	served    []kmsg.ApiVersionsResponseApiKey
	byMessage map[reflect.Type]*exchange
	byKey     map[int16][]*exchange
	decoding  *budget
}

var _ tcp.Protocol = (*Protocol)(nil)

// Push is the protocol of a push cluster's nodes and their clients.
func Push(c Cluster) *Protocol { return newProtocol(c, clientVersions, pushExchanges) }

// Kraft is the protocol of a kraft cluster's nodes and their clients.
func Kraft(c Cluster) *Protocol { return newProtocol(c, kraftVersions, raftExchanges, kraftExchanges) }

func newProtocol(c Cluster, client map[int16]versions, nodes ...[]exchange) *Protocol {
	p := &Protocol{
		cluster: c, client: client, served: served(client),
		byMessage: map[reflect.Type]*exchange{}, byKey: map[int16][]*exchange{},
		decoding: newBudget(decodingBudget),
	}
	own := []exchange{apiVersions(p.served), describeCluster.at(keyDescribeCluster, 1)}
	// Where exchanges share a key the first that takes a request has it.
	for _, list := range append(nodes, clientExchanges, severalExchanges, own) {
		for i := range list {
			x := &list[i]
			p.byKey[x.key] = append(p.byKey[x.key], x)
			if x.sent {
				p.byMessage[x.message] = x
			}
		}
	}
	return p
}

func (p *Protocol) exchangeFor(m node.Message) (*exchange, error) {
	if x := p.byMessage[reflect.TypeOf(m)]; x != nil {
		return x, nil
	}
	return nil, fmt.Errorf("%T does not travel: expected a request of this system", m)
}

// AppendRequest adds the frame of a request by a node.
func (p *Protocol) AppendRequest(to []byte, id int32, from node.ID, m node.Message) ([]byte, error) {
	x, err := p.exchangeFor(m)
	if err != nil {
		return to, err
	}
	q := x.newRequest()
	if err := x.request(&p.cluster, m, q); err != nil {
		return to, fmt.Errorf("%s: %w", kmsg.NameForKey(x.key), err)
	}
	start := len(to)
	to = append(to, 0, 0, 0, 0)
	to = binary.BigEndian.AppendUint16(to, uint16(x.key))
	to = binary.BigEndian.AppendUint16(to, uint16(x.version))
	to = binary.BigEndian.AppendUint32(to, uint32(id))
	to = binary.BigEndian.AppendUint16(to, uint16(len(from)))
	to = append(to, from...)
	if q.IsFlexible() {
		to = append(to, 0)
	}
	return finish(q.AppendTo(to), start), nil
}

// pending is what the answer to a request depends on.
type pending struct {
	exchange *exchange
	request  kmsg.Request
}

// ParseRequest reads a request. Where it is one that is not served, the answer says
// so in the way of the protocol; an error where the protocol has no such answer, or
// where the bytes are no request: the connection must end, as Kafka ends it.
func (p *Protocol) ParseRequest(frame []byte) (tcp.Request, error) {
	if len(frame) > maxRequest {
		return tcp.Request{}, fmt.Errorf("request of %d bytes: expected at most %d", len(frame), maxRequest)
	}
	h, body, err := parseHeader(frame)
	if err != nil {
		return tcp.Request{}, err
	}
	r := tcp.Request{ID: h.correlation, From: node.ID(h.client)}
	q := kmsg.RequestForKey(h.key)
	if q == nil {
		return r, fmt.Errorf("request with key %d: expected one of Kafka's", h.key)
	}
	if h.key == keyApiVersions && !p.client[h.key].has(h.version) {
		r.Answer = p.oldestApiVersions(h.correlation)
		return r, nil
	}
	if h.version < 0 || h.version > q.MaxVersion() {
		return r, fmt.Errorf("%s in version %d: expected at most %d", kmsg.NameForKey(h.key), h.version, q.MaxVersion())
	}
	q.SetVersion(h.version)
	if q.IsFlexible() {
		if body, err = skipTags(body); err != nil {
			return r, err
		}
	}
	if err := p.decode(q, body); err != nil {
		return r, fmt.Errorf("%s: %w", kmsg.NameForKey(h.key), err)
	}
	m, x, err := p.message(q)
	if err != nil {
		r.Answer = refusal(h.correlation, q, err)
	} else {
		r.Message, r.Context = m, pending{x, q}
	}
	if r.Answer == nil && err != nil {
		return r, fmt.Errorf("%s in version %d: %w", kmsg.NameForKey(h.key), h.version, err)
	}
	return r, nil
}

// decode reads the body of a request, within what decoding may cost.
func (p *Protocol) decode(m interface{ ReadFrom([]byte) error }, body []byte) error {
	defer p.decoding.take(len(body))()
	return m.ReadFrom(body)
}

var errNotServed = errors.New("not served")

// message gives the message that a request is, and its exchange.
func (p *Protocol) message(q kmsg.Request) (node.Message, *exchange, error) {
	forClients := false
	if v, ok := p.client[q.Key()]; ok {
		forClients = v.has(q.GetVersion())
	}
	for _, x := range p.byKey[q.Key()] {
		if q.GetVersion() != x.version && !forClients {
			continue
		}
		if m, err := x.parse(&p.cluster, q); m != nil || err != nil {
			return m, x, err
		}
	}
	return nil, nil, errNotServed
}

// AppendResponse adds the frame of the answer to a request. Where the request wants
// none, which is a produce with acks=0, it adds nothing.
func (p *Protocol) AppendResponse(to []byte, r tcp.Request, m node.Message) ([]byte, error) {
	c, ok := r.Context.(pending)
	if !ok {
		return to, errors.New("answer to a request that was not parsed here")
	}
	if q, ok := c.request.(*kmsg.ProduceRequest); ok && q.Acks == 0 {
		return to, nil
	}
	if err := c.exchange.answers(m); err != nil {
		return to, err
	}
	a := newResponse(c.request)
	if err := c.exchange.response(&p.cluster, c.request, m, a); err != nil {
		return to, fmt.Errorf("answer to %s: %w", kmsg.NameForKey(c.request.Key()), err)
	}
	return appendResponse(to, r.ID, a), nil
}

func appendResponse(to []byte, id int32, a kmsg.Response) []byte {
	start := len(to)
	to = append(to, 0, 0, 0, 0)
	to = binary.BigEndian.AppendUint32(to, uint32(id))
	// ApiVersions is answered before the two sides know of each other's versions.
	if a.IsFlexible() && a.Key() != keyApiVersions {
		to = append(to, 0)
	}
	return finish(a.AppendTo(to), start)
}

// oldestApiVersions tells a client that asked in a version which is not served which
// ones are: in version 0, which every client reads.
func (p *Protocol) oldestApiVersions(id int32) []byte {
	a := kmsg.NewPtrApiVersionsResponse()
	a.ErrorCode, a.ApiKeys = unsupportedVersion, p.served
	return appendResponse(nil, id, a)
}

// ResponseID gives the id of the request that a frame answers.
func (p *Protocol) ResponseID(frame []byte) (int32, error) {
	if len(frame) < 4 {
		return 0, fmt.Errorf("answer of %d bytes: expected at least 4", len(frame))
	}
	return int32(binary.BigEndian.Uint32(frame)), nil
}

// ParseResponse reads the answer to a request.
func (p *Protocol) ParseResponse(request node.Message, frame []byte) (node.Message, error) {
	x, err := p.exchangeFor(request)
	if err != nil {
		return nil, err
	}
	if len(frame) < 4 {
		return nil, fmt.Errorf("answer of %d bytes: expected at least 4", len(frame))
	}
	a := newResponse(x.newRequest())
	body := frame[4:]
	if a.IsFlexible() && x.key != keyApiVersions {
		if body, err = skipTags(body); err != nil {
			return nil, err
		}
	}
	if err := p.decode(a, body); err != nil {
		return nil, fmt.Errorf("answer to %s: %w", kmsg.NameForKey(x.key), err)
	}
	m, err := x.outcome(&p.cluster, request, a)
	if err != nil {
		return nil, fmt.Errorf("answer to %s: %w", kmsg.NameForKey(x.key), err)
	}
	return m, nil
}
