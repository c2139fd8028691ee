package push

// What the nodes of this package trace. Key is always the partition, Peer the
// other node, ID the push where there is one; Version is the version of the
// partition's state node, except where the table says otherwise.
//
//	by          what                when                                           carries
//	controller  elected             it has won an election                         Epoch = controller epoch, Version = version of /controller_epoch
//	controller  snapshot-read       failover: it has read one partition's state    Key Leader Epoch Version
//	controller  store-write         the store has acknowledged a state             Key Leader Epoch Version; Why = what for
//	controller  store-refused       the store has refused a state                  Key Leader Epoch Version (asked for); Why
//	controller  push-queued         a push entered a broker's queue                Peer ID Key Leader Epoch Version, once a partition; Why = kind
//	controller  push-sent           it left, at the first and each later attempt   Peer ID; Why = kind, "(again)" if repeated
//	controller  push-unanswered     an attempt failed or timed out                 Peer ID; Why = kind and error
//	controller  push-answered       the broker has answered                        Peer ID; Why = kind and error code, if any
//	controller  push-dropped        given up, or its queue dropped                 Peer ID Key Leader Epoch Version; Why
//	controller  resigned            it has ceased to be active                     Epoch = controller epoch; Why
//	both        started             it has booted
//	broker      registered          the store has acknowledged its registration    Version = broker epoch
//	broker      session-lost        its session expired; it goes on serving
//	broker      push-received       a push arrived                                 Peer ID; Epoch = controller epoch; Why = kind
//	broker      push-applied        a partition was taken over from a push         Peer ID Key Leader Epoch Version; Why = kind
//	broker      push-refused        a push, or a partition of it, was refused      Peer ID Key? Leader Epoch Version; Why
//	broker      isr-write           DirectISR: the store acknowledged its own set  Key Leader Epoch Version
//	broker      epoch-mismatch      a leader served a request of another epoch     Key Epoch (its own); Version = the request's
//	broker      truncated           a follower cut its log                         Key Epoch; Version = new end of the log
const (
	TraceStarted        = "started"
	TraceElected        = "elected"
	TraceSnapshotRead   = "snapshot-read"
	TraceStoreWrite     = "store-write"
	TraceStoreRefused   = "store-refused"
	TracePushQueued     = "push-queued"
	TracePushSent       = "push-sent"
	TracePushUnanswered = "push-unanswered"
	TracePushAnswered   = "push-answered"
	TracePushDropped    = "push-dropped"
	TraceResigned       = "resigned"
	TraceRegistered     = "registered"
	TraceSessionLost    = "session-lost"
	TracePushReceived   = "push-received"
	TracePushApplied    = "push-applied"
	TracePushRefused    = "push-refused"
	TraceISRWrite       = "isr-write"
	TraceEpochMismatch  = "epoch-mismatch"
	TraceTruncated      = "truncated"
)

// Why a broker refuses a push.
const (
	WhyStaleControllerEpoch = "stale controller epoch"
	WhyStaleBrokerEpoch     = "stale broker epoch"
	WhyStaleLeaderEpoch     = "stale leader epoch"
	WhySameLeaderEpoch      = "same leader epoch"
	WhyStalePartitionEpoch  = "stale partition epoch"
	WhyLeaderNotAlive       = "leader not alive in the broker's own cache, answered NONE"
)

// The kinds of push, as they stand in Why.
const (
	kindLeaderAndISR   = "LeaderAndIsr"
	kindUpdateMetadata = "UpdateMetadata"
	kindStopReplica    = "StopReplica"
)
