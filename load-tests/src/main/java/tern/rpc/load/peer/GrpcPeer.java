package tern.rpc.load.peer;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import tern.rpc.load.peer.proto.BenchmarkGrpc;
import tern.rpc.load.peer.proto.StreamsGrpc;

/** grpc-java over Netty with generated blocking stubs, and its defaults but 200 threads for the methods. */
final class GrpcPeer implements Peer {

    private final Opened opened = new Opened();

    @Override
    public void serve(int port, Services services) {
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .executor(Workers.jdk())
                .addService(new GrpcAnswers(new ProtobufAnswers(services)))
                .addService(new GrpcStreamAnswers())
                .build();
        try {
            server.start();
        } catch (IOException e) {
            throw new UncheckedIOException("gRPC cannot listen on port " + port, e);
        }
        opened.add(server::shutdownNow);
    }

    @Override
    public Services connect(int port) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .usePlaintext()
                .build();
        opened.add(channel::shutdownNow);
        return GrpcCalls.over(BenchmarkGrpc.newBlockingStub(channel))
                .withStreams(new GrpcStreamCalls(StreamsGrpc.newStub(channel)));
    }

    @Override
    public void close() {
        opened.close();
    }
}
