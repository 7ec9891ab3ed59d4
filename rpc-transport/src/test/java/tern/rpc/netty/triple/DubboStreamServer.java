package tern.rpc.netty.triple;

import com.example.wire.Person;
import org.apache.dubbo.common.stream.StreamObserver;

/** Implements the streams in the same way as the provider of the captured calls. */
final class DubboStreamServer implements DubboStreamService {

    @Override
    public void serverStream(String s, StreamObserver<String> out) {
        for (int i = 0; i < 3; i++) {
            out.onNext(s + i);
        }
        out.onCompleted();
    }

    @Override
    public void serverStreamFail(String s, StreamObserver<String> out) {
        out.onNext(s);
        out.onError(new IllegalStateException("strm \u00e9 fail"));
    }

    @Override
    public StreamObserver<Person> biStream(StreamObserver<Person> out) {
        return out;
    }
}
