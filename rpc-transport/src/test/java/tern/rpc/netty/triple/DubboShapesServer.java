package tern.rpc.netty.triple;

import com.google.protobuf.StringValue;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.rpc.RpcContext;
import org.apache.dubbo.rpc.protocol.tri.ServerStreamObserver;

/** Implements {@link DubboShapes} in the same way as {@link ShapesServer} implements {@link Shapes}. */
final class DubboShapesServer implements DubboShapes {

    /** The arguments of the endless streams that callers have cancelled. */
    final BlockingQueue<String> cancelled = new LinkedBlockingQueue<>();

    @Override
    public void count(Integer last, StreamObserver<Integer> out) {
        for (int i = 1; i <= last; i++) {
            out.onNext(i);
        }
        out.onCompleted();
    }

    @Override
    public StreamObserver<Integer> sum(StreamObserver<Integer> out) {
        return new AtTheEnd<>(out) {
            @Override
            int add(int soFar, Integer number) {
                return soFar + number;
            }
        };
    }

    @Override
    public void download(Integer messages, StreamObserver<byte[]> out) {
        for (int i = 0; i < messages; i++) {
            out.onNext(new byte[ShapesServer.LARGE]);
        }
        out.onCompleted();
    }

    @Override
    public void squeezed(Integer messages, StreamObserver<byte[]> out) {
        ((ServerStreamObserver<byte[]>) out).setCompression("gzip");
        download(messages, out);
    }

    @Override
    public void limited(String text, StreamObserver<String> out) {
        out.onError(new UnsupportedOperationException("Dubbo knows no deadlines"));
    }

    @Override
    public StreamObserver<byte[]> upload(StreamObserver<Integer> out) {
        return new AtTheEnd<>(out) {
            @Override
            int add(int soFar, byte[] message) {
                return soFar + message.length;
            }
        };
    }

    @Override
    public void endless(String text, StreamObserver<String> out) {
        RpcContext.getCancellationContext().addListener(context -> cancelled.add(text));
        out.onNext(text);
    }

    @Override
    public void say(StringValue text, StreamObserver<StringValue> out) {
        out.onNext(StringValue.of(text.getValue().toUpperCase(Locale.ROOT)));
        out.onNext(StringValue.of(text.getValue().toLowerCase(Locale.ROOT)));
        out.onCompleted();
    }

    /** An observer that answers after the last message. */
    private abstract static class AtTheEnd<T> implements StreamObserver<T> {

        private final StreamObserver<Integer> out;
        private int soFar;

        AtTheEnd(StreamObserver<Integer> out) {
            this.out = out;
        }

        abstract int add(int before, T message);

        @Override
        public void onNext(T message) {
            soFar = add(soFar, message);
        }

        @Override
        public void onError(Throwable failure) {
            out.onError(failure);
        }

        @Override
        public void onCompleted() {
            out.onNext(soFar);
            out.onCompleted();
        }
    }
}
