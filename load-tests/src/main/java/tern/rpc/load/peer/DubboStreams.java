package tern.rpc.load.peer;

import org.apache.dubbo.common.stream.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;

/** Declares the methods of {@link ProtobufStreams} with Dubbo's observers. */
public interface DubboStreams {

    void feed(FeedRequest request, StreamObserver<Item> items);

    StreamObserver<Item> ping(StreamObserver<Item> answers);
}
