package tern.rpc.load.peer;

import java.time.Duration;
import java.util.List;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.protocols.ServerProtocols;
import tern.rpc.netty.triple.Http1ClientProtocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.Tls;
import tern.sample.api.EchoService;
import tern.sample.api.UserService;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tern over one of its protocols, with default settings except for higher server limits. With the default limits, the
 * adaptive limit would refuse calls under the maximum load. Refused calls cost less than served calls and would
 * therefore distort the result.
 */
final class TernPeer implements Peer {

    /** The server's limit on concurrent calls. The limit exceeds the number of callers in every scenario. */
    private static final int CALLS = 2_000;

    private static final int MAX_CONNECTIONS = 20_000;

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Serializer serializer = HessianSerializer.builder().build();
    private final DubboProtocol dubbo = new DubboProtocol(serializer, 0);
    private final JsonCodec json = new JsonCodec(JsonMapper.builder().build());
    private final TripleCodecs codecs = new TripleCodecs(serializer, json, 0);
    private final ClientProtocol client;
    private final boolean protobuf;
    private final boolean encrypted;
    private final Opened opened = new Opened();

    /**
     * @param protocol the client's protocol; the server supports all protocols
     * @param protobuf whether the client sends protobuf messages; the server reads both formats
     * @param encrypted whether TLS is used
     */
    TernPeer(String protocol, boolean protobuf, boolean encrypted) {
        this.protobuf = protobuf;
        this.encrypted = encrypted;
        this.client = switch (protocol) {
            case DubboProtocol.NAME -> dubbo;
            case TripleClientProtocol.NAME -> new TripleClientProtocol(codecs);
            case Http1ClientProtocol.NAME -> new Http1ClientProtocol(codecs);
            default -> throw new IllegalArgumentException("protocol '" + protocol + "' is not known");
        };
    }

    @Override
    public void serve(int port, Services services) {
        RpcServer server = RpcServer.builder(new NettyServerTransport(
                        settings(port),
                        opened.add(EventLoops.start(0)),
                        ServerProtocols.all(serializer, json, HttpSettings.defaults())))
                .export(ServiceExport.of(ProtobufBenchmark.class, new ProtobufAnswers(services)))
                .export(ServiceExport.of(ProtobufStreams.class, services.streams()))
                .export(ServiceExport.of(UserService.class, services.users()))
                .export(ServiceExport.of(EchoService.class, services.echo()))
                .export(ServiceExport.of(WorkService.class, services.work()))
                .limit(() -> new FixedLimit(CALLS))
                .maxQueueWait(PATIENCE)
                .build();
        opened.add(server).start();
    }

    /** Returns settings that permit as many connections from a single address as possible. */
    private ServerTransportSettings settings(int port) {
        ServerTransportSettings settings =
                ServerTransportSettings.onPort(port).withMaxConnections(MAX_CONNECTIONS, MAX_CONNECTIONS);
        if (!encrypted) {
            return settings;
        }
        Tls tls = Tls.named("load").withKeys(RunCertificate.keys());
        return settings.withTls(() -> tls, false);
    }

    private ClientTransportSettings settings() {
        ClientTransportSettings settings = ClientTransportSettings.named("load");
        if (!encrypted) {
            return settings;
        }
        Tls tls = Tls.named("load").withTrust(RunCertificate.trust());
        return settings.withTls(() -> tls);
    }

    @Override
    public Services connect(int port) {
        RpcClient caller = opened.add(RpcClient.builder()
                .checkTimeout(PATIENCE)
                .timeout(PATIENCE)
                .transport(new NettyClientTransport(settings(), opened.add(EventLoops.start(0)), client))
                .build());
        EndpointSource address = new StaticEndpoints(List.of(new Endpoint("127.0.0.1", port)));
        if (protobuf) {
            return ProtobufCalls.over(refer(caller, ProtobufBenchmark.class, address))
                    .withStreams(refer(caller, ProtobufStreams.class, address));
        }
        return new Services(
                refer(caller, UserService.class, address),
                refer(caller, EchoService.class, address),
                refer(caller, WorkService.class, address));
    }

    private <T> T refer(RpcClient caller, Class<T> type, EndpointSource address) {
        return caller.refer(ServiceReference.to(type, address)
                .protocol(client.name())
                .check(true)
                .build());
    }

    @Override
    public void close() {
        opened.close();
    }
}
