package tern.rpc.test;

import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/**
 * A {@link ScriptedProvider}'s answers to calls to one method. Each call uses the next step of the script. Calls after
 * the last step repeat the last step. Thread-safe.
 */
public final class Script {

    /** An action that creates the answer to a call. */
    @FunctionalInterface
    interface Action {
        CompletionStage<@Nullable Object> run(List<@Nullable Object> arguments, Runnable drop);
    }

    private record Step(String name, Action action, Duration delay) {}

    private final String method;
    private final List<MethodDescriptor> overloads;
    private final Deque<Step> steps = new ArrayDeque<>(); // guarded by this
    private Duration delay = Duration.ZERO; // the delay of the script's next step; guarded by this
    private @Nullable Step last; // guarded by this

    Script(String method, List<MethodDescriptor> overloads) {
        this.method = method;
        this.overloads = overloads;
    }

    /**
     * Adds a step that answers with a value. For a method that returns a future, pass the value that completes the
     * future. For a method that returns a stream, pass the publisher.
     *
     * @throws IllegalArgumentException if the method is not overloaded and the value does not match its result type
     */
    public Script answer(@Nullable Object value) {
        check(value);
        return add("answer(" + value + ")", (arguments, drop) -> CompletableFuture.completedFuture(value));
    }

    private void check(@Nullable Object value) {
        if (value == null || overloads.size() > 1) {
            return;
        }
        Class<?> expected =
                MethodType.methodType(overloads.get(0).result().raw()).wrap().returnType();
        boolean stream = overloads.get(0).type() != tern.rpc.MethodType.UNARY;
        if (!stream && !expected.isInstance(value)) {
            throw new IllegalArgumentException(method + " answers with " + expected.getName() + ", not with "
                    + value.getClass().getName());
        }
    }

    /** Adds a step that computes the answer from the arguments, on one of the provider's threads. */
    public Script answerWith(Function<List<@Nullable Object>, @Nullable Object> answer) {
        return add("answerWith(…)", (arguments, drop) -> CompletableFuture.completedFuture(answer.apply(arguments)));
    }

    /** Sets a delay for the answer of the step that is added next. */
    public synchronized Script delay(Duration wait) {
        delay = wait;
        return this;
    }

    /** Adds a step that fails the call with a status, as if the method had run. */
    public Script fail(StatusCode code, String description) {
        return fail(new RpcException(code, description));
    }

    /** Adds a step that fails the call with an exception, as if the method had thrown it. */
    public Script fail(Throwable exception) {
        return add("fail(" + exception + ")", (arguments, drop) -> CompletableFuture.failedFuture(exception));
    }

    /**
     * Adds a step that refuses the call with RESOURCE_EXHAUSTED, like an overloaded server. The failure says that the
     * call was not executed.
     */
    public Script refuse() {
        return add(
                "refuse()",
                (arguments, drop) -> CompletableFuture.failedFuture(RpcException.refusal(
                        StatusCode.RESOURCE_EXHAUSTED, "the call was refused: by the script", Executed.NO)));
    }

    /** Adds a step that closes the connection instead of answering. */
    public Script drop() {
        return add("drop()", (arguments, drop) -> {
            drop.run();
            return new CompletableFuture<>();
        });
    }

    /** Adds a step that never answers. */
    public Script hang() {
        return add("hang()", (arguments, drop) -> new CompletableFuture<>());
    }

    private synchronized Script add(String name, Action action) {
        steps.add(new Step(name, action, delay));
        delay = Duration.ZERO;
        return this;
    }

    CompletionStage<@Nullable Object> next(List<@Nullable Object> arguments, Runnable drop) {
        Step step;
        synchronized (this) {
            step = steps.isEmpty() ? last : steps.remove();
            last = step;
        }
        if (step == null) {
            return CompletableFuture.failedFuture(ScriptedProvider.nothingScripted(method));
        }
        if (step.delay().isZero()) {
            return step.action().run(arguments, drop);
        }
        Executor later =
                CompletableFuture.delayedExecutor(step.delay().toNanos(), java.util.concurrent.TimeUnit.NANOSECONDS);
        return CompletableFuture.supplyAsync(() -> step.action().run(arguments, drop), later)
                .thenCompose(Function.identity());
    }

    /**
     * Returns a description of the script's unused steps for error messages, or an empty string if every step was used.
     */
    synchronized String left() {
        List<Step> unreached = new ArrayList<>(steps);
        return unreached.isEmpty()
                ? ""
                : method + ": " + unreached.stream().map(Step::name).collect(Collectors.joining(", "));
    }
}
