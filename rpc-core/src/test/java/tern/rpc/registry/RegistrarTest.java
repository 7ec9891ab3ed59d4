package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSource;

class RegistrarTest {

    private static final Registration REGISTRATION = new Registration(
            "shop",
            "10.0.0.7",
            20880,
            List.of("dubbo"),
            List.of(new Registration.Service(new ServiceKey("com.acme.Orders", "", ""), List.of("place"), 100)),
            Map.of(),
            0,
            0);

    /** A registry that records which of its methods are called. */
    private static final class FakeRegistry implements Registry, Publication {
        final List<String> log = new ArrayList<>();
        final CompletableFuture<Void> seen = new CompletableFuture<>();
        final CompletableFuture<Void> gone = new CompletableFuture<>();
        private final String name;
        Registration published;
        String refused = "";
        CompletableFuture<Repair> verified = CompletableFuture.completedFuture(Repair.NONE);

        FakeRegistry(String name) {
            this.name = name;
        }

        @Override
        public RegistryUrl url() {
            return RegistryUrl.parse("fake://me:secret@" + name);
        }

        @Override
        public List<InetSocketAddress> remoteAddresses() {
            return List.of(new InetSocketAddress(1));
        }

        @Override
        public Publication publish(Registration registration) {
            log.add("publish");
            if (registration.host().equals(refused)) {
                throw new IllegalArgumentException(refused + " is useless here");
            }
            published = registration;
            return this;
        }

        @Override
        public EndpointSource source(Subscription subscription) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Void> seen() {
            return seen;
        }

        @Override
        public String problem() {
            return seen.isDone() ? "" : "not reached";
        }

        @Override
        public CompletableFuture<Repair> verify() {
            log.add("verify");
            return verified;
        }

        @Override
        public CompletableFuture<Void> withdraw() {
            log.add("withdraw");
            return gone;
        }

        @Override
        public void close() {
            log.add("close");
        }
    }

    /** A timer that runs its scheduled task when the test requests it. */
    private static final class FakeTimer extends ScheduledThreadPoolExecutor {
        Runnable task = () -> {};
        Runnable delayed = () -> {};
        long everyMillis;

        FakeTimer() {
            super(0);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
            delayed = command;
            return super.schedule(() -> {}, 1, TimeUnit.HOURS);
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long first, long delay, TimeUnit unit) {
            task = command;
            everyMillis = unit.toMillis(delay);
            return super.schedule(() -> {}, 1, TimeUnit.HOURS);
        }
    }

    /** A clock that advances only while the registrar waits. */
    private static final class FakeWaiting implements Registrar.Waiting {
        final AtomicLong now;
        final Duration untilGone;

        FakeWaiting(AtomicLong now, Duration untilGone) {
            this.now = now;
            this.untilGone = untilGone;
        }

        @Override
        public boolean isDone(CompletableFuture<?> future, Duration atMost) {
            boolean inTime = untilGone.compareTo(atMost) <= 0;
            now.addAndGet((inTime ? untilGone : atMost).toNanos());
            return inTime;
        }

        @Override
        public void pause(Duration time) {
            now.addAndGet(time.toNanos());
        }
    }

    private final FakeRegistry one = new FakeRegistry("one");
    private final FakeRegistry two = new FakeRegistry("two");
    private final FakeTimer timer = new FakeTimer();
    private final AtomicLong now = new AtomicLong();

    private Registrar registrar(Duration untilGone) {
        return new Registrar(List.of(one, two), timer, now::get, new FakeWaiting(now, untilGone));
    }

    @AfterEach
    void end() {
        timer.shutdownNow();
    }

    @Test
    void registrationIsSeenWhenEveryRegistryShowedIt() {
        CompletableFuture<Void> seen = registrar(Duration.ZERO).register(REGISTRATION);

        one.seen.complete(null);
        assertThat(seen).isNotDone();
        two.seen.complete(null);
        assertThat(seen).isDone();
    }

    @Test
    void problemsNameTheRegistryWithoutItsCredentials() {
        Registrar registrar = registrar(Duration.ZERO);
        registrar.register(REGISTRATION);
        one.seen.complete(null);

        assertThat(registrar.problems())
                .containsExactly(Map.entry("fake://…@one", ""), Map.entry("fake://…@two", "not reached"));
    }

    @Test
    void entriesAreVerifiedEveryThirtySeconds() {
        Registrar registrar = registrar(Duration.ZERO);
        registrar.register(REGISTRATION);
        registrar.register(REGISTRATION);

        timer.task.run();

        assertThat(timer.everyMillis).isEqualTo(30_000);
        assertThat(one.log).containsExactly("publish", "verify");
    }

    @Test
    void failedVerificationIsAWarningOnceAMinuteForEachReason() {
        try (RegistryLog log = new RegistryLog()) {
            registrar(Duration.ZERO).register(REGISTRATION);
            one.verified = CompletableFuture.failedFuture(new IllegalStateException("no disk"));
            for (int seconds = 0; seconds < 120; seconds += 30) {
                now.set(Duration.ofSeconds(seconds).toNanos());
                timer.task.run();
            }
            String noDisk = "The registration at fake://…@one could not be verified: no disk. Tern tries again";
            assertThat(log.warnings()).containsExactly(noDisk, noDisk);

            one.verified = CompletableFuture.failedFuture(new IllegalStateException("no right"));
            timer.task.run();

            assertThat(log.warnings()).hasSize(3).last().asString().contains("no right");
        }
    }

    @Test
    void addressOfTwoProcessesIsNamed() {
        try (RegistryLog log = new RegistryLog()) {
            registrar(Duration.ZERO).register(REGISTRATION);
            one.verified = CompletableFuture.completedFuture(new Publication.Repair(0, 2));
            two.verified = CompletableFuture.completedFuture(new Publication.Repair(3, 0));

            timer.task.run();

            assertThat(log.warnings())
                    .hasSize(2)
                    .satisfies(all -> assertThat(all.get(0))
                            .startsWith("Another process registers the same address as this provider at fake://…@one."))
                    .satisfies(all -> assertThat(all.get(1))
                            .isEqualTo(
                                    "3 entries of this provider were missing at fake://…@two and were written again"));
        }
    }

    @Test
    void failedWithdrawalIsNotCalledALateOne() {
        try (RegistryLog log = new RegistryLog()) {
            Registrar registrar = registrar(Duration.ofMillis(59));
            registrar.register(REGISTRATION);
            one.gone.completeExceptionally(new IllegalStateException("no disk"));
            two.gone.completeExceptionally(new IllegalStateException("no right"));

            registrar.withdraw();

            assertThat(Duration.ofNanos(now.get())).isEqualTo(Duration.ofMillis(59));
            assertThat(log.warnings())
                    .containsExactly(
                            "The registration at fake://…@one could not be removed: no disk. This provider stops"
                                    + " nevertheless",
                            "The registration at fake://…@two could not be removed: no right. This provider stops"
                                    + " nevertheless");
        }
    }

    @Test
    void withdrawalWaitsUntilTheEntriesAreGoneAndOneSecondMore() {
        Registrar registrar = registrar(Duration.ofMillis(400));
        registrar.register(REGISTRATION);

        registrar.withdraw();

        assertThat(Duration.ofNanos(now.get())).isEqualTo(Duration.ofMillis(1_400));
        assertThat(one.log).containsExactly("publish", "withdraw");
        registrar.withdraw();
        assertThat(one.log).containsExactly("publish", "withdraw");
    }

    @Test
    void withdrawalTakesThreeSecondsAtTheMost() {
        for (Duration untilGone : List.of(Duration.ofMillis(2_600), Duration.ofSeconds(60))) {
            now.set(0);
            Registrar registrar = registrar(untilGone);
            registrar.register(REGISTRATION);

            registrar.withdraw();

            assertThat(Duration.ofNanos(now.get())).isEqualTo(Duration.ofSeconds(3));
        }
    }

    @Test
    void withdrawnProviderMayRegisterAgain() {
        Registrar registrar = registrar(Duration.ZERO);
        registrar.register(REGISTRATION);
        registrar.withdraw();

        registrar.register(REGISTRATION);

        assertThat(one.log).containsExactly("publish", "withdraw", "publish");
    }

    @Test
    void failureAtOneRegistryWithdrawsTheRegistrationFromTheOthers() {
        Registrar registrar = registrar(Duration.ZERO);

        assertThatThrownBy(() -> registrar.register(registry -> {
                    if (registry == two) {
                        throw new IllegalArgumentException("no address");
                    }
                    return REGISTRATION;
                }))
                .hasMessage("no address");

        assertThat(one.log).containsExactly("publish", "withdraw");
        assertThat(registrar.problems()).isEmpty();
        registrar.register(REGISTRATION);
        assertThat(one.log).containsExactly("publish", "withdraw", "publish");
    }

    private static Registration at(String host) {
        return new Registration("shop", host, 20880, List.of("dubbo"), REGISTRATION.services(), Map.of(), 0, 0);
    }

    @Test
    void eachRegistryGetsItsOwnAddress() {
        registrar(Duration.ZERO).register(registry -> at(registry == one ? "127.0.0.1" : "10.0.0.7"));

        assertThat(one.published).isEqualTo(at("127.0.0.1"));
        assertThat(two.published).isEqualTo(at("10.0.0.7"));
    }

    @Test
    void providerIsRegisteredAsSoonAsItsAddressIsKnown() {
        AtomicLong looks = new AtomicLong();
        Registrar registrar = registrar(Duration.ZERO);
        try (RegistryLog log = new RegistryLog()) {
            CompletableFuture<Void> seen = registrar.register(registry -> {
                if (registry == two && looks.getAndIncrement() < 3) {
                    throw new NoRouteException("there is no route", null);
                }
                return REGISTRATION;
            });
            assertThat(one.log).containsExactly("publish");
            assertThat(registrar.problems()).containsEntry("fake://…@two", "there is no route");

            timer.delayed.run();
            timer.delayed.run();
            assertThat(two.log).isEmpty();
            assertThat(log.warnings())
                    .containsExactly("This provider is not registered at fake://…@two yet: there is no route. Tern"
                            + " tries again");

            timer.delayed.run();
            assertThat(two.log).containsExactly("publish");
            one.seen.complete(null);
            two.seen.complete(null);
            assertThat(seen).isDone();
            assertThat(registrar.problems()).containsEntry("fake://…@two", "");
        }
    }

    @Test
    void withdrawnProviderIsNotRegisteredWhenItsAddressIsKnown() {
        AtomicLong looks = new AtomicLong();
        Registrar registrar = registrar(Duration.ZERO);
        registrar.register(registry -> {
            if (registry == two && looks.getAndIncrement() == 0) {
                throw new NoRouteException("there is no route", null);
            }
            return REGISTRATION;
        });

        registrar.withdraw();
        timer.delayed.run();

        assertThat(two.log).isEmpty();
    }

    @Test
    void changedAddressIsPublishedBeforeTheEntriesOfTheOldOneAreRemoved() {
        AtomicReference<String> host = new AtomicReference<>("10.0.0.7");
        Registrar registrar = new Registrar(List.of(one), timer, now::get, new FakeWaiting(now, Duration.ZERO));
        try (RegistryLog log = new RegistryLog()) {
            registrar.register(registry -> at(host.get()));
            timer.task.run();
            assertThat(one.log).containsExactly("publish", "verify");

            host.set("10.0.0.8");
            timer.task.run();
            timer.task.run();
            assertThat(one.published).isEqualTo(at("10.0.0.8"));
            assertThat(one.log).containsExactly("publish", "verify", "publish", "verify", "verify");
            one.seen.complete(null);

            assertThat(one.log).endsWith("verify", "withdraw");
            assertThat(log.warnings())
                    .containsExactly("The address of this provider at fake://…@one has changed from 10.0.0.7:20880 to"
                            + " 10.0.0.8:20880");
        }
    }

    @Test
    void newAddressThatARegistryRefusesIsLoggedOnceAndTriedAgain() {
        AtomicReference<String> host = new AtomicReference<>("10.0.0.7");
        Registrar registrar = registrar(Duration.ZERO);
        try (RegistryLog log = new RegistryLog()) {
            registrar.register(registry -> at(host.get()));
            one.refused = "10.0.0.8";
            host.set("10.0.0.8");
            timer.task.run();
            timer.task.run();

            assertThat(one.log).containsExactly("publish", "publish", "verify", "publish", "verify");
            assertThat(two.published).isEqualTo(at("10.0.0.8"));
            assertThat(log.warnings().stream().filter(warning -> warning.contains("@one")))
                    .containsExactly("The new address cannot be published at fake://…@one, 10.0.0.8:20880:"
                            + " 10.0.0.8 is useless here. Tern tries again");

            assertThat(registrar.problems()).containsEntry("fake://…@one", "10.0.0.8:20880: 10.0.0.8 is useless here");

            one.refused = "";
            timer.task.run();
            assertThat(one.published).isEqualTo(at("10.0.0.8"));
            assertThat(registrar.problems()).containsEntry("fake://…@one", "not reached");
        }
    }

    @Test
    void addressThatARegistryRefusesAgainAfterTheOldOneIsAnotherWarning() {
        AtomicReference<String> host = new AtomicReference<>("10.0.0.7");
        Registrar registrar = new Registrar(List.of(one), timer, now::get, new FakeWaiting(now, Duration.ZERO));
        one.refused = "10.0.0.8";
        try (RegistryLog log = new RegistryLog()) {
            registrar.register(registry -> at(host.get()));
            for (String next : List.of("10.0.0.8", "10.0.0.7", "10.0.0.8")) {
                host.set(next);
                timer.task.run();
            }

            assertThat(log.warnings())
                    .hasSize(2)
                    .allMatch(warning -> warning.startsWith("The new address cannot be published"));
        }
    }

    @Test
    void withdrawalRemovesTheEntriesOfBothAddresses() {
        AtomicReference<String> host = new AtomicReference<>("10.0.0.7");
        Registrar registrar = new Registrar(List.of(one), timer, now::get, new FakeWaiting(now, Duration.ZERO));
        registrar.register(registry -> at(host.get()));
        host.set("10.0.0.8");
        timer.task.run();

        registrar.withdraw();

        assertThat(one.log).containsExactly("publish", "publish", "verify", "withdraw", "withdraw");
    }
}
