package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests which threads run the services. */
class RpcWorkerThreadsTest {

    @Test
    void platformThreadsAreTheDefault() {
        provider(ThreadTeller.class)
                .run(there -> consumerOf(there, User.class)
                        .run(here -> assertThat(
                                        here.getBean(User.class).greetings.greet("x"))
                                .startsWith("rpc-worker-")
                                .endsWith("platform")));
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void virtualThreadsRunServicesWithTheSameCap() {
        provider(ThreadTeller.class)
                .withPropertyValues("spring.threads.virtual.enabled=true", "rpc.server.threads=7")
                .run(there -> {
                    assertThat(there.getBean(RpcServer.class).workers().maxThreads())
                            .isEqualTo(7);
                    consumerOf(there, User.class)
                            .run(here -> assertThat(
                                            here.getBean(User.class).greetings.greet("x"))
                                    .startsWith("rpc-worker-")
                                    .endsWith("virtual"));
                });
    }

    @ExtendWith(OutputCaptureExtension.class)
    @Test
    @EnabledForJreRange(max = JRE.JAVA_20)
    void missingVirtualThreadsAreReportedInTheLog(CapturedOutput output) {
        provider(ThreadTeller.class)
                .withPropertyValues("spring.threads.virtual.enabled=true")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).contains("spring.threads.virtual.enabled does nothing on Java 17");
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }

    @RpcService
    static class ThreadTeller implements GreetingService {
        @Override
        public String greet(String name) {
            Thread thread = Thread.currentThread();
            // The group's name is compared, because Thread.isVirtual does not exist in Java 17.
            return thread.getName() + " "
                    + (thread.getThreadGroup().getName().equals("VirtualThreads") ? "virtual" : "platform");
        }
    }
}
