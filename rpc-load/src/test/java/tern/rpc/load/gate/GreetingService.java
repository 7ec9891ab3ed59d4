package tern.rpc.load.gate;

import java.io.Serializable;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

public interface GreetingService {

    record Visitor(String name, int visits) implements Serializable {}

    String greet(String name);

    String greet(Visitor visitor);

    /** Returns 0 for the number 0 and fails for every other number. */
    long only0(long number);

    @RpcMethod(readOnly = true)
    void watch(String name, StreamObserver<String> greetings);
}
