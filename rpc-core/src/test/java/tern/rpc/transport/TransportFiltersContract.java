package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallOptions;
import tern.rpc.ClientFilter;
import tern.rpc.Filter;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.ServerFilter;
import tern.rpc.StatusCode;

/** Tests filters, contexts and listeners around calls. */
interface TransportFiltersContract extends TransportContract {

    @Test
    default void filtersRunInOrderOnBothSides() {
        List<String> order = new CopyOnWriteArrayList<>();
        serve(settings -> settings.filter(noting(order, "server 1")::invoke).filter(noting(order, "server 2")::invoke));
        ContractService proxy = refer(
                client -> client.filter(noting(order, "client 1")::invoke).filter(noting(order, "client 2")::invoke),
                reference -> {});

        assertThat(proxy.echo("x")).isEqualTo("x");

        assertThat(order)
                .containsExactly(
                        "client 1 before",
                        "client 2 before",
                        "server 1 before",
                        "server 2 before",
                        "server 2 after",
                        "server 1 after",
                        "client 2 after",
                        "client 1 after");
    }

    private static Filter noting(List<String> order, String name) {
        return (call, next) -> {
            order.add(name + " before");
            return next.invoke(call).whenComplete((response, failure) -> order.add(name + " after"));
        };
    }

    @Test
    default void blockingCallWithFiltersCompletesOnTheCallersThread() {
        serve(settings -> {});
        AtomicReference<Thread> completedOn = new AtomicReference<>();
        ClientFilter filter = (call, next) -> next.invoke(call).thenApply(response -> {
            completedOn.set(Thread.currentThread());
            return response.withValue("filtered " + response.value());
        });
        ContractService proxy = refer(client -> client.filter(filter), reference -> {});

        assertThat(proxy.echo("x")).isEqualTo("filtered x");
        assertThat(completedOn.get()).isSameAs(Thread.currentThread());
    }

    @Test
    default void filterMayAnswerInPlaceOfTheService() {
        serve(settings -> settings.filter((call, next) -> CompletableFuture.completedFuture(Response.of("cached"))));
        ContractService proxy = refer(client -> {}, reference -> {});

        assertThat(proxy.echo("x")).isEqualTo("cached");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    default void filterThatFailsAfterTheMethodRanDoesNotSayThatItDidNot(boolean throwsIt) {
        RpcException away = RpcException.refusal(StatusCode.UNAVAILABLE, "the audit is away", Executed.NO);
        serve(settings -> settings.filter((call, next) -> {
            CompletionStage<Response> answer = next.invoke(call);
            if (throwsIt) {
                throw away;
            }
            return answer.thenCompose(ran -> CompletableFuture.failedFuture(away));
        }));
        ContractService proxy = refer(client -> {}, reference -> {});

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("x"));

        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("the audit is away");
        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
    }

    @Test
    default void filterThatRefusesBeforeTheMethodRunsSaysThatItDidNot() {
        serve(settings -> settings.filter((call, next) -> {
            throw RpcException.refusal(StatusCode.UNAVAILABLE, "the audit is away", Executed.NO);
        }));
        ContractService proxy = refer(client -> {}, reference -> {});

        RpcException failure = catchThrowableOfType(RpcException.class, () -> proxy.echo("x"));

        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }

    @Test
    default void filterWithoutAResponseIsReportedOnBothSides() {
        serve(settings -> settings.filter((call, next) ->
                call.method().name().equals("echo") ? CompletableFuture.completedFuture(null) : next.invoke(call)));
        ContractService proxy = refer(client -> {}, reference -> {});
        ContractService filtered = refer(
                client -> client.filter((call, next) -> CompletableFuture.completedFuture(null)), reference -> {});

        assertThatThrownBy(() -> proxy.echo("x"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("gave no response");
        assertThatThrownBy(() -> filtered.later("now").join())
                .hasCauseInstanceOf(RpcException.class)
                .hasMessageContaining("gave no response");
        assertThatThrownBy(() -> filtered.echo("x")).hasMessageContaining("gave no response");
    }

    /** A filter that returns null instead of a stage. The compiler does not prevent this mistake. */
    class NullFilter implements ClientFilter, ServerFilter {
        @Override
        @SuppressWarnings("NullAway") // null instead of a stage is a mistake that applications can make
        public CompletionStage<Response> invoke(Invocation call, Invoker next) {
            return null;
        }
    }

    @Test
    default void filterThatReturnsNullIsNamedOnBothSides() {
        serve(settings -> settings.filter(new NullFilter()));
        ContractService proxy = refer(client -> {}, reference -> {});
        ContractService filtered = refer(client -> client.filter(new NullFilter()), reference -> {});

        for (ContractService each : List.of(proxy, filtered)) {
            assertThatThrownBy(() -> each.echo("x"))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("the filter " + NullFilter.class.getName() + " around ")
                    .hasMessageContaining("returned null");
        }
        assertThatThrownBy(() -> filtered.later("now").join()).hasMessageContaining(NullFilter.class.getName());
    }

    @Test
    default void filterThatChangesTheNumberOfArgumentsGetsAnError() {
        serve(settings -> {});
        ContractService filtered =
                refer(client -> client.filter((call, next) -> next.invoke(call.withArguments())), reference -> {});

        assertThatThrownBy(() -> filtered.echo("x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("withArguments got 0 arguments, but ")
                .hasMessageContaining("/echo has 1 parameters");
    }

    @Test
    default void filterThatThrowsFailsTheFuture() {
        serve(settings -> {});
        ClientFilter filter = (call, next) -> {
            throw new IllegalStateException("on purpose");
        };
        ContractService proxy = refer(client -> client.filter(filter), reference -> {});

        assertThatThrownBy(() -> proxy.later("now").join())
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("on purpose");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    default void deadlineEndsAFutureThatAFilterHolds(boolean afterTheAnswer) {
        serve(settings -> {});
        ClientFilter filter = (call, next) -> afterTheAnswer
                ? next.invoke(call).thenCompose(response -> new CompletableFuture<>())
                : new CompletableFuture<>();
        ContractService proxy = CallOptions.none()
                .timeout(Duration.ofMillis(200))
                .on(refer(client -> client.filter(filter), reference -> {}));

        CompletableFuture<String> future = proxy.later("now");

        assertThat(future)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withMessageContaining("the filters around")
                .havingCause()
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
                    assertThat(failure.wasExecuted()).isEqualTo(afterTheAnswer ? Executed.MAYBE : Executed.NO);
                });
    }

    /** The filter replaces the executor of the call, so the caller is not notified whether the call was sent. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    default void lateCallMayHaveRunIfAFilterReplacesTheExecutor(boolean blocking) {
        serve(settings -> {});
        ClientFilter filter = (call, next) -> {
            next.invoke(call.withExecutor(task -> call.executor().execute(task)));
            return new CompletableFuture<>();
        };
        ContractService proxy = CallOptions.none()
                .timeout(Duration.ofMillis(200))
                .on(refer(client -> client.filter(filter), reference -> {}));

        Throwable failure = catchThrowable(() -> {
            if (blocking) {
                proxy.echo("x");
            } else {
                proxy.later("now").get();
            }
        });

        assertThat(failure instanceof RpcException ? failure : failure.getCause())
                .isInstanceOfSatisfying(RpcException.class, late -> {
                    assertThat(late.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
                    assertThat(late.wasExecuted()).isEqualTo(Executed.MAYBE);
                    assertThat(late).hasMessageNotContaining("not sent");
                });
    }

    @Test
    default void failingReaderOfResponseHeadersFailsItsCall() {
        ContractService proxy = CallOptions.none()
                .onResponseHeaders(headers -> {
                    throw new IllegalStateException("on purpose");
                })
                .on(proxy());

        assertThatThrownBy(() -> proxy.later("now").join()).hasCauseInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> proxy.echo("x")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    default void contextIsSetForTheMethodAndClearedAfterwards() {
        AtomicReference<String> protocol = new AtomicReference<>();
        serve(settings -> settings.filter((call, next) -> {
            ServerContext context = ServerContext.current();
            protocol.set(context == null ? "none" : context.protocol() + " " + context.method());
            return next.invoke(call);
        }));
        ContractService proxy = refer(client -> {}, reference -> {});

        proxy.echo("x");

        assertThat(protocol.get()).endsWith(" ContractService/echo");
        assertThat(ServerContext.current()).isNull();
    }
}
