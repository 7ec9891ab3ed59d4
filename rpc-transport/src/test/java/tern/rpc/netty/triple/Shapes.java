package tern.rpc.netty.triple;

import com.google.protobuf.StringValue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;

/**
 * Streaming methods that use Tern's types. The interface has the wire name of {@link DubboShapes}, because a Dubbo
 * provider always uses the name of its Java interface as the path.
 */
@WireName("tern.rpc.netty.triple.DubboShapes")
public interface Shapes {

    /** Sends the numbers from 1 to the given number. */
    Flow.Publisher<Integer> count(Integer last);

    CompletionStage<Integer> sum(Flow.Publisher<Integer> numbers);

    /** Sends the given number of messages of {@link ShapesServer#LARGE} bytes. */
    void download(Integer messages, StreamObserver<byte[]> out);

    /** Returns the number of received bytes. */
    StreamObserver<byte[]> upload(StreamObserver<Integer> out);

    /** Sends one message and then nothing until the call is cancelled. */
    Flow.Publisher<String> endless(String text);

    /** Sends the same messages as {@link #download}, compressed. */
    void squeezed(Integer messages, StreamObserver<byte[]> out);

    /** Sends {@code limited} if the call has a deadline, otherwise {@code unlimited}. */
    void limited(String text, StreamObserver<String> out);

    void say(StringValue text, StreamObserver<StringValue> out);
}
