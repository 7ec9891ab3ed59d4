package tern.rpc.load.cluster;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** Nodes and clients that use Apache Dubbo over the dubbo protocol, with one of its load balancers. */
final class DubboNodes implements Framework {

    private static final String SERIALIZATION = "hessian2";

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final DubboBootstrap consumer = bootstrap("node-consumer");

    @Override
    public void serve(Station station, int port) {
        ProtocolConfig listening = new ProtocolConfig("dubbo", port);
        listening.setHost("0.0.0.0");
        listening.setSerialization(SERIALIZATION);
        listening.setPreferSerialization(SERIALIZATION);
        NodeService nodes = new StationService(station, () -> new IllegalStateException("the node is down"));
        ServiceConfig<NodeService> service = new ServiceConfig<>();
        service.setInterface(NodeService.class);
        service.setRef(nodes);
        bootstrap("node-" + port)
                .registry(new RegistryConfig(RegistryConfig.NO_AVAILABLE))
                .protocol(listening)
                .service(service)
                .start();
    }

    @Override
    public Client connect(List<InetSocketAddress> nodes, String policy) {
        ReferenceConfig<NodeService> reference =
                new ReferenceConfig<>(consumer.getApplicationModel().getDefaultModule());
        reference.setInterface(NodeService.class);
        reference.setUrl(nodes.stream()
                .map(node -> "dubbo://" + node.getHostString() + ":" + node.getPort() + "?serialization="
                        + SERIALIZATION + "&prefer.serialization=" + SERIALIZATION)
                .collect(Collectors.joining(";")));
        reference.setTimeout(TIMEOUT_MILLIS);
        reference.setRetries(0);
        reference.setLoadbalance(policy);
        NodeService service = reference.get();
        opened.push(reference::destroy);
        return (number, end) -> started(service, number).whenComplete((node, failure) -> end.accept(failure));
    }

    private static CompletableFuture<Integer> started(NodeService service, int number) {
        try {
            return service.work(number);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private DubboBootstrap bootstrap(String name) {
        ApplicationConfig application = new ApplicationConfig(name);
        application.setQosEnable(false);
        application.setSerializeCheckStatus("WARN");
        DubboBootstrap bootstrap = DubboBootstrap.newInstance().application(application);
        opened.push(bootstrap::destroy);
        return bootstrap;
    }

    @Override
    public void close() {
        Closing.all(opened);
    }
}
