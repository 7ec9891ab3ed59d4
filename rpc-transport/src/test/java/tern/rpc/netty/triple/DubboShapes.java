package tern.rpc.netty.triple;

import com.google.protobuf.StringValue;
import org.apache.dubbo.common.stream.StreamObserver;

/** Streaming methods that use Dubbo's types. The methods are the same as in {@link Shapes}. */
public interface DubboShapes {

    void count(Integer last, StreamObserver<Integer> out);

    StreamObserver<Integer> sum(StreamObserver<Integer> out);

    void download(Integer messages, StreamObserver<byte[]> out);

    StreamObserver<byte[]> upload(StreamObserver<Integer> out);

    void endless(String text, StreamObserver<String> out);

    /** Sends the same messages as {@link #download}, compressed. */
    void squeezed(Integer messages, StreamObserver<byte[]> out);

    /** Sends {@code limited} if the call has a deadline, otherwise {@code unlimited}. */
    void limited(String text, StreamObserver<String> out);

    void say(StringValue text, StreamObserver<StringValue> out);
}
