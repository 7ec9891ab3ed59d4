package tern.rpc.load.peer;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import javax.net.ssl.SSLException;
import tern.rpc.load.peer.proto.BenchmarkGrpc;
import tern.rpc.load.peer.proto.StreamsGrpc;

/**
 * grpc-java over Netty with generated blocking stubs. Uses the default settings, except that methods run on 200
 * threads.
 */
final class GrpcPeer implements Peer {

    private final boolean encrypted;
    private final Opened opened = new Opened();

    GrpcPeer(boolean encrypted) {
        this.encrypted = encrypted;
    }

    @Override
    public void serve(int port, Services services) {
        NettyServerBuilder building = NettyServerBuilder.forAddress(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .executor(Workers.jdk())
                .addService(new GrpcAnswers(new ProtobufAnswers(services)))
                .addService(new GrpcStreamAnswers());
        try {
            if (encrypted) {
                building.sslContext(GrpcSslContexts.configure(SslContextBuilder.forServer(RunCertificate.keys()))
                        .build());
            }
            Server server = building.build().start();
            opened.add(server::shutdownNow);
        } catch (IOException e) {
            throw new UncheckedIOException("gRPC cannot listen on port " + port, e);
        }
    }

    @Override
    public Services connect(int port) {
        NettyChannelBuilder building =
                NettyChannelBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        try {
            if (encrypted) {
                building.sslContext(GrpcSslContexts.forClient()
                        .trustManager(RunCertificate.trust())
                        .build());
            } else {
                building.usePlaintext();
            }
        } catch (SSLException e) {
            throw new UncheckedIOException(e);
        }
        ManagedChannel channel = building.build();
        opened.add(channel::shutdownNow);
        return GrpcCalls.over(BenchmarkGrpc.newBlockingStub(channel))
                .withStreams(new GrpcStreamCalls(StreamsGrpc.newStub(channel)));
    }

    @Override
    public void close() {
        opened.close();
    }
}
