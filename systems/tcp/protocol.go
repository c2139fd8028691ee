package tcp

import "github.com/stalemate-io/stalemate/systems/node"

// Protocol puts messages into frames and takes them out again. A frame is four
// bytes of length, big-endian, and as many bytes as they say; parsing begins
// after the length. Its methods may be called from any goroutine.
type Protocol interface {
	// AppendRequest adds the frame of a request by a node. The id joins it
	// with its answer.
	AppendRequest(to []byte, id int32, from node.ID, m node.Message) ([]byte, error)
	// ParseRequest reads a request. An error ends the connection: what
	// follows cannot be made sense of.
	ParseRequest(frame []byte) (Request, error)
	// AppendResponse adds the frame of the answer to a request, nothing where
	// requests of the kind have none.
	AppendResponse(to []byte, r Request, m node.Message) ([]byte, error)
	// ResponseID gives the id of the request that a frame answers.
	ResponseID(frame []byte) (int32, error)
	// ParseResponse reads the answer to a request.
	ParseResponse(request node.Message, frame []byte) (node.Message, error)
}

// Request is a request as it arrives.
type Request struct {
	ID      int32
	From    node.ID
	Message node.Message
	// Answer is the frame of the answer where the protocol itself knows it and
	// the machine is not asked.
	Answer []byte
	// Context is what AppendResponse wants to know of the request.
	Context any
}
