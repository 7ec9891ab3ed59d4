package tern.rpc.load.peer;

import org.HdrHistogram.Histogram;
import tern.rpc.load.peer.proto.FeedRequest;

/** Reads one stream from the server. A message's latency is the stream's duration divided by the number of messages. */
final class FeedCall implements SceneCall {

    private final ProtobufStreams streams;
    private final FeedRequest request;
    private int received;

    FeedCall(ProtobufStreams streams, int items) {
        this.streams = streams;
        this.request = FeedRequest.newBuilder().setItems(items).build();
    }

    @Override
    public boolean isRight() {
        ItemReader reader = new ItemReader(request.getItems());
        try {
            streams.feed(request, reader);
            reader.await();
        } finally {
            received = reader.received();
        }
        return true;
    }

    @Override
    public void record(Histogram latencies, long nanos) {
        if (received > 0) {
            latencies.recordValueWithCount(Math.min(Load.MAX_NANOS, nanos / received), received);
        }
    }
}
