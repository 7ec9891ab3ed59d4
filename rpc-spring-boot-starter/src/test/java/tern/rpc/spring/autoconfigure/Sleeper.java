package tern.rpc.spring.autoconfigure;

import java.util.concurrent.CountDownLatch;
import tern.rpc.spring.RpcService;

/** A service that responds only when the test wakes it. */
@RpcService
class Sleeper implements GreetingService {

    private final CountDownLatch woken = new CountDownLatch(1);

    void wake() {
        woken.countDown();
    }

    @Override
    public String greet(String name) {
        try {
            woken.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return "good morning";
    }
}
