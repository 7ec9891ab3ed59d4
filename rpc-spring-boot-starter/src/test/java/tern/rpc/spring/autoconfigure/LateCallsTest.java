package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static tern.rpc.spring.autoconfigure.Applications.application;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.firstday.Messages;

/**
 * Tests the error messages that callers get if a provider accepts calls but never responds. The calls are made with and
 * without tracing.
 */
class LateCallsTest {

    private static final String SERVICE = "rpc.client.services.greeting-service";

    @Test
    void timeOutNamesAddressTimeAndTheSettingInForce() throws Exception {
        assertSays("time-out: set for the client", User.class, "rpc.client.timeout=300ms");
        assertSays("time-out: set for the service", User.class, SERVICE + ".timeout=300ms");
        assertSays(
                "time-out: set for the method",
                User.class,
                SERVICE + ".timeout=1m",
                SERVICE + ".methods.greet.timeout=300ms");
        assertSays("time-out: set by the annotation", AnnotatedUser.class);
    }

    private static void assertSays(String occasion, Class<? extends Caller> user, String... properties)
            throws Exception {
        for (Class<?>[] beans :
                List.of(new Class<?>[] {user}, new Class<?>[] {user, RpcObservationTest.Traces.class})) {
            try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
                application(beans)
                        .withPropertyValues("rpc.client.url=127.0.0.1:" + silent.getLocalPort())
                        .withPropertyValues(properties)
                        .run(here -> Messages.assertSays(
                                occasion,
                                catchThrowableOfType(RpcException.class, here.getBean(user)::call)
                                        .getMessage()));
            }
        }
    }

    interface Caller {
        void call();
    }

    static class User implements Caller {
        @RpcReference
        GreetingService greetings;

        @Override
        public void call() {
            greetings.greet("x");
        }
    }

    static class AnnotatedUser implements Caller {
        @RpcReference(timeout = "300ms")
        GreetingService greetings;

        @Override
        public void call() {
            greetings.greet("x");
        }
    }
}
