package tern.rpc.netty.triple;

import com.google.protobuf.StringValue;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.IntStream;
import tern.rpc.ServerContext;
import tern.rpc.StreamObserver;
import tern.rpc.transport.Items;

final class ShapesServer implements Shapes {

    /** The size of a message in bytes. */
    static final int LARGE = 256 << 10;

    /** The arguments of the endless streams that were cancelled. */
    final BlockingQueue<String> cancelled = new LinkedBlockingQueue<>();

    volatile boolean wasCompressed;

    @Override
    public Flow.Publisher<Integer> count(Integer last) {
        return Items.of(IntStream.rangeClosed(1, last).boxed().toList());
    }

    @Override
    public CompletionStage<Integer> sum(Flow.Publisher<Integer> numbers) {
        CompletableFuture<Integer> sum = new CompletableFuture<>();
        numbers.subscribe(new Flow.Subscriber<>() {
            private int soFar;

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(Integer number) {
                soFar += number;
            }

            @Override
            public void onError(Throwable failure) {
                sum.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                sum.complete(soFar);
            }
        });
        return sum;
    }

    @Override
    public void download(Integer messages, StreamObserver<byte[]> out) {
        for (int i = 0; i < messages; i++) {
            out.onNext(new byte[LARGE]);
        }
        out.onCompleted();
    }

    @Override
    public void squeezed(Integer messages, StreamObserver<byte[]> out) {
        ServerContext.current().compressResponse(true);
        download(messages, out);
    }

    @Override
    public void limited(String text, StreamObserver<String> out) {
        out.onNext(ServerContext.current().deadline().isLimited() ? "limited" : "unlimited");
        out.onCompleted();
    }

    @Override
    public StreamObserver<byte[]> upload(StreamObserver<Integer> out) {
        ServerContext context = ServerContext.current();
        return new StreamObserver<>() {
            private int bytes;

            @Override
            public void onNext(byte[] message) {
                bytes += message.length;
                wasCompressed |= context.isRequestCompressed();
            }

            @Override
            public void onError(Throwable failure) {
                out.onError(failure);
            }

            @Override
            public void onCompleted() {
                out.onNext(bytes);
                out.onCompleted();
            }
        };
    }

    @Override
    public Flow.Publisher<String> endless(String text) {
        ServerContext.current().onCancel(() -> cancelled.add(text));
        return subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
            private boolean told;

            @Override
            public void request(long messages) {
                if (!told) {
                    told = true;
                    subscriber.onNext(text);
                }
            }

            @Override
            public void cancel() {
                // no more messages are sent, because the stream has ended
            }
        });
    }

    @Override
    public void say(StringValue text, StreamObserver<StringValue> out) {
        out.onNext(StringValue.of(text.getValue().toUpperCase(Locale.ROOT)));
        out.onNext(StringValue.of(text.getValue().toLowerCase(Locale.ROOT)));
        out.onCompleted();
    }
}
