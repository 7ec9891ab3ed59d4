package tern.rpc.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.health.ServingStatus.NOT_SERVING;
import static tern.rpc.health.ServingStatus.SERVICE_UNKNOWN;
import static tern.rpc.health.ServingStatus.SERVING;
import static tern.rpc.health.ServingStatus.UNKNOWN;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.server.MethodBody;
import tern.rpc.server.ServiceExport;

/** Tests which statuses callers of {@code grpc.health.v1} receive when a status changes. */
class HealthServiceTest {

    interface Orders {
        String place(String order);
    }

    private final HealthService health = new HealthService();

    @Test
    void wholeServerIsServingByDefault() throws Throwable {
        assertThat(check("")).isEqualTo(SERVING);
        assertThat(call("Check", new byte[0]))
                .isInstanceOfSatisfying(
                        CompletionStage.class,
                        stage -> assertThat(stage.toCompletableFuture().join()).isEqualTo(new byte[] {0x08, 0x01}));
    }

    @Test
    void unknownNameIsNotFound() {
        assertThatThrownBy(() -> check("nobody"))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.NOT_FOUND))
                .hasMessageContaining("'nobody'");
    }

    @Test
    void exportIsKnownByInterfaceAndByKey() throws Throwable {
        health.add(ServiceExport.of(Orders.class, (Orders) order -> order, "g1", "2.0"));

        assertThat(check(Orders.class.getName())).isEqualTo(SERVING);
        assertThat(check("g1/" + Orders.class.getName() + ":2.0")).isEqualTo(SERVING);
    }

    @Test
    void statusSetBeforeTheExportIsKept() throws Throwable {
        health.set(Orders.class.getName(), NOT_SERVING);

        health.add(ServiceExport.of(Orders.class, order -> order));

        assertThat(check(Orders.class.getName())).isEqualTo(NOT_SERVING);
    }

    @Test
    void serviceServesOnlyWhileTheServerDoes() throws Throwable {
        health.set("orders", SERVING);
        health.set("stock", NOT_SERVING);

        health.set(NOT_SERVING);
        assertThat(check("orders")).isEqualTo(NOT_SERVING);

        health.set(SERVING);
        assertThat(check("orders")).isEqualTo(SERVING);
        assertThat(check("stock")).isEqualTo(NOT_SERVING);
    }

    @Test
    void requestMayHaveFieldsOfLaterVersions() throws Throwable {
        health.set("a", NOT_SERVING);
        byte[] later = {0x10, (byte) 0x96, 0x01, 0x0A, 0x01, 'a', 0x1A, 0x02, 'x', 'y', 0x21, 0, 0, 0, 0, 0, 0, 0, 0};

        assertThat(statusOf(stage(call("Check", later)))).isEqualTo(NOT_SERVING);
    }

    @Test
    void brokenRequestIsAnInvalidArgument() {
        for (byte[] broken : List.of(new byte[] {0x0A, 0x05, 'a'}, new byte[] {0x0A}, new byte[] {0x0B, 0x01})) {
            assertThatThrownBy(() -> call("Check", broken))
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            failure -> assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void watchSendsTheStatusAtOnceAndThenEachChange() throws Throwable {
        health.set("orders", SERVING);
        Caller caller = watch("orders", Long.MAX_VALUE);
        assertThat(caller.seen).containsExactly(SERVING);

        health.set("orders", NOT_SERVING);
        health.set("orders", NOT_SERVING);
        health.set("other", NOT_SERVING);
        health.set("orders", SERVING);

        assertThat(caller.seen).containsExactly(SERVING, NOT_SERVING, SERVING);
        assertThat(caller.ended).isFalse();
    }

    @Test
    void watchOfAnUnknownNameWaitsUntilItIsKnown() throws Throwable {
        Caller caller = watch(Orders.class.getName(), Long.MAX_VALUE);
        assertThat(caller.seen).containsExactly(SERVICE_UNKNOWN);
        assertThat(caller.ended).isFalse();

        health.add(ServiceExport.of(Orders.class, order -> order));

        assertThat(caller.seen).containsExactly(SERVICE_UNKNOWN, SERVING);
    }

    @Test
    void slowCallerGetsTheLastOfSeveralChanges() throws Throwable {
        Caller caller = watch("", 1);
        health.set(NOT_SERVING);
        health.set(UNKNOWN);
        health.set(NOT_SERVING);
        assertThat(caller.seen).containsExactly(SERVING);

        caller.subscription.request(5);

        assertThat(caller.seen).containsExactly(SERVING, NOT_SERVING);
    }

    @Test
    void disconnectedCallerGetsNothing() throws Throwable {
        Caller caller = watch("", Long.MAX_VALUE);

        caller.subscription.cancel();
        health.set(NOT_SERVING);
        health.shutDown();

        assertThat(caller.seen).containsExactly(SERVING);
        assertThat(caller.ended).isFalse();
    }

    @Test
    void shutdownIsReportedAndEndsTheWatch() throws Throwable {
        health.set("stock", NOT_SERVING);
        Caller server = watch("", Long.MAX_VALUE);
        Caller stock = watch("stock", Long.MAX_VALUE);
        Caller unknown = watch("nobody", Long.MAX_VALUE);

        health.shutDown();

        assertThat(server.seen).containsExactly(SERVING, NOT_SERVING);
        assertThat(stock.seen).containsExactly(NOT_SERVING);
        assertThat(unknown.seen).containsExactly(SERVICE_UNKNOWN);
        assertThat(List.of(server, stock, unknown)).allMatch(caller -> caller.ended);
    }

    @Test
    void shutdownReachesASlowCallerBeforeTheEnd() throws Throwable {
        Caller caller = watch("", 1);

        health.shutDown();
        assertThat(caller.ended).isFalse();
        caller.subscription.request(1);

        assertThat(caller.seen).containsExactly(SERVING, NOT_SERVING);
        assertThat(caller.ended).isTrue();
    }

    @Test
    void nothingServesAgainAfterTheShutdown() throws Throwable {
        health.shutDown();

        health.set(SERVING);
        Caller caller = watch("", Long.MAX_VALUE);

        assertThat(check("")).isEqualTo(NOT_SERVING);
        assertThat(caller.seen).containsExactly(NOT_SERVING);
        assertThat(caller.ended).isTrue();
    }

    private List<Caller> watch(int count, Object connection) {
        List<Caller> callers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Caller caller = new Caller(Long.MAX_VALUE);
            HealthWatch.of(health, "", connection).subscribe(caller);
            callers.add(caller);
        }
        return callers;
    }

    private static List<Caller> open(List<Caller> callers) {
        return callers.stream().filter(caller -> caller.failure == null).toList();
    }

    private static InetSocketAddress peer(String address, int port) throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(address), port);
    }

    @Test
    void watchesAreLimitedAndFurtherCallersContinueWithoutHealthChecks() {
        List<Caller> callers = watch(HealthService.MAX_WATCHES + 1, "connection");

        Caller refused = callers.get(HealthService.MAX_WATCHES);
        assertThat(open(callers)).hasSize(HealthService.MAX_WATCHES);
        assertThat(refused.seen).isEmpty();
        assertThat(refused.failure)
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                .hasMessageContaining("1000 of 1000 calls watch the health of this server, 1000 of them from this");
        refused.subscription.cancel();

        callers.get(3).subscription.cancel();
        callers.get(3).subscription.cancel();
        assertThat(open(watch(2, "connection"))).hasSize(1);

        health.shutDown();
        assertThat(callers).filteredOn(caller -> caller.ended).hasSize(HealthService.MAX_WATCHES - 1);
    }

    @Test
    void callerFromAnotherAddressReplacesTheNewestCallOfTheLargest() throws Exception {
        List<Caller> many = new ArrayList<>(watch(600, peer("10.0.0.1", 1)));
        many.addAll(watch(400, peer("10.0.0.1", 2)));

        List<Caller> others = watch(700, peer("10.0.0.2", 1));
        assertThat(open(others)).hasSize(500);
        assertThat(open(many)).hasSize(500);
        assertThat(open(many.subList(0, 250))).hasSize(250);
        assertThat(open(many.subList(600, 850))).hasSize(250);
        assertThat(many.get(599).failure)
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED));
        assertThat(many.get(599).seen).containsExactly(SERVING);

        health.shutDown();
        assertThat(many).filteredOn(caller -> caller.ended).hasSize(500);
    }

    @Test
    void connectionsOfOneAddressShareItsCalls() throws Exception {
        List<Caller> first = watch(HealthService.MAX_WATCHES, peer("10.0.0.1", 1));

        assertThat(open(watch(600, peer("10.0.0.1", 2)))).hasSize(500);
        assertThat(open(first)).hasSize(500);
    }

    @Test
    void addressesOfOneIpv6NetworkShareItsCalls() throws Exception {
        List<Caller> attacker = new ArrayList<>();
        for (int i = 0; i < HealthService.MAX_WATCHES; i++) {
            attacker.addAll(watch(1, peer("2001:db8::" + Integer.toHexString(i + 1), 1)));
        }

        assertThat(open(watch(600, peer("2001:db8:0:1::1", 1)))).hasSize(500);
        assertThat(open(attacker)).hasSize(500);
    }

    @Test
    void manyThreadsLeaveTheCallerWithTheLastStatus() throws Throwable {
        Caller caller = watch("orders", Long.MAX_VALUE);
        CountDownLatch begin = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ServingStatus status = i % 2 == 0 ? SERVING : NOT_SERVING;
            Thread thread = new Thread(() -> {
                awaitUninterruptibly(begin);
                for (int n = 0; n < 1000; n++) {
                    health.set("orders", status);
                }
            });
            thread.start();
            threads.add(thread);
        }

        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(caller.seen.get(caller.seen.size() - 1)).isEqualTo(health.status("orders"));
        assertThat(caller.repeated()).isFalse();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- calls

    private ServingStatus check(String service) throws Throwable {
        return statusOf(stage(call("Check", request(service))));
    }

    @SuppressWarnings("unchecked")
    private Caller watch(String service, long count) throws Throwable {
        Caller caller = new Caller(count);
        ((Flow.Publisher<byte[]>) call("Watch", request(service))).subscribe(caller);
        return caller;
    }

    private Object call(String method, byte[] request) throws Throwable {
        ServiceExport export = health.export();
        ServiceDescriptor service = export.service();
        MethodBody body = export.bodies().apply(service.overloads(method).get(0));
        return body.run(new Object[] {request});
    }

    private static byte[] stage(Object result) {
        return (byte[]) ((CompletionStage<?>) result).toCompletableFuture().join();
    }

    private static byte[] request(String service) {
        byte[] name = service.getBytes(StandardCharsets.UTF_8);
        byte[] request = new byte[2 + name.length];
        request[0] = 0x0A;
        request[1] = (byte) name.length;
        System.arraycopy(name, 0, request, 2, name.length);
        return request;
    }

    private static ServingStatus statusOf(byte[] response) {
        if (response.length == 0) {
            return UNKNOWN;
        }
        assertThat(response).hasSize(2).startsWith(0x08);
        return ServingStatus.values()[response[1]];
    }

    private static final class Caller implements Flow.Subscriber<byte[]> {
        final List<ServingStatus> seen = new ArrayList<>();
        final long count;
        Flow.Subscription subscription;
        boolean ended;
        Throwable failure;

        Caller(long count) {
            this.count = count;
        }

        boolean repeated() {
            for (int i = 1; i < seen.size(); i++) {
                if (seen.get(i) == seen.get(i - 1)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public void onSubscribe(Flow.Subscription made) {
            subscription = made;
            made.request(count);
        }

        @Override
        public void onNext(byte[] response) {
            seen.add(statusOf(response));
        }

        @Override
        public void onError(Throwable failure) {
            this.failure = failure;
        }

        @Override
        public void onComplete() {
            ended = true;
        }
    }
}
