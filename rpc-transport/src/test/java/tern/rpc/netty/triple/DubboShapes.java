package tern.rpc.netty.triple;

import com.google.protobuf.StringValue;
import org.apache.dubbo.common.stream.StreamObserver;

/** Streaming methods that use the types of Dubbo. The methods are the same as in {@link Shapes}. */
public interface DubboShapes {

    void count(Integer last, StreamObserver<Integer> out);

    StreamObserver<Integer> sum(StreamObserver<Integer> out);

    void download(Integer messages, StreamObserver<byte[]> out);

    StreamObserver<byte[]> upload(StreamObserver<Integer> out);

    void endless(String text, StreamObserver<String> out);

    /** Sends the same messages as {@link #download}, compressed. */
    void squeezed(Integer messages, StreamObserver<byte[]> out);

    /** Returns the given text together with a word that says whether the call has a deadline. */
    void limited(String text, StreamObserver<String> out);

    void say(StringValue text, StreamObserver<StringValue> out);
}
