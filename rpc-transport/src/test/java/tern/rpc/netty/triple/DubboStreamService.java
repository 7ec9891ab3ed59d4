package tern.rpc.netty.triple;

import com.example.wire.Person;
import org.apache.dubbo.common.stream.StreamObserver;

/** {@code com.example.wire.StreamService} as an application of Dubbo declares it. */
public interface DubboStreamService {

    void serverStream(String s, StreamObserver<String> out);

    void serverStreamFail(String s, StreamObserver<String> out);

    StreamObserver<Person> biStream(StreamObserver<Person> out);
}
