package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static tern.rpc.transport.StreamContract.bytes;
import static tern.rpc.transport.StreamContract.context;
import static tern.rpc.transport.StreamContract.counting;
import static tern.rpc.transport.StreamContract.echoing;
import static tern.rpc.transport.StreamContract.numbers;
import static tern.rpc.transport.TransportTest.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallOptions;
import tern.rpc.ClientFilter;
import tern.rpc.Filter;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;

/** Tests the headers, trailers, filters, contexts and meters of streams. */
interface StreamSurroundingsContract extends StreamContract {

    @Test
    default void headersArriveBeforeTheFirstMessage() throws Exception {
        service().exchange = answers -> {
            context()
                    .responseHeaders()
                    .add("greeting", "hello")
                    .add("greeting", "there")
                    .put("seal", new byte[] {1, 2});
            context().sendHeaders();
            return echoing(answers);
        };
        CompletableFuture<Metadata> headers = new CompletableFuture<>();
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = CallOptions.none()
                .onResponseHeaders(headers::complete)
                .on(proxy())
                .exchange(answers);

        Metadata early = headers.get(20, TimeUnit.SECONDS);
        assertThat(answers.count()).isZero();
        requests.onNext(bytes("now"));
        requests.onCompleted();

        assertThat(early.getAll("greeting")).containsExactly("hello", "there");
        assertThat(early.getBytes("seal")).containsExactly(1, 2);
        assertThat(answers.rest()).hasSize(1);
    }

    @Test
    default void headersMessagesAndTrailersAreDeliveredInThisOrderOnce() throws Exception {
        service().publish = text -> {
            context().responseHeaders().put("head", "h");
            context().responseMetadata().add("tail", "t1").add("tail", "t2").put("blob", new byte[] {3, -1});
            return Items.numbers(2);
        };
        List<String> order = new CopyOnWriteArrayList<>();
        AtomicReference<Metadata> trailers = new AtomicReference<>();
        StreamService proxy = CallOptions.none()
                .onResponseHeaders(headers -> order.add("headers " + headers.get("head") + headers.get("tail")))
                .onResponseTrailers(seen -> {
                    trailers.set(seen);
                    order.add("trailers");
                })
                .on(proxy());
        Probe<String> answers = Probe.ofAll(order::add);

        proxy.publish("").subscribe(answers);
        answers.rest();

        assertThat(order).containsExactly("headers hnull", "0", "1", "trailers");
        assertThat(trailers.get().getAll("tail")).containsExactly("t1", "t2");
        assertThat(trailers.get().getBytes("blob")).containsExactly(3, -1);
        assertThat(trailers.get().get("head")).isNull();
    }

    @Test
    default void headersAndTrailersOfASingleAnswerAreKeptApart() throws Exception {
        service().count = values -> {
            context().responseHeaders().put("head", "h");
            context().responseMetadata().put("tail", "t");
            return counting(values);
        };
        service().unary = text -> {
            context().responseHeaders().put("head", "h");
            context().responseMetadata().put("tail", "t");
            return text;
        };
        List<String> seen = new CopyOnWriteArrayList<>();
        StreamService proxy = CallOptions.none()
                .onResponseHeaders(headers -> seen.add("headers " + headers.get("head") + headers.get("tail")))
                .onResponseTrailers(trailers -> seen.add("trailers " + trailers.get("head") + trailers.get("tail")))
                .on(proxy());

        proxy.count(Items.numbers(2)).toCompletableFuture().get(20, TimeUnit.SECONDS);
        proxy.unary("x");

        assertThat(seen).containsExactly("headers hnull", "trailers nullt", "headers hnull", "trailers nullt");
    }

    @Test
    default void trailersComeWithAFailureToo() throws Exception {
        service().publish = text -> {
            context().responseMetadata().put("reason", "r").put("blob", new byte[] {9});
            return Items.failing(new RpcException(StatusCode.ABORTED, "stop"), numbers(text.isEmpty() ? 0 : 1));
        };
        service().unary = text -> {
            context().responseMetadata().put("reason", "r");
            throw new RpcException(StatusCode.ABORTED, "stop");
        };
        List<Metadata> seen = new CopyOnWriteArrayList<>();
        StreamService proxy = CallOptions.none().onResponseTrailers(seen::add).on(proxy());
        Probe<String> atOnce = Probe.ofAll();
        Probe<String> later = Probe.ofAll();

        proxy.publish("").subscribe(atOnce);
        RpcException first = (RpcException) atOnce.failure();
        proxy.publish("one").subscribe(later);
        later.next();
        RpcException second = (RpcException) later.failure();
        RpcException third = catchThrowableOfType(RpcException.class, () -> proxy.unary("x"));

        assertThat(List.of(first, second, third))
                .allSatisfy(
                        failure -> assertThat(failure.metadata().get("reason")).isEqualTo("r"));
        assertThat(first.metadata().getBytes("blob")).containsExactly(9);
        assertThat(seen)
                .hasSize(3)
                .allSatisfy(trailers -> assertThat(trailers.get("reason")).isEqualTo("r"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    default void deadlineEndsStreamsThatAFilterHolds(boolean afterTheAnswers) throws Exception {
        service().publish = text -> Items.numbers(1);
        service().exchange = answers -> {
            answers.onCompleted();
            return echoing(answers);
        };
        serve(settings -> {});
        ClientFilter filter = (call, next) -> afterTheAnswers
                ? next.invoke(call).thenCompose(response -> new CompletableFuture<>())
                : new CompletableFuture<>();
        StreamService proxy =
                CallOptions.none().timeout(Duration.ofMillis(200)).on(refer(client -> client.filter(filter)));
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> exchanged = Probe.ofAll();

        proxy.publish("").subscribe(published);
        proxy.exchange(exchanged);

        if (afterTheAnswers) {
            assertThat(published.next()).isEqualTo("0");
        }
        for (Throwable failure : List.of(published.failure(), exchanged.failure())) {
            assertThat(((RpcException) failure).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
            assertThat(failure).hasMessageContaining("the filters around");
        }
        assertThat(published.ends()).isEqualTo(1);
        awaitNothingInFlight();
    }

    @Test
    default void streamPassedOnAfterItsDeadlineIsNotSent() throws Exception {
        service().exchange = StreamContract::echoing;
        serve(settings -> {});
        CompletableFuture<Void> mayPass = new CompletableFuture<>();
        CompletableFuture<Throwable> told = new CompletableFuture<>();
        ClientFilter filter = (call, next) -> mayPass.thenCompose(nothing -> next.invoke(call))
                .whenComplete((response, failure) -> told.complete(failure));
        Probe<byte[]> answers = Probe.ofAll();
        CallOptions.none()
                .timeout(Duration.ofMillis(100))
                .on(refer(client -> client.filter(filter)))
                .exchange(answers);
        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);

        mayPass.complete(null);

        assertThat(told.get(20, TimeUnit.SECONDS)).hasMessageContaining("is over");
        assertThat(answers.ends()).isEqualTo(1);
        assertThat(service().contexts).isEmpty();
    }

    @Test
    default void requestHeadersReachTheMethod() throws Exception {
        service().publish = text -> Items.of(
                String.join(" ", context().metadata().getAll("tenant")),
                String.valueOf(Objects.requireNonNull(context().metadata().getBytes("key")).length));
        Probe<String> answers = Probe.ofAll();

        CallOptions.none()
                .header("Tenant", "blue")
                .header("Tenant", "green")
                .header("key", new byte[] {1, 2, 3})
                .on(proxy())
                .publish("")
                .subscribe(answers);

        assertThat(answers.rest()).containsExactly("blue green", "3");
    }

    @Test
    default void filtersSeeAStreamAsOneCallThatEndsWithIt() throws Exception {
        List<String> order = new CopyOnWriteArrayList<>();
        service().exchange = StreamContract::echoing;
        serve(settings -> settings.filter(noting(order, "server")::invoke));
        StreamService proxy = refer(client -> client.filter(noting(order, "client")::invoke));
        Probe<byte[]> answers = Probe.ofAll(value -> order.add("answer"));
        StreamObserver<byte[]> requests = proxy.exchange(answers);

        requests.onNext(bytes("x"));
        answers.next();
        assertThat(order).containsExactly("client before 1", "server before 1", "answer");
        requests.onCompleted();
        answers.rest();

        await("both have seen the end", () -> order.size() == 5);
        assertThat(order.subList(3, 5)).containsExactlyInAnyOrder("server after null", "client after null");
    }

    private static Filter noting(List<String> order, String name) {
        return (call, next) -> {
            order.add(name + " before " + call.arguments().length);
            return next.invoke(call)
                    .whenComplete((response, failure) ->
                            order.add(name + " after " + (failure == null ? response.value() : failure.getMessage())));
        };
    }

    @Test
    default void filtersSeeAndMayReplaceTheOneAnswer() throws Exception {
        service().count = StreamContract::counting;
        serve(settings -> settings.filter((call, next) ->
                next.invoke(call).thenApply(response -> response.withValue((Integer) response.value() + 10))));
        StreamService proxy = refer(client -> client.filter((call, next) ->
                next.invoke(call).thenApply(response -> response.withValue((Integer) response.value() + 100))));

        assertThat(proxy.count(Items.numbers(3)).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isEqualTo(113);
    }

    @Test
    default void filterMayAnswerOrRefuseInPlaceOfTheMethod() throws Exception {
        serve(settings -> settings.filter((call, next) -> switch (call.method().name()) {
            case "count" -> CompletableFuture.completedFuture(Response.of(7));
            case "publish" -> CompletableFuture.completedFuture(Response.of(null));
            default -> CompletableFuture.failedFuture(new RpcException(StatusCode.PERMISSION_DENIED, "not you"));
        }));
        StreamService proxy = refer(client -> {});
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> observed = Probe.ofAll();

        proxy.publish("").subscribe(published);
        proxy.observe("", observed);

        assertThat(proxy.count(Items.endless("x")).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isEqualTo(7);
        assertThat(published.rest()).isEmpty();
        assertThat(((RpcException) observed.failure()).code()).isEqualTo(StatusCode.PERMISSION_DENIED);
        assertThat(service().contexts).isEmpty();
        awaitNothingInFlight();
    }

    @Test
    default void clientFilterMayRefuseAndChangeACall() throws Exception {
        service().publish = text -> Items.of(text + context().metadata().get("added"));
        serve(settings -> {});
        ClientFilter filter = (call, next) -> {
            if (call.method().name().equals("observe")) {
                throw new IllegalStateException("refused by a filter");
            }
            call.metadata().put("added", "+header");
            return next.invoke(call.withArguments("changed"));
        };
        StreamService proxy = refer(client -> client.filter(filter));
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> observed = Probe.ofAll();

        proxy.publish("given").subscribe(published);
        proxy.observe("", observed);

        assertThat(published.rest()).containsExactly("changed+header");
        assertThat(observed.failure()).hasMessage("refused by a filter");
    }

    @Test
    default void contextIsSetAroundEveryCallbackOfTheCall() throws Exception {
        List<String> callbacks = new CopyOnWriteArrayList<>();
        service().exchange = answers -> {
            answers.onReady(() -> callbacks.add("ready " + methodOfContext()));
            return new StreamObserver<>() {
                @Override
                public void onNext(byte[] value) {
                    callbacks.add("next " + methodOfContext());
                    answers.onNext(value);
                }

                @Override
                public void onError(Throwable failure) {
                    callbacks.add("error " + methodOfContext());
                }

                @Override
                public void onCompleted() {
                    callbacks.add("completed " + methodOfContext());
                    answers.onCompleted();
                }
            };
        };
        StreamService proxy = proxy();
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy.exchange(answers);
        for (int i = 0; i < 20; i++) {
            requests.onNext(bytes("x"));
            answers.next();
        }
        requests.onCompleted();
        answers.rest();

        assertThat(callbacks).contains("ready exchange", "next exchange", "completed exchange");
        assertThat(callbacks).allMatch(callback -> callback.endsWith(" exchange"));
    }

    @Test
    default void contextIsSetAroundCallsIntoPublishersAndSubscribers() throws Exception {
        List<String> callbacks = new CopyOnWriteArrayList<>();
        service().transform = values -> {
            values.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    callbacks.add("subscribe " + methodOfContext());
                    subscription.request(1);
                }

                @Override
                public void onNext(String value) {
                    callbacks.add("next " + methodOfContext());
                }

                @Override
                public void onError(Throwable failure) {
                    callbacks.add("error " + methodOfContext());
                }

                @Override
                public void onComplete() {
                    callbacks.add("complete " + methodOfContext());
                }
            });
            Thread[] own = new Thread[1];
            return subscriber -> {
                own[0] = new Thread(() -> subscriber.onSubscribe(new Flow.Subscription() {
                    @Override
                    public void request(long values) {
                        callbacks.add("request " + methodOfContext());
                        subscriber.onNext("again");
                    }

                    @Override
                    public void cancel() {
                        callbacks.add("cancel " + methodOfContext());
                    }
                }));
                own[0].start();
            };
        };
        Probe<String> answers = Probe.onDemand();
        proxy().transform(Items.endless("x")).subscribe(answers);
        answers.request(1);
        answers.next();
        await("a request has arrived", () -> callbacks.contains("next transform"));
        answers.cancel();

        await("the publisher is cancelled", () -> callbacks.contains("cancel transform"));
        await("the subscriber is told", () -> callbacks.contains("error transform"));
        assertThat(callbacks).contains("subscribe transform", "next transform", "request transform");
        assertThat(callbacks).allMatch(callback -> callback.endsWith(" transform"));
    }

    private static String methodOfContext() {
        ServerContext context = ServerContext.current();
        return context == null ? "none" : context.method().name();
    }

    @Test
    default void callbacksOfOneCallFollowOneAnother() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        Runnable alone = () -> {
            if (running.incrementAndGet() > 1) {
                overlaps.incrementAndGet();
            }
            Thread.yield();
            running.decrementAndGet();
        };
        service().exchange = answers -> {
            answers.onReady(alone);
            alone.run();
            return new StreamObserver<>() {
                @Override
                public void onNext(byte[] value) {
                    alone.run();
                    answers.onNext(value);
                }

                @Override
                public void onError(Throwable failure) {
                    alone.run();
                }

                @Override
                public void onCompleted() {
                    alone.run();
                    answers.onCompleted();
                }
            };
        };
        StreamService proxy = proxy();
        for (int round = 0; round < 20; round++) {
            Probe<byte[]> answers = Probe.ofAll();
            StreamObserver<byte[]> requests = proxy.exchange(answers);
            for (int i = 0; i < 50; i++) {
                requests.onNext(new byte[2_000]);
            }
            requests.onCompleted();
            assertThat(answers.rest()).hasSize(50);
        }

        assertThat(overlaps).hasValue(0);
    }

    @Test
    default void streamCountsOnceInTheMetersOfBothSides() throws Exception {
        SimpleMeterRegistry serverRegistry = new SimpleMeterRegistry();
        SimpleMeterRegistry clientRegistry = new SimpleMeterRegistry();
        service().publish = text -> {
            if (text.isEmpty()) {
                return Items.numbers(5);
            }
            throw new RpcException(StatusCode.NOT_FOUND, text);
        };
        serve(settings -> settings.meters(new RpcMeters(serverRegistry, Slo.DEFAULT)));
        StreamService proxy = refer(client -> client.meters(new RpcMeters(clientRegistry, Slo.DEFAULT)));
        Probe<String> good = Probe.ofAll();
        Probe<String> bad = Probe.ofAll();

        proxy.publish("").subscribe(good);
        proxy.publish("missing").subscribe(bad);
        good.rest();
        bad.failure();

        await("the server has answered, then counted", () -> total(serverRegistry, RpcMeter.SERVER_REQUESTS) == 2);
        assertThat(count(serverRegistry, RpcMeter.SERVER_REQUESTS, "ok")).isEqualTo(1);
        assertThat(count(serverRegistry, RpcMeter.SERVER_REQUESTS, "not_found")).isEqualTo(1);
        assertThat(count(clientRegistry, RpcMeter.CLIENT_REQUESTS, "ok")).isEqualTo(1);
        assertThat(count(clientRegistry, RpcMeter.CLIENT_REQUESTS, "not_found")).isEqualTo(1);
    }

    private static long total(SimpleMeterRegistry registry, RpcMeter meter) {
        return registry.find(meter.key()).timers().stream()
                .mapToLong(timer -> timer.count())
                .sum();
    }

    private static long count(SimpleMeterRegistry registry, RpcMeter meter, String outcome) {
        return registry
                .find(meter.key())
                .tag(RpcMeter.METHOD, "publish")
                .tag(RpcMeter.OUTCOME, outcome)
                .timers()
                .stream()
                .mapToLong(timer -> timer.count())
                .sum();
    }
}
