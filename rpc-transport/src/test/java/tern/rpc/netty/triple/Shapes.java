package tern.rpc.netty.triple;

import com.google.protobuf.StringValue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;

/**
 * Streams as an application of ours declares them. Dubbo's providers go by the name of the Java interface, whatever path
 * they are told, so this one bears that of {@link DubboShapes}.
 */
@WireName("tern.rpc.netty.triple.DubboShapes")
public interface Shapes {

    /** 1 up to the last. */
    Flow.Publisher<Integer> count(Integer last);

    CompletionStage<Integer> sum(Flow.Publisher<Integer> numbers);

    /** So many messages of {@link ShapesServer#LARGE} bytes. */
    void download(Integer messages, StreamObserver<byte[]> out);

    /** Answers the number of bytes. */
    StreamObserver<byte[]> upload(StreamObserver<Integer> out);

    /** One message, then none until the caller gives up. */
    Flow.Publisher<String> endless(String text);

    /** As {@link #download}, compressed. */
    void squeezed(Integer messages, StreamObserver<byte[]> out);

    /** Whether the call has a deadline. */
    void limited(String text, StreamObserver<String> out);

    void say(StringValue text, StreamObserver<StringValue> out);
}
