package tern.rpc.load.attack;

import com.google.protobuf.StringValue;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import tern.rpc.StreamObserver;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.protocols.ServerProtocols;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs the attacked server in a separate process. The server is {@code tern} or {@code grpc-java}, with default
 * settings and 200 threads.
 */
public final class TargetServer {

    static final String READY = "ready";

    private static final int THREADS = 200;
    private static final int SLEEP_SECONDS = 10;
    private static final int PAGES = 20;
    private static final int BETWEEN_DRIPS_MILLIS = 5;
    private static final int RECEIVING_MILLIS = 500;
    private static final int LARGE_BYTES = (8 << 20) - 1_024;

    private static final ScheduledExecutorService DRIPS = Executors.newScheduledThreadPool(4, task -> {
        Thread thread = new Thread(task, "drips");
        thread.setDaemon(true);
        return thread;
    });

    private static final StringValue MESSAGE = StringValue.of("m".repeat(8 << 10));
    private static final StringValue BLOCK = StringValue.of("b".repeat((1 << 20) - 1_024));
    private static final StringValue DRIP = StringValue.of("d");
    private static final StringValue LARGE = StringValue.of("l".repeat(LARGE_BYTES));

    private TargetServer() {}

    /** @param arguments {@code tern PORT} or {@code grpc-java PORT} */
    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(arguments[1]);
        if (arguments[0].equals("tern")) {
            serveByTern(port);
        } else {
            serveByGrpc(port);
        }
        System.out.println(READY);
        while (System.in.read() >= 0) {
            // The server runs until the parent process closes this process's standard input.
        }
        Runtime.getRuntime().halt(0);
    }

    private static void serveByTern(int port) {
        RpcServer.builder(new NettyServerTransport(
                        ServerTransportSettings.onPort(port),
                        EventLoops.start(0),
                        ServerProtocols.all(
                                HessianSerializer.builder().build(),
                                new JsonCodec(JsonMapper.builder().build()),
                                HttpSettings.defaults())))
                .export(ServiceExport.of(Target.class, new Answers()))
                .export(ServiceExport.of(Target.Values.class, new Answers()))
                .build()
                .start();
    }

    private static void serveByGrpc(int port) throws IOException {
        ServerServiceDefinition service = ServerServiceDefinition.builder(Target.class.getName())
                .addMethod(method("quick", MethodType.UNARY), unary(text -> text))
                .addMethod(method("sleep", MethodType.UNARY), unary(TargetServer::sleep))
                .addMethod(method("large", MethodType.UNARY), unary(text -> LARGE))
                .addMethod(
                        method("pages", MethodType.SERVER_STREAMING),
                        ServerCalls.asyncServerStreamingCall(
                                (StringValue text, io.grpc.stub.StreamObserver<StringValue> messages) -> {
                                    for (int i = 0; i < PAGES; i++) {
                                        messages.onNext(MESSAGE);
                                    }
                                    messages.onCompleted();
                                }))
                .addMethod(
                        method("feed", MethodType.SERVER_STREAMING),
                        ServerCalls.asyncServerStreamingCall(
                                (StringValue text, io.grpc.stub.StreamObserver<StringValue> messages) ->
                                        feed((ServerCallStreamObserver<StringValue>) messages)))
                .build();
        NettyServerBuilder.forAddress(new InetSocketAddress(port))
                .executor(Executors.newFixedThreadPool(THREADS))
                .maxInboundMessageSize(8 << 20)
                .addService(service)
                .build()
                .start();
    }

    private static MethodDescriptor<StringValue, StringValue> method(String name, MethodType type) {
        return MethodDescriptor.<StringValue, StringValue>newBuilder()
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(Target.class.getName(), name))
                .setRequestMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
                .setResponseMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
                .build();
    }

    private static io.grpc.ServerCallHandler<StringValue, StringValue> unary(UnaryOperator<StringValue> method) {
        return ServerCalls.asyncUnaryCall((text, answer) -> {
            answer.onNext(method.apply(text));
            answer.onCompleted();
        });
    }

    /** Sends messages only while the transport is ready, as the grpc-java documentation recommends. */
    private static void feed(ServerCallStreamObserver<StringValue> messages) {
        messages.setOnReadyHandler(() -> {
            while (messages.isReady() && !messages.isCancelled()) {
                messages.onNext(MESSAGE);
            }
        });
    }

    private static StringValue sleep(StringValue text) {
        try {
            TimeUnit.SECONDS.sleep(SLEEP_SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return text;
    }

    private static void pause(int millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Answers implements Target, Target.Values {

        @Override
        public StringValue quick(StringValue text) {
            return text;
        }

        @Override
        public StringValue sleep(StringValue text) {
            return TargetServer.sleep(text);
        }

        @Override
        public void feed(StringValue text, StreamObserver<StringValue> messages) {
            // The loop ends when onNext throws an exception, which happens after the caller has closed the stream.
            while (true) {
                messages.onNext(MESSAGE);
            }
        }

        @Override
        public void pages(StringValue text, StreamObserver<StringValue> messages) {
            for (int i = 0; i < PAGES; i++) {
                messages.onNext(MESSAGE);
            }
            messages.onCompleted();
        }

        @Override
        public void blocks(StringValue text, StreamObserver<StringValue> messages) {
            while (true) {
                messages.onNext(BLOCK);
            }
        }

        @Override
        public void drips(StringValue text, StreamObserver<StringValue> messages) {
            DRIPS.scheduleWithFixedDelay(
                    () -> messages.onNext(DRIP), // The task ends when onNext throws an exception.
                    BETWEEN_DRIPS_MILLIS,
                    BETWEEN_DRIPS_MILLIS,
                    TimeUnit.MILLISECONDS);
        }

        @Override
        public Flow.Publisher<StringValue> published(StringValue text) {
            return subscriber -> subscriber.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {
                    for (long i = 0; i < count; i++) {
                        subscriber.onNext(MESSAGE);
                    }
                }

                @Override
                public void cancel() {
                    // Nothing needs to be cancelled, because the subscriber requests no more messages.
                }
            });
        }

        @Override
        public StreamObserver<StringValue> collect(StreamObserver<StringValue> number) {
            AtomicInteger count = new AtomicInteger();
            return new StreamObserver<>() {
                @Override
                public void onNext(StringValue message) {
                    TargetServer.pause(RECEIVING_MILLIS);
                    count.incrementAndGet();
                }

                @Override
                public void onCompleted() {
                    number.onNext(StringValue.of(count.toString()));
                    number.onCompleted();
                }

                @Override
                public void onError(Throwable failure) {
                    // The call has failed, so no answer can be sent.
                }
            };
        }

        @Override
        public StringValue large(StringValue text) {
            return LARGE;
        }

        @Override
        public String large(String text) {
            return LARGE.getValue();
        }

        @Override
        public String built(int length) {
            return "b".repeat(length);
        }

        @Override
        public List<Item> list(int size) {
            List<Item> items = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                items.add(new Item("item " + i, i, i));
            }
            return items;
        }

        @Override
        public void sleepUnanswered(String text) {
            TargetServer.sleep(StringValue.of(text));
        }

        @Override
        public int count(Object container) {
            return container instanceof Map<?, ?> map ? map.size() : ((Collection<?>) container).size();
        }
    }
}
