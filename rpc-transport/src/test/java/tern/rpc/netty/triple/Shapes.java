package tern.rpc.netty.triple;

import com.google.protobuf.StringValue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;

/**
 * Streams with the types of Tern. A Dubbo provider always uses the name of the Java interface as path, so this
 * interface has the wire name of {@link DubboShapes}.
 */
@WireName("tern.rpc.netty.triple.DubboShapes")
public interface Shapes {

    /** Sends the numbers from 1 to the given number. */
    Flow.Publisher<Integer> count(Integer last);

    CompletionStage<Integer> sum(Flow.Publisher<Integer> numbers);

    /** Sends this number of messages of {@link ShapesServer#LARGE} bytes. */
    void download(Integer messages, StreamObserver<byte[]> out);

    /** Answers with the number of bytes. */
    StreamObserver<byte[]> upload(StreamObserver<Integer> out);

    /** Sends one message, then nothing until the call is cancelled. */
    Flow.Publisher<String> endless(String text);

    /** Sends the same messages as {@link #download}, compressed. */
    void squeezed(Integer messages, StreamObserver<byte[]> out);

    /** Answers with the text whether the call has a deadline. */
    void limited(String text, StreamObserver<String> out);

    void say(StringValue text, StreamObserver<StringValue> out);
}
