package tern.rpc.load.cluster;

import io.grpc.EquivalentAddressGroup;
import io.grpc.ManagedChannel;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.peer.proto.BenchmarkGrpc;
import tern.rpc.load.peer.proto.Text;

/**
 * Nodes and clients that use grpc-java with {@code round_robin} and outlier detection, with the defaults of gRFC A50.
 */
final class GrpcNodes implements Framework {

    private static final String SCHEME = "nodes";

    private static final Map<String, Object> OUTLIER_DETECTION = Map.of(
            "loadBalancingConfig",
            List.of(Map.of(
                    "outlier_detection_experimental",
                    Map.of(
                            "interval",
                            "10s",
                            "baseEjectionTime",
                            "30s",
                            "maxEjectionTime",
                            "300s",
                            "maxEjectionPercent",
                            10.0,
                            "successRateEjection",
                            Map.of(
                                    "stdevFactor", 1900.0,
                                    "enforcementPercentage", 100.0,
                                    "minimumHosts", 5.0,
                                    "requestVolume", 100.0),
                            "failurePercentageEjection",
                            Map.of(
                                    "threshold", 85.0,
                                    "enforcementPercentage", 100.0,
                                    "minimumHosts", 5.0,
                                    "requestVolume", 50.0),
                            "childPolicy",
                            List.of(Map.of("round_robin", Map.of()))))));

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final ExecutorService executor = Executors.newFixedThreadPool(4);
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    GrpcNodes() {
        NameResolverRegistry.getDefaultRegistry().register(new Addresses());
    }

    @Override
    public void serve(Station station, int port) throws IOException {
        Server server = NettyServerBuilder.forPort(port)
                .bossEventLoopGroup(loops)
                .workerEventLoopGroup(loops)
                .channelType(NioServerSocketChannel.class)
                .executor(executor)
                .addService(new Answers(station))
                .build()
                .start();
        opened.push(server::shutdownNow);
    }

    @Override
    public Client connect(List<InetSocketAddress> nodes, String policy) {
        String target = nodes.stream()
                .map(node -> node.getHostString() + ":" + node.getPort())
                .collect(Collectors.joining(","));
        ManagedChannel channel = NettyChannelBuilder.forTarget(SCHEME + ":///" + target)
                .usePlaintext()
                .disableRetry()
                .eventLoopGroup(loops)
                .channelType(NioSocketChannel.class)
                .executor(executor)
                .defaultServiceConfig(OUTLIER_DETECTION)
                .build();
        opened.push(channel::shutdownNow);
        channel.getState(true);
        BenchmarkGrpc.BenchmarkStub stub = BenchmarkGrpc.newStub(channel);
        return (number, end) -> stub.withDeadlineAfter(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS)
                .echoText(Text.newBuilder().setValue(String.valueOf(number)).build(), new End(end));
    }

    @Override
    public void close() {
        Closing.all(opened);
        executor.shutdown();
        loops.shutdownGracefully(0, 2, TimeUnit.SECONDS);
    }

    private static final class Answers extends BenchmarkGrpc.BenchmarkImplBase {

        private final Station station;

        Answers(Station station) {
            this.station = station;
        }

        @Override
        public void echoText(Text text, StreamObserver<Text> caller) {
            station.work(Status.UNAVAILABLE::asRuntimeException).whenComplete((node, failure) -> {
                if (failure != null) {
                    caller.onError(failure);
                } else {
                    caller.onNext(text);
                    caller.onCompleted();
                }
            });
        }
    }

    private record End(Consumer<@Nullable Throwable> listener) implements StreamObserver<Text> {

        @Override
        public void onNext(Text text) {
            // The message is ignored, because the end of the call is reported separately.
        }

        @Override
        public void onError(Throwable failure) {
            listener.accept(failure);
        }

        @Override
        public void onCompleted() {
            listener.accept(null);
        }
    }

    /** Passes a list of addresses to grpc-java as the target of a channel. */
    private static final class Addresses extends NameResolverProvider {

        @Override
        protected boolean isAvailable() {
            return true;
        }

        @Override
        protected int priority() {
            return 5;
        }

        @Override
        public String getDefaultScheme() {
            return SCHEME;
        }

        @Override
        public NameResolver newNameResolver(URI target, NameResolver.Args arguments) {
            List<EquivalentAddressGroup> groups = Arrays.stream(
                            target.getPath().substring(1).split(","))
                    .map(address -> address.split(":"))
                    .map(parts ->
                            new EquivalentAddressGroup(new InetSocketAddress(parts[0], Integer.parseInt(parts[1]))))
                    .toList();
            return new NameResolver() {
                @Override
                public String getServiceAuthority() {
                    return SCHEME;
                }

                @Override
                public void start(Listener2 listener) {
                    listener.onResult(ResolutionResult.newBuilder()
                            .setAddressesOrError(StatusOr.fromValue(groups))
                            .build());
                }

                @Override
                public void shutdown() {
                    // The resolver has no resources to release.
                }
            };
        }
    }
}
