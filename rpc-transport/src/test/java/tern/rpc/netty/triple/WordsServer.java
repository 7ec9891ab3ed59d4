package tern.rpc.netty.triple;

import com.google.protobuf.Empty;
import com.google.protobuf.Int32Value;
import com.google.protobuf.StringValue;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;
import tern.rpc.StreamObserver;

/**
 * Implements {@link Words}. Every answer has headers and trailers, and is compressed if the caller accepts compression.
 */
final class WordsServer implements Words {

    /** A latch that is counted down when a call to {@link #hang} has begun. */
    final CountDownLatch hanging = new CountDownLatch(1);

    final CountDownLatch cancelled = new CountDownLatch(1);

    private static ServerContext context() {
        ServerContext context = Objects.requireNonNull(ServerContext.current());
        context.compressResponse(true);
        context.responseHeaders()
                .add("x-head", "h1")
                .add("x-head", "h2")
                .add("x-head-bytes", new byte[] {1, 2, -1})
                .add("connect-secret", "never sent");
        context.responseMetadata()
                .add("x-tail", "t1")
                .add("x-tail", "t2")
                .add("x-tail-bytes", new byte[] {-1})
                .add("Connect-Secret", "never sent");
        return context;
    }

    @Override
    public StringValue shout(StringValue text) {
        context();
        return StringValue.of(text.getValue().toUpperCase(Locale.ROOT));
    }

    @Override
    public String shoutJava(String text) {
        return text.toUpperCase(Locale.ROOT);
    }

    @Override
    public StringValue write(StringValue text) {
        return text;
    }

    @Override
    public String echoQuery(String encoding, String message) {
        return encoding + "/" + message;
    }

    @Override
    public StringValue fail(StringValue code) {
        context().sendHeaders();
        String[] parts = code.getValue().split(" ", 2);
        byte[] detail = Int32Value.of(300).toByteArray();
        throw new RpcException(new Status(
                StatusCode.valueOf(parts[0]),
                parts.length > 1 ? parts[1] : "",
                List.of(new StatusDetail("type.googleapis.com/google.protobuf.Int32Value", detail))));
    }

    @Override
    public StringValue repeat(StringValue times) {
        context();
        return StringValue.of("word ".repeat(Integer.parseInt(times.getValue())));
    }

    @Override
    public StringValue describe(Empty nothing) {
        ServerContext context = Objects.requireNonNull(ServerContext.current());
        StringBuilder lines = new StringBuilder(context.protocol())
                .append('\n')
                .append(context.isRequestCompressed() ? "gzip" : "identity")
                .append('\n')
                .append(
                        context.deadline().isLimited()
                                ? context.deadline().remainingNanos(System.nanoTime()) / 1_000_000
                                : "none")
                .append('\n');
        context.metadata()
                .forEach((name, value) -> lines.append(name)
                        .append('=')
                        .append(
                                value instanceof byte[] bytes
                                        ? Base64.getEncoder().encodeToString(bytes)
                                        : value)
                        .append('\n'));
        return StringValue.of(lines.toString());
    }

    @Override
    public StringValue misspell(StringValue where) {
        ServerContext context = Objects.requireNonNull(ServerContext.current());
        (where.getValue().equals("headers") ? context.responseHeaders() : context.responseMetadata())
                .add("x-odd", "\u00E9");
        return where;
    }

    @Override
    public Empty hang(Empty nothing) {
        Objects.requireNonNull(ServerContext.current()).onCancel(cancelled::countDown);
        hanging.countDown();
        try {
            if (!cancelled.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("nobody cancelled the call");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return nothing;
    }

    @Override
    public void count(StringValue upTo, StreamObserver<StringValue> answers) {
        context();
        String[] parts = upTo.getValue().split(" ", 2);
        for (int i = 1; i <= Integer.parseInt(parts[0]); i++) {
            answers.onNext(StringValue.of(String.valueOf(i)));
        }
        if (parts.length > 1) {
            answers.onError(new RpcException(StatusCode.ABORTED, parts[1]));
        } else {
            answers.onCompleted();
        }
    }

    @Override
    public CompletionStage<StringValue> join(Flow.Publisher<StringValue> parts) {
        context();
        CompletableFuture<StringValue> joined = new CompletableFuture<>();
        parts.subscribe(new Flow.Subscriber<>() {
            private final StringBuilder all = new StringBuilder();

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(StringValue part) {
                hanging.countDown();
                all.append(part.getValue());
            }

            @Override
            public void onError(Throwable failure) {
                cancelled.countDown();
                joined.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                joined.complete(StringValue.of(all.toString()));
            }
        });
        return joined;
    }

    @Override
    public StreamObserver<StringValue> shoutAll(StreamObserver<StringValue> answers) {
        context();
        return shouting(answers, answers::onNext, () -> {});
    }

    @Override
    public StreamObserver<StringValue> shoutLater(StreamObserver<StringValue> answers) {
        context();
        List<StringValue> kept = new ArrayList<>();
        return shouting(answers, kept::add, () -> kept.forEach(answers::onNext));
    }

    private StreamObserver<StringValue> shouting(
            StreamObserver<StringValue> answers, Consumer<StringValue> each, Runnable last) {
        return new StreamObserver<>() {
            @Override
            public void onNext(StringValue part) {
                each.accept(StringValue.of(part.getValue().toUpperCase(Locale.ROOT)));
            }

            @Override
            public void onError(Throwable failure) {
                cancelled.countDown();
            }

            @Override
            public void onCompleted() {
                last.run();
                answers.onCompleted();
            }
        };
    }

    @Override
    public int add(int a, int b) {
        return a + b;
    }

    @Override
    public long add(long a, long b) {
        return a + b;
    }
}
