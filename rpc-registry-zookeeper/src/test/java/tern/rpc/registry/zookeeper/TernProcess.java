package tern.rpc.registry.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import tern.rpc.ServiceKey;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.Subscription.Level;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.DubboEntries;
import tern.rpc.registry.dubbo.metadata.MetadataClient;
import tern.rpc.registry.dubbo.metadata.MetadataExports;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.Token;

/** A Tern server and a Tern client that use a ZooKeeper server. */
final class TernProcess implements AutoCloseable {

    /** The text of calls that run until {@link #release}. */
    static final String HELD = "held";

    private final String name;
    private final AtomicInteger held = new AtomicInteger();
    private final CountDownLatch release = new CountDownLatch(1);
    private final EventLoops loops = EventLoops.start(1);
    private final HessianSerializer serializer = HessianSerializer.builder().build();
    private final DubboProtocol dubbo = new DubboProtocol(serializer, 0);
    private final TripleCodecs codecs = new TripleCodecs(serializer, null, 0);
    private final ZooKeeperRegistry.Form form;
    private final Registry registry;
    private final RpcClient client;
    private final List<RpcServer> servers = new ArrayList<>();
    private String token = "";

    TernProcess(String name, RegistryUrl url, ZooKeeperRegistry.Form form) {
        this.name = name;
        ClientTransport first = new NettyClientTransport(ClientTransportSettings.named(name), loops, dubbo);
        ClientTransport second =
                new NettyClientTransport(ClientTransportSettings.named(name), loops, new TripleClientProtocol(codecs));
        this.client = RpcClient.builder()
                .transport(first)
                .transport(second)
                .timeout(Duration.ofSeconds(20))
                .build();
        this.form = form;
        this.registry =
                new ZooKeeperRegistry.Factory(form, name, new MetadataClient(() -> List.of(first, second))).open(url);
    }

    private String greet(String text) {
        if (text.equals(HELD)) {
            held.incrementAndGet();
            try {
                release.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return name + ":" + text;
    }

    /** Returns how many calls with the text {@link #HELD} have arrived so far. */
    int held() {
        return held.get();
    }

    /** Lets the calls with the text {@link #HELD} return. */
    void release() {
        release.countDown();
    }

    /** Sets the token that the provider accepts. */
    TernProcess token(String accepted) {
        token = accepted;
        return this;
    }

    /** Exports the service over both protocols on one port, and waits until the service is registered. */
    Publication provide(String group, String version, int weight) throws Exception {
        return provide(group, version, weight, List.of("dubbo", "tri"));
    }

    /** @param protocols the protocols to publish; the server always accepts both protocols */
    Publication provide(String group, String version, int weight, List<String> protocols) throws Exception {
        Greeting target = this::greet;
        AtomicReference<ApplicationMetadata> metadata = new AtomicReference<>();
        RpcServer.Builder builder = RpcServer.builder(new NettyServerTransport(
                        ServerTransportSettings.onPort(0), loops, List.of(dubbo, new TripleProtocol(codecs))))
                .maxQueueWait(Duration.ofSeconds(10))
                .export(ServiceExport.of(Greeting.class, target, group, version));
        if (!token.isEmpty()) {
            builder.token(Token.of(token));
        }
        MetadataExports.of(name, metadata::get).forEach(builder::export);
        RpcServer server = builder.build();
        servers.add(server);
        server.start();
        Registration registration = new Registration(
                name,
                "127.0.0.1",
                server.port(),
                protocols,
                List.of(new Registration.Service(
                        new ServiceKey(Greeting.class.getName(), group, version), List.of("greet"), weight)),
                Map.of(),
                0,
                System.currentTimeMillis());
        metadata.set(new DubboEntries(registration, form.nodePerProtocol()).metadata());
        Publication publication = registry.publish(registration);
        publication.seen().get(60, TimeUnit.SECONDS);
        return publication;
    }

    Greeting refer(String protocol, Level level, String group, String version) {
        ServiceKey key = new ServiceKey(Greeting.class.getName(), group, version);
        return client.refer(
                ServiceReference.to(Greeting.class, registry.source(new Subscription(key, protocol, List.of(), level)))
                        .protocol(protocol)
                        .group(group)
                        .version(version)
                        .build());
    }

    @Override
    public void close() {
        registry.close();
        client.close();
        servers.forEach(RpcServer::close);
        loops.close();
    }
}
