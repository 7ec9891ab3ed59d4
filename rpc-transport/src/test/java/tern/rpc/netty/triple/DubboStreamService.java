package tern.rpc.netty.triple;

import com.example.wire.Person;
import org.apache.dubbo.common.stream.StreamObserver;

/** The methods of {@code com.example.wire.StreamService}, with Dubbo's types. */
public interface DubboStreamService {

    void serverStream(String s, StreamObserver<String> out);

    void serverStreamFail(String s, StreamObserver<String> out);

    StreamObserver<Person> biStream(StreamObserver<Person> out);
}
