package tern.rpc.spring.autoconfigure;

import java.util.concurrent.CompletableFuture;
import tern.rpc.RpcMethod;

/** A service for tests, with synchronous, asynchronous and one-way methods. */
public interface CounterService {

    int count();

    void add(int amount);

    @RpcMethod(oneWay = true)
    void hint(int amount);

    CompletableFuture<Integer> later();

    void waitForRelease() throws InterruptedException;
}
