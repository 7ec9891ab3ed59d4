package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.consumerOf;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.settings.RpcStartException;
import tern.rpc.spring.LocalRpcPort;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcServerCustomizer;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.actuate.RpcActuatorAutoConfiguration;

/** Tests when an application opens and closes its port. */
@ExtendWith(OutputCaptureExtension.class)
class RpcServerLifecycleTest {

    @Test
    void pausedContextKeepsItsServer() {
        provider(Greeter.class).run(there -> {
            ConfigurableApplicationContext context =
                    (ConfigurableApplicationContext) there.getSourceApplicationContext();

            context.pause();

            assertThat(there.getBean(RpcServerLifecycle.class).isRunning()).isTrue();
            context.restart();
            assertThat(there.getBean(RpcServerLifecycle.class).isRunning()).isTrue();
        });
    }

    @Test
    void startOfAStoppedContextIsExplained() {
        provider(Greeter.class).run(there -> {
            ConfigurableApplicationContext context =
                    (ConfigurableApplicationContext) there.getSourceApplicationContext();
            context.stop();

            assertThatThrownBy(context::start)
                    .cause()
                    .hasMessage(
                            "The RPC server of this application was stopped, and a stopped server cannot start again");
        });
    }

    @Test
    void applicationWithoutServicesOpensNoPort() {
        application(User.class).withPropertyValues("rpc.client.url=127.0.0.1:1").run(here -> {
            assertThat(here).hasNotFailed().doesNotHaveBean(RpcServer.class);
            assertThat(here.getEnvironment().containsProperty("local.rpc.port")).isFalse();
        });
    }

    @Test
    void secondEndOfAServerLeavesThePortToAnotherContext() {
        provider(ExportingCustomizer.class).run(there -> {
            RpcServerLifecycle lifecycle = there.getBean(RpcServerLifecycle.class);
            int port = lifecycle.port();
            lifecycle.destroy();
            PortsOfThisProcess.opened(port);

            lifecycle.destroy();

            assertThat(PortsOfThisProcess.contains(port)).isTrue();
            PortsOfThisProcess.closed(port);
        });
    }

    @Test
    void serviceOfACustomizerOpensThePort() {
        provider(ExportingCustomizer.class, LocalUser.class)
                .withPropertyValues("rpc.client.url=local")
                .run(there -> {
                    assertThat(there.getBean(LocalUser.class).greetings.greet("Ann"))
                            .isEqualTo("hello Ann");
                    assertThat(there.getEnvironment().getProperty("local.rpc.port", Integer.class))
                            .isPositive();
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class BrokenBuiltIn {
        private final AtomicInteger later = new AtomicInteger();

        @Bean
        @Order(1)
        BuiltInService broken() {
            return service(() -> {
                throw new IllegalStateException("broken on purpose");
            });
        }

        @Bean
        @Order(2)
        BuiltInService later() {
            return service(later::incrementAndGet);
        }

        private static BuiltInService service(Runnable shutDown) {
            return new BuiltInService() {
                @Override
                public void addTo(RpcServer.Builder server) {}

                @Override
                public void shutDown() {
                    shutDown.run();
                }
            };
        }
    }

    @Test
    void portOfAnotherContextOfThisProcessIsExplained() {
        AtomicReference<String> port = new AtomicReference<>();
        provider(Greeter.class).run(there -> {
            port.set(there.getEnvironment().getProperty("local.rpc.port"));
            provider(Greeter.class)
                    .withPropertyValues("rpc.server.port=" + port.get())
                    .run(here -> {
                        RpcStartException failure = StartFailures.causeOf(here.getStartupFailure());
                        assertThat(failure)
                                .hasMessageContaining("port " + port.get() + " of all addresses, because another"
                                        + " application context of this process listens there");
                        assertThat(failure.action()).contains("set rpc.server.port=0");
                    });
        });

        assertThat(PortsOfThisProcess.contains(Integer.parseInt(port.get()))).isFalse();
    }

    @Test
    void failingBuiltInServiceDoesNotSkipTheDrain(CapturedOutput output) {
        AtomicReference<BrokenBuiltIn> beans = new AtomicReference<>();
        provider(ExportingCustomizer.class, BrokenBuiltIn.class)
                .run(there -> beans.set(there.getBean(BrokenBuiltIn.class)));

        assertThat(output).contains("the server drains nevertheless", "broken on purpose");
        assertThat(beans.get().later).hasValue(1);
    }

    @Test
    void customizerWithoutServicesOpensNoPort(CapturedOutput output) {
        provider(TuningCustomizer.class, RpcActuatorAutoConfiguration.class).run(here -> {
            assertThat(here).hasNotFailed();
            assertThat(here.getEnvironment().containsProperty("local.rpc.port")).isFalse();
            assertThat(here.getBean(HealthIndicator.class).health().getStatus()).isEqualTo(Status.UP);
        });

        assertThat(output).contains("Property rpc.server.port").contains("no bean with @RpcService was found");
    }

    @Configuration(proxyBeanMethods = false)
    static class ExportingCustomizer {
        @Bean
        RpcServerCustomizer greetings() {
            return server -> server.export(ServiceExport.of(GreetingService.class, name -> "hello " + name));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TuningCustomizer {
        @Bean
        RpcServerCustomizer workers() {
            return server -> server.workers(3, 3);
        }
    }

    static class LocalUser {
        @RpcReference
        GreetingService greetings;
    }

    @Test
    void switchedOffServerOpensNoPort() {
        provider(Greeter.class).withPropertyValues("rpc.server.enabled=false").run(there -> {
            assertThat(there).hasNotFailed().doesNotHaveBean(RpcServer.class);
        });
    }

    @Test
    void freePortIsPublished() {
        provider(Greeter.class).run(there -> {
            int port = there.getBean(RpcServer.class).port();

            assertThat(port).isPositive();
            assertThat(there.getEnvironment().getProperty("local.rpc.port", Integer.class))
                    .isEqualTo(port);
        });
    }

    @Test
    void portIsInjectedAfterTheStart() {
        provider(Greeter.class).run(there -> {
            PortUser late = there.getAutowireCapableBeanFactory().createBean(PortUser.class);

            assertThat(late.port).isEqualTo(there.getBean(RpcServer.class).port());
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"server.port", "management.server.port", "local.server.port"})
    void portOfTheOwnWebServerIsNamed(String property) throws IOException {
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            String port = String.valueOf(taken.getLocalPort());

            provider(Greeter.class)
                    .withPropertyValues(
                            "rpc.server.address=127.0.0.1", "rpc.server.port=" + port, property + "=" + port)
                    .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                            .hasMessage("The RPC server cannot listen on port " + port + " of 127.0.0.1, because "
                                    + property.replace("local.", "") + " is the same port"));
        }
    }

    @Test
    void portInUseStopsTheStartAndIsNamed() throws IOException {
        List<Thread> before = keepAliveThreads(); // other tests might have left threads that are still ending
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

            provider(Greeter.class)
                    .withPropertyValues("rpc.server.address=127.0.0.1", "rpc.server.port=" + taken.getLocalPort())
                    .run(there -> assertThat(StartFailures.causeOf(there.getStartupFailure()))
                            .hasMessageContaining("cannot listen on port " + taken.getLocalPort() + " of 127.0.0.1")
                            .extracting(failure -> ((RpcStartException) failure).action())
                            .asString()
                            .contains("rpc.server.port"));
            assertThat(keepAliveThreads()).isSubsetOf(before);
        }
    }

    @Test
    void ipv6AddressIsListenedOn() {
        assumeTrue(hasIpv6(), "this machine has no IPv6");
        provider(Greeter.class)
                .withPropertyValues("rpc.server.address=[::1]")
                .run(there -> application(User.class)
                        .withPropertyValues("rpc.client.url=[::1]:"
                                + there.getBean(RpcServer.class).port())
                        .run(here -> {
                            assertThat(here.getBean(User.class).greetings.greet("six"))
                                    .isEqualTo("Hello six");
                        }));
    }

    private static boolean hasIpv6() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("::1"))) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void providerWithoutAWebServerStaysAliveUntilItIsClosed() throws InterruptedException {
        List<Thread> before = keepAliveThreads(); // other tests might have left threads that are still ending
        ConfigurableApplicationContext there = start(Provider.class, "--rpc.server.port=0");
        List<Thread> alive = new ArrayList<>(keepAliveThreads());
        alive.removeAll(before);
        assertThat(alive).hasSize(1);
        assertThat(alive.get(0).isDaemon()).isFalse();

        there.close();

        alive.get(0).join(10_000);
        assertThat(alive.get(0).isAlive()).isFalse();
    }

    @Test
    void serverStartsAfterEverythingElseAndStopsBeforeIt() {
        provider(Greeter.class, Witness.class).run(there -> {
            Witness witness = there.getBean(Witness.class);
            assertThat(witness.seen).containsExactly("start while false");

            there.close();

            assertThat(witness.seen).containsExactly("start while false", "stop while false");
        });
    }

    @Test
    void callThatRunsWhileTheContextClosesIsAnswered() throws Exception {
        ConfigurableApplicationContext there = start(SlowProvider.class, "--rpc.server.port=0");
        SlowGreeter slow = there.getBean(SlowGreeter.class);

        consumerOf(there, User.class).run(here -> {
            GreetingService greetings = here.getBean(User.class).greetings;
            FutureTask<String> call = new FutureTask<>(() -> greetings.greet("x"));
            new Thread(call).start();
            slow.entered.await();

            Thread closing = new Thread(there::close);
            closing.start();
            awaitDraining(there);
            slow.released.countDown();

            assertThat(call.get()).isEqualTo("slow x");
            here.close();
            closing.join();
            assertThat(there.isActive()).isFalse();
        });
    }

    @Test
    void logOfTheDrainNamesItsTimeAndItsProperty() {
        Logger log = (Logger) LoggerFactory.getLogger(RpcServerLifecycle.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.addAppender(lines);
        log.setLevel(Level.INFO);
        try {
            provider(Greeter.class)
                    .withPropertyValues("rpc.server.shutdown-timeout=200ms")
                    .run(there -> assertThat(there).hasNotFailed());
        } finally {
            log.setLevel(null);
            log.detachAppender(lines);
        }

        assertThat(lines.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .contains("Draining the RPC server for at most 200ms (set by rpc.server.shutdown-timeout)");
    }

    private static void awaitDraining(ConfigurableApplicationContext context) {
        RpcServerLifecycle lifecycle = context.getBean(RpcServerLifecycle.class);
        while (lifecycle.isRunning()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void contextStartsAndStopsTenTimesWithoutLeavingThreads() throws InterruptedException {
        // These threads belong to applications from other tests, and are not counted.
        var others = new java.util.HashSet<>(keepAliveThreads());
        for (int i = 0; i < 10; i++) {
            provider(Greeter.class)
                    .run(there -> consumerOf(there, User.class)
                            .run(here -> assertThat(
                                            here.getBean(User.class).greetings.greet("x"))
                                    .isEqualTo("Hello x")));
        }

        for (Thread thread : keepAliveThreads().stream()
                .filter(thread -> !others.contains(thread))
                .toList()) {
            // The last thread that the application started might not have ended yet.
            thread.join(TimeUnit.SECONDS.toMillis(30));
        }
        assertThat(others).containsAll(keepAliveThreads());
    }

    private static List<Thread> keepAliveThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("rpc-keep-alive"))
                .toList();
    }

    private static ConfigurableApplicationContext start(Class<?> source, String... arguments) {
        return new SpringApplicationBuilder(source).web(WebApplicationType.NONE).run(arguments);
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }

    static class PortUser {
        @LocalRpcPort
        int port;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Greeter.class)
    static class Provider {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(SlowGreeter.class)
    static class SlowProvider {
        @Bean
        ThreadPoolTaskExecutor executor() {
            return new ThreadPoolTaskExecutor();
        }
    }

    /**
     * A service that uses an executor of the application. The executor rejects tasks as soon as the context begins to
     * close.
     */
    @RpcService
    static class SlowGreeter implements GreetingService {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);
        private final ThreadPoolTaskExecutor executor;

        SlowGreeter(ThreadPoolTaskExecutor executor) {
            this.executor = executor;
        }

        @Override
        public String greet(String name) {
            entered.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return CompletableFuture.supplyAsync(() -> "slow " + name, executor).join();
        }
    }

    /**
     * A component that records its start and its stop. The component is in the same lifecycle phase as Spring's own
     * listener containers and executors.
     */
    @Configuration(proxyBeanMethods = false)
    static class Witness implements SmartLifecycle {
        final List<String> seen = new ArrayList<>();
        private RpcServerLifecycle server;
        private boolean running;

        @Bean
        Object watched(RpcServerLifecycle lifecycle) {
            server = lifecycle;
            return lifecycle.toString();
        }

        @Override
        public void start() {
            running = true;
            seen.add("start while " + server.isRunning());
        }

        @Override
        public void stop() {
            running = false;
            seen.add("stop while " + server.isRunning());
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return DEFAULT_PHASE - 100;
        }
    }
}
