package tern.rpc.load.cluster;

import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/** An Apache Dubbo client with Dubbo's default settings. */
final class DubboConsumer implements ConsumerClient {

    private static final int TIMEOUT_MILLIS = 1_000;

    private final DubboBootstrap bootstrap;
    private final ReferenceConfig<NodeService> reference;

    /** @param registry the address of the ZooKeeper server, such as {@code zookeeper://127.0.0.1:2181} */
    DubboConsumer(String registry) {
        System.setProperty("dubbo.network.interface.preferred", "lo");
        ApplicationConfig application = new ApplicationConfig("scale-consumer");
        application.setQosEnable(false);
        application.setDumpEnable(false);
        application.setSerializeCheckStatus("WARN");
        reference = new ReferenceConfig<>();
        reference.setInterface(NodeService.class);
        reference.setTimeout(TIMEOUT_MILLIS);
        reference.setRetries(0);
        reference.setCheck(false);
        reference.setProvidedBy(ManyInstances.APPLICATION);
        bootstrap = DubboBootstrap.getInstance()
                .application(application)
                .registry(new RegistryConfig(registry))
                .reference(reference)
                .start();
    }

    @Override
    public NodeService service() {
        return reference.get();
    }

    @Override
    public void close() {
        bootstrap.stop();
    }
}
