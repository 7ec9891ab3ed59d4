package tern.rpc.load.console;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import tern.rpc.spring.RpcService;

/** Implements {@link Workshop} and counts the calls to each method. */
@RpcService
class CountedWorkshop implements Workshop {

    private static final long HANG_SECONDS = 60;

    private final Counts counts;

    CountedWorkshop(Counts counts) {
        this.counts = counts;
    }

    @Override
    public String echo(String text) {
        counts.add("echo");
        return text;
    }

    @Override
    public Every every(Every value) {
        counts.add("every");
        return value;
    }

    @Override
    public Node node(Node node) {
        counts.add("node");
        return node;
    }

    @Override
    public Markup markup(Markup markup) {
        counts.add("markup");
        return markup;
    }

    @Override
    public String fail(String message) throws BrokenException {
        counts.add("fail");
        throw new BrokenException(message);
    }

    @Override
    public String hang() {
        counts.add("hang");
        try {
            TimeUnit.SECONDS.sleep(HANG_SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return "late";
    }

    @Override
    public String large(int characters) {
        counts.add("large");
        return "x".repeat(characters);
    }

    @Override
    public Flow.Publisher<Integer> count(int to) {
        counts.add("count");
        return new Sequence<>(to, true, number -> (int) number, () -> counts.add("count cancelled"));
    }

    @Override
    public Flow.Publisher<Long> endless() {
        counts.add("endless");
        return new Sequence<>(Long.MAX_VALUE, true, number -> number, () -> counts.add("endless cancelled"));
    }

    @Override
    public Flow.Publisher<String> stuck() {
        counts.add("stuck");
        return new Sequence<>(1, false, number -> "the only one", () -> counts.add("stuck cancelled"));
    }

    @Override
    public CompletionStage<Long> sum(Flow.Publisher<Integer> numbers) {
        counts.add("sum");
        CompletableFuture<Long> sum = new CompletableFuture<>();
        numbers.subscribe(new Flow.Subscriber<>() {
            private long seen;

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(Integer number) {
                seen += number;
            }

            @Override
            public void onError(Throwable failure) {
                sum.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                sum.complete(seen);
            }
        });
        return sum;
    }

    @Override
    public Flow.Publisher<String> chat(Flow.Publisher<String> lines) {
        counts.add("chat");
        return answers -> lines.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                answers.onSubscribe(subscription);
            }

            @Override
            public void onNext(String line) {
                answers.onNext("you said " + line);
            }

            @Override
            public void onError(Throwable failure) {
                answers.onError(failure);
            }

            @Override
            public void onComplete() {
                answers.onComplete();
            }
        });
    }
}
