package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RunningCall;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorEndpoint;
import tern.rpc.spring.autoconfigure.waiting.WaitingReporter;
import tern.rpc.waiting.StackClassifier;
import tern.rpc.waiting.Wait;
import tern.rpc.waiting.WaitingReport;

/** The waiting report of an application. */
class RpcWaitingTest {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=rpc";

    @Configuration(proxyBeanMethods = false)
    static class User {

        @RpcReference
        GreetingService greetings;
    }

    @Configuration(proxyBeanMethods = false)
    static class Extended {

        /** A classifier of the application, which takes precedence over the built-in ones. */
        @Bean
        StackClassifier naps() {
            return thread ->
                    thread.isIn(Sleeper.class.getName(), "greet") ? new Wait("nap of the test", "sleeper.nap") : null;
        }

        @Bean
        PoolSource beds() {
            return () -> PoolSnapshot.builder("beds", PoolKind.EXECUTOR, 4)
                    .now(3, 1, 0)
                    .queueCapacity(10)
                    .waitLimit(Duration.ofSeconds(1))
                    .counts(5, 2)
                    .callerRuns(1)
                    .sums(Duration.ZERO, Duration.ZERO)
                    .settings(List.of(new PoolSetting("sleeper.nap", "long", PoolSetting.Source.USER)))
                    .build();
        }
    }

    private static void awaitTrue(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("time left").isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
    }

    private static void awaitRunning(ApplicationContext there) {
        awaitTrue(() -> there.getBean(RpcServer.class).runningCalls().size() == 1);
    }

    private static boolean hasRow(WaitingReport report, String resource) {
        return report.rows().stream().anyMatch(row -> row.resource().equals(resource));
    }

    private static WaitingReport reportOf(ApplicationContext there) {
        return (WaitingReport) java.util.Objects.requireNonNull(
                        there.getBean(RpcActuatorEndpoint.class).part("waiting", null))
                .getBody();
    }

    @Test
    void endpointNamesWhatServedCallsWaitFor() {
        provider(Sleeper.class)
                .withPropertyValues(EXPOSED)
                .run(there -> consumerOf(there, User.class).run(here -> {
                    CompletableFuture<String> answer = CompletableFuture.supplyAsync(
                            () -> here.getBean(User.class).greetings.greet("x"));
                    awaitRunning(there);

                    // waits of the caller, which runs in the same process
                    awaitTrue(() -> hasRow(reportOf(there), "RPC: answer of another service"));
                    WaitingReport report = reportOf(there);

                    assertThat(report.calls()).isEqualTo(1);
                    assertThat(report.vitals().lines()).extracting("name").startsWith("cpu", "memory");
                    RunningCall running =
                            there.getBean(RpcServer.class).runningCalls().get(0);
                    assertThat(running.method()).isEqualTo("GreetingService.greet");
                    assertThat(running.phase()).isEqualTo(Phase.OWN);
                    there.getBean(Sleeper.class).wake();
                    assertThat(answer.join()).isEqualTo("good morning");
                }));
    }

    @Test
    void classifiersOfTheApplicationComeFirstAndItsPoolsAreShown() {
        provider(Sleeper.class, Extended.class)
                .withPropertyValues(EXPOSED)
                .run(there -> consumerOf(there, User.class).run(here -> {
                    CompletableFuture<String> answer = CompletableFuture.supplyAsync(
                            () -> here.getBean(User.class).greetings.greet("x"));
                    awaitRunning(there);

                    awaitTrue(() -> hasRow(reportOf(there), "nap of the test"));
                    WaitingReport report = reportOf(there);

                    assertThat(report.rows())
                            .filteredOn(row -> row.resource().equals("nap of the test"))
                            .singleElement()
                            .satisfies(row -> {
                                assertThat(row.threads()).isEqualTo(1);
                                assertThat(row.longest()).isPositive();
                                assertThat(row.change()).isEqualTo("sleeper.nap (now long)");
                            });
                    assertThat(report.pools()).contains(new WaitingReport.Pool("beds", "executor", 3, 4, 0, 2, 1));
                    there.getBean(Sleeper.class).wake();
                    answer.join();
                }));
    }

    /** Waits like a thread that borrows a connection, until the test releases it. */
    @RpcService
    static class Borrower implements GreetingService {

        private final CountDownLatch given = new CountDownLatch(1);

        @Override
        public String greet(String name) {
            CallLedger ledger = CallLedger.current();
            Phase before = ledger.enter(Phase.JDBC_CONNECTION);
            try {
                given.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                ledger.leave(before);
            }
            return Thread.currentThread().toString();
        }
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void callsOnVirtualThreadsAreToldByTheirLedgers() {
        provider(Borrower.class)
                .withPropertyValues(EXPOSED, "spring.threads.virtual.enabled=true")
                .run(there -> consumerOf(there, User.class).run(here -> {
                    CompletableFuture<String> answer = CompletableFuture.supplyAsync(
                            () -> here.getBean(User.class).greetings.greet("x"));
                    awaitTrue(() -> hasRow(reportOf(there), "JDBC pool: get connection"));
                    WaitingReport report = reportOf(there);

                    assertThat(report.rows())
                            .filteredOn(row -> row.resource().equals("JDBC pool: get connection"))
                            .singleElement()
                            .satisfies(row -> {
                                assertThat(row.threads()).isEqualTo(1);
                                assertThat(row.longest()).isPositive();
                            });
                    there.getBean(Borrower.class).given.countDown();
                    assertThat(answer.join()).startsWith("VirtualThread");
                }));
    }

    @Test
    void endpointKnowsNoOtherPart() {
        provider(Greeter.class)
                .withPropertyValues(EXPOSED)
                .run(there -> assertThat(
                                there.getBean(RpcActuatorEndpoint.class).part("weather", null))
                        .isNull());
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void refusalWritesTheReport(CapturedOutput output) {
        provider(Sleeper.class)
                .withPropertyValues(
                        "rpc.server.threads=1", "rpc.server.queue-capacity=0", "rpc.server.max-queue-wait=1m")
                .run(there -> consumerOf(there, User.class).run(here -> {
                    GreetingService greetings = here.getBean(User.class).greetings;
                    CompletableFuture<String> answer = CompletableFuture.supplyAsync(() -> greetings.greet("x"));
                    awaitRunning(there);

                    assertThat(catchThrowable(() -> greetings.greet("y"))).isInstanceOf(RpcException.class);

                    awaitTrue(() -> output.getOut().contains("to change"));
                    assertThat(output)
                            .contains("Calls are refused since no worker is free. This is what threads wait for:");
                    there.getBean(Sleeper.class).wake();
                    answer.join();
                }));
    }

    @Test
    void ledgersCanBeSwitchedOff() {
        provider(Sleeper.class)
                .withPropertyValues(EXPOSED, "rpc.server.ledger=false")
                .run(there -> consumerOf(there, User.class).run(here -> {
                    CompletableFuture<String> answer = CompletableFuture.supplyAsync(
                            () -> here.getBean(User.class).greetings.greet("x"));
                    RpcServer server = there.getBean(RpcServer.class);
                    awaitTrue(() -> server.workers().active() == 1);

                    assertThat(server.runningCalls()).isEmpty();
                    assertThat(reportOf(there).calls()).isZero();
                    there.getBean(Sleeper.class).wake();
                    assertThat(answer.join()).isEqualTo("good morning");
                }));
    }

    @Test
    void applicationThatServesNothingHasAReportAndNoWatch() {
        application().run(here -> {
            assertThat(here).hasSingleBean(WaitingReporter.class);
            assertThat(here).doesNotHaveBean("rpcWaitingWatch");
            assertThat(here.getBean(WaitingReporter.class).report().calls()).isZero();
        });
    }
}
